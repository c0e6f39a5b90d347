// charge_worker DATABASE SCHEMA ACQUIRER KEY deduplicates|cannot_deduplicate FLOW POINT
//
// One worker that pays once and says on stdout what its client is told; killed at its POINT-th crash point, 0
// for none, it says nothing. FLOW is right, or the name of a bug.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "acquirer_client.hpp"
#include "fault/charge.hpp"
#include "fault/crash_points.hpp"
#include "fault/planted_bugs.hpp"
#include "fault/sessions.hpp"
#include "fault/told.hpp"
#include "idem/postgres/backend.hpp"

namespace idem::fault_test {
namespace {

Acquirer acquirer_named(std::string_view name) {
  for (const Acquirer acquirer : {Acquirer::deduplicates, Acquirer::cannot_deduplicate}) {
    if (name == to_string(acquirer)) return acquirer;
  }
  throw std::invalid_argument{"no such acquirer"};
}

Told pay(std::span<char*> words) {
  const std::string schema = words[2];
  postgres::BackendOptions options;
  options.names.schema = schema;
  const postgres::Backend backend{options};
  const payments::AcquirerClient client{words[3]};
  Charge charge{backend, schema, client, acquirer_named(words[5]), crash_points::reach};
  Sessions sessions{words[1]};
  const Flow flow = flow_named(words[6]);
  crash_points::die_at(std::stoi(words[7]));
  return told(run_flow(flow, backend, sessions.begin(), charge_request(words[4]), charge, charge_options()));
}

}  // namespace
}  // namespace idem::fault_test

int main(int argc, char** argv) {
  const std::span words{argv, static_cast<std::size_t>(argc)};
  try {
    if (words.size() != 8) throw std::invalid_argument{"wrong number of arguments"};
    std::cout << idem::fault_test::to_line(idem::fault_test::pay(words)) << std::flush;
    return EXIT_SUCCESS;
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return EXIT_FAILURE;
  }
}
