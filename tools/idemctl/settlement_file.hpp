// A settlement as a CSV file, in bounded memory.
#pragma once

#include <csv.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "idem/settlement/reconcile.hpp"

namespace idemctl {

/// The lines of a CSV file as RFC 4180 has it, read strictly: comma, quotation marks, CRLF or LF. A byte order mark at the
/// beginning and empty lines are passed over. The first line names the columns downstream_key, outcome, amount,
/// reference and, where it is there, at, in any order.
///
/// Failures name line and column, and never the content. Lines are the file's own, counted from 1: a quoted line break
/// counts.
class SettlementFile {
 public:
  /// Opens the file and reads the first line. Throws Failure.
  explicit SettlementFile(const std::string& path);
  SettlementFile(const SettlementFile&) = delete;
  SettlementFile& operator=(const SettlementFile&) = delete;
  ~SettlementFile();

  /// The next entry; empty at the end. Throws Failure for a line that is not one.
  [[nodiscard]] std::optional<idem::SettlementEntry> next();

 private:
  static constexpr std::size_t columns = 5;

  // What libcsv hands over goes here. Its calls must not throw through its C code.
  struct Row {
    std::vector<std::string> fields;
    std::size_t bytes = 0;
    bool complete = false;
    bool out_of_memory = false;
  };

  static void on_field(void* text, std::size_t size, void* row) noexcept;
  static void on_row(int terminator, void* row) noexcept;

  bool next_row();
  std::string_view next_piece();
  void feed(std::string_view piece);
  void fill();
  void read_header();
  [[nodiscard]] std::string_view field(std::size_t column) const;
  [[nodiscard]] idem::SettlementEntry entry() const;
  // `column` may be empty, for the whole line.
  [[noreturn]] void refuse(std::string_view column, std::string_view why) const;
  // The column that libcsv is in, as its name or its number.
  [[nodiscard]] std::string column_at(std::size_t place) const;

  int file_ = -1;
  csv_parser parser_{};
  std::string block_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  bool after_cr_ = false;
  std::size_t line_ = 1;
  // The line on which the row began, as far as it was read.
  std::size_t row_line_ = 1;
  Row row_;
  // For each known column its place in a row.
  std::array<std::optional<std::size_t>, columns> places_;
  std::size_t width_ = 0;
};

}  // namespace idemctl
