// The file that every effect is written to before its answer is sent.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "entry.hpp"

namespace company {

/// The file cannot be read, is no ledger, belongs to another process, or could not be written.
class LedgerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One JSON object a line. A line counts once its newline is there, so what a killed process left of its last
/// one is dropped. Not safe to share between threads.
class Ledger {
 public:
  /// Opens the file, or makes it, and reads it. Throws LedgerError, also where another process has it open.
  Ledger(Words words, const std::string& path);
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  ~Ledger();

  /// Durable when it returns. After a LedgerError nobody knows what is in the file: the process has to end.
  void append(Entry entry);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  void read(const std::string& path);

  Words words_;
  int file_ = -1;
  std::vector<Entry> entries_;
};

}  // namespace company
