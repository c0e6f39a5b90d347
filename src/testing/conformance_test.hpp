// Tests that are compiled once and registered for each fixture that somebody brings: ordinary code, where GoogleTest's
// typed tests are templates that every user compiles again.
//
//     class MySuite : public ::testing::Test {
//      public:
//       using MakeFixture = std::function<…>;
//       explicit MySuite(const MakeFixture& make);
//       …
//     };
//
//     namespace {
//     CONFORMANCE_TESTS_OF(MySuite);
//
//     CONFORMANCE_TEST(MySuite, ItIsSo) {  // as TEST_F
//       …
//     }
//     }
//     void register_these(const std::string& name, const MySuite::MakeFixture& make) {
//       register_conformance_cases(name, CONFORMANCE_CASES, make);
//     }
//
// What a source lists are constants, and who wants them registered calls its function: so nothing depends on the order
// in which the variables of several sources are initialised, nor on a linker that leaves objects of an archive out.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace idem {
inline namespace v0 {
namespace testing {

// One test of a suite: what GoogleTest is told of it, and what makes its object.
template <class Suite>
struct ConformanceCase {
  const char* name = nullptr;
  const char* file = nullptr;
  int line = 0;
  Suite* (*make)(const typename Suite::MakeFixture& make_fixture) = nullptr;
};

template <template <int> class CaseAt, int... Lines>
auto conformance_cases(std::integer_sequence<int, Lines...> /*lines*/) {
  std::vector<std::decay_t<decltype(CaseAt<0>::value)>> cases;
  for (const auto& each : {CaseAt<Lines>::value...}) {
    if (each.name != nullptr) cases.push_back(each);
  }
  return cases;
}

// Registers `cases` as tests of `name`. Each makes its fixture when it runs; where that throws, it fails.
template <class Suite>
void register_conformance_cases(const std::string& name, const std::vector<ConformanceCase<Suite>>& cases,
                                const typename Suite::MakeFixture& make_fixture) {
  for (const ConformanceCase<Suite>& each : cases) {
    ::testing::RegisterTest(name.c_str(), each.name, nullptr, nullptr, each.file, each.line,
                            [make = each.make, make_fixture] { return make(make_fixture); });
  }
}

}  // namespace testing
}  // namespace v0
}  // namespace idem

// The test that begins on a line of this source; it has no name where there is none.
#define CONFORMANCE_TESTS_OF(Suite)                                   \
  template <int Line>                                                 \
  struct CaseAt {                                                     \
    static constexpr ::idem::testing::ConformanceCase<Suite> value{}; \
  }

#define CONFORMANCE_TEST(Suite, Name)                                                              \
  class Suite##_##Name##_Test final : public Suite {                                               \
   public:                                                                                         \
    using Suite::Suite;                                                                            \
                                                                                                   \
   private:                                                                                        \
    void TestBody() override;                                                                      \
  };                                                                                               \
  template <>                                                                                      \
  struct CaseAt<__LINE__> {                                                                        \
    static constexpr ::idem::testing::ConformanceCase<Suite> value{                                \
        #Name, __FILE__, __LINE__,                                                                 \
        [](const Suite::MakeFixture& make) -> Suite* { return new Suite##_##Name##_Test{make}; }}; \
  };                                                                                               \
  void Suite##_##Name##_Test::TestBody()

// The tests of this source, in their order, as far as this line.
#define CONFORMANCE_CASES \
  ::idem::testing::conformance_cases<CaseAt>(std::make_integer_sequence<int, __LINE__>{})
