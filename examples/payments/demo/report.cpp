#include "report.hpp"

#include <iomanip>

namespace payments::demo {

void Report::heading(std::string_view text) {
  out_ << '\n' << text << '\n';
}

void Report::text(std::string_view text) {
  out_ << "   " << text << '\n';
}

void Report::count(std::string_view what, std::int64_t counted, std::int64_t right) {
  out_ << "   " << std::left << std::setw(66) << what << std::right << std::setw(5) << counted;
  if (counted == right) {
    out_ << "  ok\n";
  } else {
    out_ << "  WRONG: must be " << right << '\n';
    ++wrong_;
  }
  out_.flush();
}

}  // namespace payments::demo
