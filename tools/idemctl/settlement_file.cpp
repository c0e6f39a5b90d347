#include "settlement_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <limits>
#include <new>
#include <system_error>

#include "base/rfc3339.hpp"
#include "failure.hpp"
#include "idem/base/error.hpp"

namespace idemctl {
namespace {

constexpr std::size_t block_bytes = std::size_t{64} << 10;
constexpr std::size_t most_row_bytes = std::size_t{64} << 10;

enum Column : std::size_t { downstream_key, outcome, amount, reference, at };
constexpr std::array<std::string_view, 5> names{"downstream_key", "outcome", "amount", "reference", "at"};
constexpr std::string_view known_names = "downstream_key, outcome, amount, reference and, if it is there, at";

int opened(const std::string& path) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): POSIX's own way
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    throw Failure{"the settlement file cannot be opened: " + std::generic_category().message(errno)};
  }
  return file;
}

}  // namespace

SettlementFile::SettlementFile(const std::string& path) : block_(block_bytes, '\0') {
  if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) != 0) throw Failure{"libcsv cannot be used"};
  // Spaces are a part of the field (RFC 4180 §2.4).
  csv_set_space_func(&parser_, [](unsigned char) { return 0; });
  try {
    file_ = opened(path);
    fill();
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (std::string_view{block_.data(), end_}.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
    read_header();
  } catch (...) {
    if (file_ >= 0) ::close(file_);
    csv_free(&parser_);
    throw;
  }
}

SettlementFile::~SettlementFile() {
  ::close(file_);
  csv_free(&parser_);
}

std::optional<idem::SettlementEntry> SettlementFile::next() {
  if (!next_row()) return std::nullopt;
  if (row_.fields.size() != width_) {
    refuse({}, "must have as many columns as the first line: " + std::to_string(width_) + ", not " +
                   std::to_string(row_.fields.size()));
  }
  return entry();
}

void SettlementFile::on_field(void* text, std::size_t size, void* row) noexcept {
  auto& to = *static_cast<Row*>(row);
  try {
    to.fields.emplace_back(static_cast<const char*>(text), size);
  } catch (...) {
    to.out_of_memory = true;
  }
}

void SettlementFile::on_row(int /*terminator*/, void* row) noexcept {
  static_cast<Row*>(row)->complete = true;
}

// Reads on to the end of a row, into row_; false at the end of the file.
bool SettlementFile::next_row() {
  row_ = {};
  row_line_ = line_;
  while (!row_.complete) {
    const std::string_view piece = next_piece();
    if (piece.empty()) break;
    feed(piece);
  }
  if (!row_.complete && csv_fini(&parser_, on_field, on_row, &row_) != 0) {
    refuse(column_at(row_.fields.size()), "the quotation is not ended");
  }
  if (row_.out_of_memory) throw std::bad_alloc{};
  return row_.complete;
}

// What is left of the line, as far as it is in the block: libcsv cannot end more than one row in it.
std::string_view SettlementFile::next_piece() {
  if (at_ == end_) fill();
  const std::string_view left = std::string_view{block_}.substr(at_, end_ - at_);
  const std::size_t terminator = left.find_first_of("\r\n");
  const std::string_view piece =
      left.substr(0, terminator == std::string_view::npos ? left.size() : terminator + 1);
  at_ += piece.size();
  return piece;
}

void SettlementFile::feed(std::string_view piece) {
  row_.bytes += piece.size();
  if (row_.bytes > most_row_bytes)
    refuse({}, "must not be longer than " + std::to_string(most_row_bytes) + " bytes");
  if (csv_parse(&parser_, piece.data(), piece.size(), on_field, on_row, &row_) != piece.size()) {
    if (csv_error(&parser_) != CSV_EPARSE) throw std::bad_alloc{};
    refuse(column_at(row_.fields.size()),
           "a quotation mark stands where RFC 4180 has none: quote the field, and double the mark in it");
  }
  const bool ends_line = piece.back() == '\r' || (piece.back() == '\n' && !(after_cr_ && piece.size() == 1));
  after_cr_ = piece.back() == '\r';
  if (ends_line) ++line_;
  // The rest of a CRLF, and empty lines, belong to no row.
  const bool empty = piece == "\r" || piece == "\n";
  if (empty && row_.bytes == piece.size() && !row_.complete) {
    row_.bytes = 0;
    row_line_ = line_;
  }
}

void SettlementFile::fill() {
  at_ = 0;
  end_ = 0;
  while (!at_end_ && end_ == 0) {
    const ssize_t bytes = ::read(file_, block_.data(), block_.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) {
      throw Failure{"the settlement file cannot be read: " + std::generic_category().message(errno)};
    }
    at_end_ = bytes == 0;
    end_ = static_cast<std::size_t>(bytes);
  }
}

void SettlementFile::read_header() {
  if (!next_row()) {
    throw Failure{"the settlement file is empty: its first line must name the columns " +
                  std::string{known_names}};
  }
  width_ = row_.fields.size();
  for (std::size_t place = 0; place < width_; ++place) {
    const auto* const name = std::find(names.begin(), names.end(), row_.fields[place]);
    if (name == names.end()) {
      refuse(std::to_string(place + 1), "must be one of " + std::string{known_names});
    }
    auto& known = places_.at(static_cast<std::size_t>(std::distance(names.begin(), name)));
    if (known) refuse(*name, "is there twice");
    known = place;
  }
  for (const std::size_t needed : {downstream_key, outcome, amount, reference}) {
    if (!places_.at(needed)) refuse(names.at(needed), "is missing");
  }
}

std::string_view SettlementFile::field(std::size_t column) const {
  const auto place = places_.at(column);
  return place ? std::string_view{row_.fields[*place]} : std::string_view{};
}

idem::SettlementEntry SettlementFile::entry() const {
  idem::SettlementEntry entry{.downstream_key = std::string{field(Column::downstream_key)},
                              .reference = std::string{field(Column::reference)}};
  const std::string_view said = field(Column::outcome);
  if (said == to_string(idem::SettlementOutcome::declined)) {
    entry.outcome = idem::SettlementOutcome::declined;
  } else if (said != to_string(idem::SettlementOutcome::charged)) {
    refuse(names.at(Column::outcome), "must be charged or declined");
  }
  const std::string_view digits = field(Column::amount);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), entry.amount);
  if (error != std::errc{} || end != digits.data() + digits.size() || entry.amount < 0 || digits[0] == '-') {
    refuse(names.at(Column::amount),
           "must be a whole number from 0 to " + std::to_string(std::numeric_limits<std::int64_t>::max()));
  }
  if (const std::string_view time = field(Column::at); !time.empty()) {
    entry.at = idem::detail::parse_rfc3339(time);
    if (!entry.at) refuse(names.at(Column::at), "must be a time as RFC 3339 has it, or empty");
  }
  try {
    validate(entry);
  } catch (const idem::InvalidArgument& refused) {
    refuse({}, refused.what());
  }
  return entry;
}

void SettlementFile::refuse(std::string_view column, std::string_view why) const {
  throw Failure{"line " + std::to_string(row_line_) +
                (column.empty() ? std::string{} : ", column " + std::string{column} + ',') +
                " of the settlement file: " + std::string{why}};
}

std::string SettlementFile::column_at(std::size_t place) const {
  for (std::size_t column = 0; column < names.size(); ++column) {
    if (places_.at(column) == place) return std::string{names.at(column)};
  }
  return std::to_string(place + 1);
}

}  // namespace idemctl
