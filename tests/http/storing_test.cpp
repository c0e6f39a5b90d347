#include "idem/http/storing.hpp"

#include <gtest/gtest.h>

#include "idem/base/error.hpp"

namespace idem::http {
namespace {

TEST(Storing, ByTheClassOfTheStatus) {
  const StorePolicy policy;
  for (const int status : {200, 201, 204, 303, 400, 402, 404, 409, 422})
    EXPECT_EQ(disposition_of(policy, status), Disposition::store);
  for (const int status : {401, 408, 425, 429, 500, 503, 599})
    EXPECT_EQ(disposition_of(policy, status), Disposition::roll_back);
  const StorePolicy all{.server_error = Disposition::store, .never = {503}};
  EXPECT_EQ(disposition_of(all, 500), Disposition::store);
  EXPECT_EQ(disposition_of(all, 429), Disposition::store);
  EXPECT_EQ(disposition_of(all, 503), Disposition::roll_back);
  const StorePolicy successes{.client_error = Disposition::roll_back};
  EXPECT_EQ(disposition_of(successes, 402), Disposition::roll_back);
  EXPECT_EQ(disposition_of(successes, 201), Disposition::store);
}

TEST(Storing, ASuccessAndWhatIsNoErrorCannotBeLeftOut) {
  for (const int status : {200, 302, 99, 600}) {
    EXPECT_THROW(validate(StorePolicy{.never = {status}}), InvalidArgument);
  }
}

TEST(Storing, HeadersOfOneMessageCannotBeStored) {
  for (const char* header :
       {"Set-Cookie", "set-cookie", "DATE", "Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade",
        "Content-Length", "Idempotent-Replayed", "Idempotency-Key", "Retry-After", "TE", "Idem-Withheld"}) {
    EXPECT_THROW(validate(StorePolicy{.headers = {"Location", header}}), InvalidArgument) << header;
  }
  EXPECT_NO_THROW(validate(StorePolicy{}));
  EXPECT_NO_THROW(validate(StorePolicy{.headers = {"X-Request-Class"}}));
}

TEST(Storing, OnlyTheNamedHeadersAreStoredInTheirOrder) {
  Response response = text_response(201, "paid");
  response.headers = {
      {"location", "/1"}, {"Set-Cookie", "s=1"}, {"X-A", "a"}, {"LINK", "l1"}, {"Link", "l2"}};
  Response right = text_response(201, "paid");
  right.headers = {{"location", "/1"}, {"LINK", "l1"}, {"Link", "l2"}};
  EXPECT_EQ(storable(StorePolicy{}, response), right);
  right.headers = {{"X-A", "a"}};
  EXPECT_EQ(storable(StorePolicy{.headers = {"x-a"}}, response), right);
}

// RFC 9110, 7.6.1: what Connection names is about this message too.
TEST(Storing, WhatConnectionNamesIsNotStored) {
  Response response = text_response(201, "paid");
  response.headers = {{"ETag", "e"},
                      {"connection", "close, \teTag"},
                      {"Link", "l"},
                      {"Connection", "link"},
                      {"Location", "/1"}};
  Response right = text_response(201, "paid");
  right.headers = {{"Location", "/1"}};
  EXPECT_EQ(storable(StorePolicy{}, response), right);
}

}  // namespace
}  // namespace idem::http
