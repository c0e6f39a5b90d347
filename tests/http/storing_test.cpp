#include "idem/http/storing.hpp"

#include <gtest/gtest.h>

#include "idem/base/error.hpp"

namespace idem::http {
namespace {

TEST(Storing, ByTheClassOfTheStatus) {
  const StorePolicy policy;
  for (const int status : {200, 201, 204, 303, 400, 402, 404, 409, 422})
    EXPECT_EQ(stored(policy, status), Store::yes);
  for (const int status : {401, 408, 425, 429, 500, 503, 599}) EXPECT_EQ(stored(policy, status), Store::no);
  const StorePolicy all{.server_error = Store::yes, .never = {503}};
  EXPECT_EQ(stored(all, 500), Store::yes);
  EXPECT_EQ(stored(all, 429), Store::yes);
  EXPECT_EQ(stored(all, 503), Store::no);
  const StorePolicy successes{.client_error = Store::no};
  EXPECT_EQ(stored(successes, 402), Store::no);
  EXPECT_EQ(stored(successes, 201), Store::yes);
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
