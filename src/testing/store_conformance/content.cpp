// What is stored comes back byte for byte, and what cannot be stored is refused.
#pragma once

#include "idem/testing/store_conformance/suite.hpp"

namespace idem {
inline namespace v0 {
namespace testing {

// Faults 38, 41, 42: NUL, invalid UTF-8, a lone surrogate, every byte; headers in their order, twice, empty.
TYPED_TEST_P(StoreConformance, ContentIsReplayedByteForByte) {
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
    const Key key = this->key("k" + std::to_string(i));
    const Lease lease = this->acquire(key);
    i % 2 == 0 ? this->complete(lease, responses[i]) : this->fail(lease, responses[i]);
    EXPECT_TRUE(expect<Replay>(this->reserve(key)).response == responses[i]);
    EXPECT_TRUE(this->record(key).response == responses[i]);
  }
}

TYPED_TEST_P(StoreConformance, ContentOfAnUnknownRecordAndOfItsResolutionIsReplayedByteForByte) {
  const Response told = text_response(202, std::string_view{"\0\xff", 2});
  const Lease lease = this->acquire(this->key());
  this->mark_unknown(lease, told);
  EXPECT_EQ(expect<Unknown>(this->reserve(this->key())).response, told);
  Resolution resolution = this->charged(lease);
  resolution.who = "d'Artagnan \xc3\xa9";
  resolution.why = "line one\nline two; -- \\";
  this->resolve(lease, State::completed, resolution);
  EXPECT_EQ(this->record(this->key()).resolved_by, resolution.who);
  EXPECT_EQ(this->record(this->key()).resolved_note, resolution.why);
}

TYPED_TEST_P(StoreConformance, ContentOfAnEmptyUnknownResponseIsAResponse) {
  this->mark_unknown(this->acquire(this->key()), Response{202, {}, {}});
  EXPECT_EQ(expect<Unknown>(this->reserve(this->key())).response, (Response{202, {}, {}}));
}

TYPED_TEST_P(StoreConformance, ContentThatNoHeaderCanHoldIsRefusedAndTheLeaseStillHolds) {
  const Lease lease = this->acquire(this->key());
  const Record before = this->record(this->key());
  auto unit = this->begin();
  for (const Header& header : std::vector<Header>{{"", "x"},
                                                  {"a:b", "x"},
                                                  {"a\r", "x"},
                                                  {"a", "x\ny"},
                                                  {"a", std::string{"x\0y", 3}},
                                                  {std::string{"a\0b", 3}, "x"}}) {
    const Response refused{200, {header}, {}};
    EXPECT_THROW(unit.store().complete(lease, refused), InvalidArgument);
    EXPECT_THROW(unit.store().fail(lease, refused), InvalidArgument);
    EXPECT_THROW(unit.store().mark_unknown(lease, refused), InvalidArgument);
  }
  unit.commit();
  this->expect_same(before, this->record(this->key()));
  this->complete(lease);
}

// A downstream's name is text like any other.
TYPED_TEST_P(StoreConformance, ContentOfADownstreamsNameIsKept) {
  const std::string name = "acquirer's \"\xc3\xa9\" \\ " + std::string(200, 'x');
  this->acquire(this->key(), this->resumable(deduplicates_for(name, this->window)));
  EXPECT_EQ(this->record(this->key()).downstream, name);
}

}  // namespace testing
}  // namespace v0
}  // namespace idem
