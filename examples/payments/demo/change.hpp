// What a scene adds to the database.
#pragma once

#include "../postgres_repository.hpp"
#include "report.hpp"
#include "session.hpp"

namespace payments::demo {

/// Counts from now on.
class Change {
 public:
  explicit Change(examples::Session& session) : session_{session}, before_{now()} {}

  /// One row of the report for each table: `right` charges, seats and receipts are new, and no decline.
  void show(Report& report, int right) const {
    const Summary after = now();
    report.count("new in the database: charges", after.charges - before_.charges, right);
    report.count("new in the database: declines", after.declines - before_.declines, 0);
    report.count("new in the database: seats", after.seats - before_.seats, right);
    report.count("new in the database: receipts", after.receipts - before_.receipts, right);
  }

 private:
  [[nodiscard]] Summary now() const { return read_summary(*session_.begin()); }

  examples::Session& session_;
  Summary before_;
};

}  // namespace payments::demo
