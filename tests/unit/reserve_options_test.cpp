#include "idem/record/options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "idem/base/error.hpp"

namespace idem {
namespace {

using namespace std::chrono_literals;

ReserveOptions with(void (*change)(ReserveOptions&)) {
  ReserveOptions options;
  change(options);
  return options;
}

TEST(ReserveOptions, TheDefaultsAreThoseThatTheDocumentationStates) {
  const ReserveOptions options;
  validate(options);
  EXPECT_EQ(options.lease, 30s);
  EXPECT_EQ(options.retention, 72h);
  EXPECT_EQ(options.on_in_flight, OnInFlight::refuse);
  EXPECT_FALSE(options.resumable);
  EXPECT_FALSE(options.downstream);
  EXPECT_FALSE(options.horizon);
  EXPECT_FALSE(options.attempt);
  EXPECT_EQ(options.call_deadline, 0ms);
}

// Each just within its limit, then just beyond it. The message names the option.
TEST(ReserveOptions, EachLimitIsHeldExactly) {
  struct Limit {
    const char* names;
    ReserveOptions within;
    ReserveOptions beyond;
  };
  const std::vector<Limit> limits{
      {"lease", with([](auto& o) { o.lease = 1ms; }), with([](auto& o) { o.lease = 0ms; })},
      {"lease", with([](auto& o) { o.lease = 1ms; }), with([](auto& o) { o.lease = -1ms; })},
      {"retention", with([](auto& o) { o.retention = o.lease; }),
       with([](auto& o) { o.retention = o.lease - 1ms; })},
      {"retention", with([](auto& o) { o.retention = std::chrono::years{10}; }),
       with([](auto& o) { o.retention = std::chrono::years{10} + 1ms; })},
      {"lease", with([](auto& o) { o.lease = o.retention; }),
       with([](auto& o) { o.lease = o.retention + 1ms; })},
      {"horizon", with([](auto& o) { o.horizon = o.retention; }),
       with([](auto& o) { o.horizon = o.retention + 1ms; })},
      {"call_deadline", with([](auto& o) { o.call_deadline = o.lease - 1ms; }),
       with([](auto& o) { o.call_deadline = o.lease; })},
      {"call_deadline", with([](auto& o) { o.call_deadline = 0ms; }),
       with([](auto& o) { o.call_deadline = -1ms; })},
      {"downstream", with([](auto& o) {
         o.resumable = true;
         o.downstream = cannot_deduplicate("acquirer");
       }),
       with([](auto& o) { o.resumable = true; })},
      {"window", with([](auto& o) { o.downstream = deduplicates_for("acquirer", o.retention - 1ms); }),
       with([](auto& o) { o.downstream = deduplicates_for("acquirer", o.retention); })},
      {"window", with([](auto& o) { o.downstream = deduplicates_for("acquirer", 1min + 1ms); }),
       with([](auto& o) { o.downstream = deduplicates_for("acquirer", 1min); })},
      {"margin", with([](auto& o) {
         o.downstream = cannot_deduplicate("acquirer");
         o.downstream->margin = 0ms;
       }),
       with([](auto& o) {
         o.downstream = cannot_deduplicate("acquirer");
         o.downstream->margin = -1ms;
       })},
      {"downstream", with([](auto& o) { o.downstream = cannot_deduplicate(std::string(255, 'x')); }),
       with([](auto& o) { o.downstream = cannot_deduplicate(std::string(256, 'x')); })},
      {"downstream", with([](auto& o) { o.downstream = cannot_deduplicate("\xc3\xa9"); }),
       with([](auto& o) { o.downstream = cannot_deduplicate("\xc3"); })},
      {"downstream", with([](auto& o) { o.downstream = cannot_deduplicate("a"); }),
       with([](auto& o) { o.downstream = cannot_deduplicate(""); })},
      {"downstream", with([](auto& o) { o.downstream = cannot_deduplicate("a"); }), with([](auto& o) {
         o.downstream = cannot_deduplicate(std::string{"a\0b", 3});
       })},
  };
  for (std::size_t i = 0; i < limits.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_NO_THROW(validate(limits[i].within));
    try {
      validate(limits[i].beyond);
      ADD_FAILURE() << "accepted";
    } catch (const InvalidArgument& refused) {
      EXPECT_NE(std::string{refused.what()}.find(limits[i].names), std::string::npos) << refused.what();
      EXPECT_EQ(refused.next_step(), NextStep::stop);
    }
  }
}

TEST(ReserveOptions, ANegativeHorizonIsRefused) {
  EXPECT_THROW(validate(with([](auto& o) { o.horizon = -1ms; })), InvalidArgument);
}

TEST(ReserveOptions, AnExtremeDurationIsRefusedOrHarmless) {
  static constexpr auto most = std::chrono::milliseconds::max();
  EXPECT_THROW(validate(with([](auto& o) { o.lease = most; })), InvalidArgument);
  EXPECT_THROW(validate(with([](auto& o) { o.retention = most; })), InvalidArgument);
  EXPECT_THROW(validate(with([](auto& o) { o.lease = o.retention = most; })), InvalidArgument);
  EXPECT_THROW(validate(with([](auto& o) { o.horizon = most; })), InvalidArgument);
  EXPECT_THROW(validate(with([](auto& o) { o.call_deadline = most; })), InvalidArgument);
  EXPECT_THROW(validate(with([](auto& o) { o.downstream = deduplicates_for("acquirer", most); })),
               InvalidArgument);
  EXPECT_THROW(validate(with([](auto& o) { o.lease = std::chrono::milliseconds::min(); })), InvalidArgument);
}

}  // namespace
}  // namespace idem
