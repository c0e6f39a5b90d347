// What is stored comes back byte for byte, and what cannot be stored is refused.
#include <string_view>

#include "testing/store_conformance/suite.hpp"

namespace idem {
inline namespace v0 {
namespace testing {
namespace {

CONFORMANCE_TESTS_OF(StoreConformance);

// Faults 38, 41, 42: NUL, invalid UTF-8, a lone surrogate, every byte; headers in their order, twice, empty.
CONFORMANCE_TEST(StoreConformance, ContentIsReplayedByteForByte) {
  Response every_byte{200, {}, {}};
  for (int byte = 0; byte < 256; ++byte) every_byte.body.push_back(static_cast<std::byte>(byte));
  Response large{200, {}, std::vector<std::byte>(std::size_t{1} << 20)};
  for (std::size_t i = 0; i < large.body.size(); ++i) large.body[i] = static_cast<std::byte>(i * 31 % 251);
  const std::vector<Response> responses{
      {204, {}, {}},
      {201,
       {{"Location", "/payments/1"}, {"Link", "<a>"}, {"link", "<b>"}, {"Link", "<a>"}, {"X-Empty", ""}},
       {}},
      {200,
       {{"X-Text", "\xc3\xa9\t \"quoted\", \\back\xff"}, {" odd name ", " odd value "}},
       text_response(0, "x").body},
      text_response(200, std::string_view{"\0a\0", 3}),
      text_response(200, "\xc0\x80\xff\xfe"),
      text_response(200, "\xed\xa0\x80"),
      text_response(200, R"({"b":1,"a":1,"a":2,"n":1.0,"s":"\u0000"})"),
      text_response(200, "'; DROP TABLE idem_record; --\\x41"),
      text_response(200, "\r\n\r\n"),
      {0, {}, text_response(0, "a status that is no HTTP status").body},
      {-1, {}, {}},
      {999, {}, {}},
      every_byte,
      large,
  };
  for (std::size_t i = 0; i < responses.size(); ++i) {
    SCOPED_TRACE(i);
    const Key each = key("k" + std::to_string(i));
    const Lease lease = acquire(each);
    i % 2 == 0 ? complete(lease, responses[i]) : fail(lease, responses[i]);
    EXPECT_TRUE(expect<Replay>(reserve(each)).response == responses[i]);
    EXPECT_TRUE(record(each).response == responses[i]);
  }
}

CONFORMANCE_TEST(StoreConformance, ContentOfAnUnknownRecordAndOfItsResolutionIsReplayedByteForByte) {
  const Response told = text_response(202, std::string_view{"\0\xff", 2});
  const Lease lease = acquire(key());
  mark_unknown(lease, told);
  EXPECT_EQ(expect<Unknown>(reserve(key())).response, told);
  Resolution resolution = charged(lease);
  resolution.who = "d'Artagnan \xc3\xa9";
  resolution.why = "line one\nline two; -- \\";
  resolve(lease, State::completed, resolution);
  EXPECT_EQ(record(key()).resolved_by, resolution.who);
  EXPECT_EQ(record(key()).resolved_note, resolution.why);
}

CONFORMANCE_TEST(StoreConformance, ContentOfAnEmptyUnknownResponseIsAResponse) {
  mark_unknown(acquire(key()), Response{202, {}, {}});
  EXPECT_EQ(expect<Unknown>(reserve(key())).response, (Response{202, {}, {}}));
}

CONFORMANCE_TEST(StoreConformance, ContentThatNoHeaderCanHoldIsRefusedAndTheLeaseStillHolds) {
  const Lease lease = acquire(key());
  const Record before = record(key());
  auto unit = begin();
  for (const Header& header : std::vector<Header>{{"", "x"},
                                                  {"a:b", "x"},
                                                  {"a\r", "x"},
                                                  {"a", "x\ny"},
                                                  {"a", std::string{"x\0y", 3}},
                                                  {std::string{"a\0b", 3}, "x"}}) {
    const Response refused{200, {header}, {}};
    EXPECT_THROW(unit->store().complete(lease, refused), InvalidArgument);
    EXPECT_THROW(unit->store().fail(lease, refused), InvalidArgument);
    EXPECT_THROW(unit->store().mark_unknown(lease, refused), InvalidArgument);
  }
  unit->commit();
  expect_same(before, record(key()));
  complete(lease);
}

// A downstream's name is text like any other.
CONFORMANCE_TEST(StoreConformance, ContentOfADownstreamsNameIsKept) {
  const std::string name = "acquirer's \"\xc3\xa9\" \\ " + std::string(200, 'x');
  acquire(key(), resumable(deduplicates_for(name, window)));
  EXPECT_EQ(record(key()).downstream, name);
}

}  // namespace

void register_content(const std::string& name, const StoreConformance::MakeFixture& make) {
  register_conformance_cases(name, CONFORMANCE_CASES, make);
}

}  // namespace testing
}  // namespace v0
}  // namespace idem
