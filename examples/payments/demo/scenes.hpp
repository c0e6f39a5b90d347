// The five scenes of the demo. Each throws what the database throws.
#pragma once

#include <string>

#include "report.hpp"

namespace payments::demo {

/// The file of requests twice, on a database in which nothing was paid yet. Throws std::runtime_error where
/// something was, or where the file cannot be read.
void batch(Report& report, const std::string& database_url, const std::string& requests_file);

/// 32 threads send one request at the same moment.
void double_click(Report& report, const std::string& database_url);

/// A process is killed between its business writes and its commit; then the client retries. To be called
/// while no other thread runs, as it forks.
void crash(Report& report, const std::string& database_url);

/// One payment's event is delivered many times, under its own id and under new ones.
void redelivery(Report& report, const std::string& database_url);

/// The acquirer has approved a charge, and the process that asked is killed before it can write that down; then the client
/// retries. Says that it is left out where there is no HTTP library. To be called while no other thread runs, as it forks.
void lost_approval(Report& report, const std::string& database_url);

}  // namespace payments::demo
