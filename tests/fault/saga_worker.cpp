// saga_worker DATABASE SERVICES REFUND FLOW POINT
//
// One worker that runs the refund once and says on stdout what its client is told; killed at its POINT-th
// crash point, 0 for none, it says nothing. FLOW is right, or the name of a bug.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <span>
#include <stdexcept>

#include "fault/crash_points.hpp"
#include "fault/saga_run.hpp"
#include "http_services.hpp"
#include "session.hpp"

namespace idem::fault_test {
namespace {

Told refund(std::span<char*> words) {
  const refund_saga::HttpServices services{words[2]};
  const PointedServices pointed{services, crash_points::reach};
  const Flow flow = flow_named(words[4]);
  examples::Session session{words[1]};
  crash_points::die_at(std::stoi(words[5]));
  return run_refund(flow, session, pointed, words[3], saga_options());
}

}  // namespace
}  // namespace idem::fault_test

int main(int argc, char** argv) {
  const std::span words{argv, static_cast<std::size_t>(argc)};
  try {
    if (words.size() != 6) throw std::invalid_argument{"wrong number of arguments"};
    std::cout << idem::fault_test::to_line(idem::fault_test::refund(words)) << std::flush;
    return EXIT_SUCCESS;
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return EXIT_FAILURE;
  }
}
