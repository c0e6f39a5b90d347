// What rules make of stored answers, on any backend. Instantiated by each backend's test with a fixture of:
//
//     Fixture(ResponseRules, std::size_t max_response_bytes);
//     using Tx = …;                              // what a handler gets
//     const Backend& backend() const;
//     Unit begin();                              // a unit of work as transact() takes it
//     void advance(std::chrono::milliseconds);   // as in store_conformance.hpp
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "idem/base/error.hpp"
#include "idem/call/external_call.hpp"
#include "idem/call/sweep.hpp"
#include "idem/command/purge.hpp"
#include "idem/command/transact.hpp"
#include "idem/response/aes_gcm_codec.hpp"
#include "idem/response/rules.hpp"

namespace idem::conformance {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

inline AesKey aes_key(std::uint32_t id, char secret) {
  const std::string bytes(AesSecret::size, secret);
  return {id, AesSecret{std::as_bytes(std::span{bytes})}};
}

/// What a process was given can be exchanged, as a new deployment does.
class Exchangeable final : public BodyCodec {
 public:
  explicit Exchangeable(std::shared_ptr<const BodyCodec> first) : now{std::move(first)} {}
  [[nodiscard]] std::string_view name() const noexcept override { return now->name(); }
  [[nodiscard]] std::vector<std::byte> encode(std::span<const std::byte> body,
                                              std::span<const std::byte> associated_data) const override {
    return now->encode(body, associated_data);
  }
  [[nodiscard]] std::vector<std::byte> decode(std::span<const std::byte> stored,
                                              std::span<const std::byte> associated_data) const override {
    return now->decode(stored, associated_data);
  }

  std::shared_ptr<const BodyCodec> now;
};

/// Encodes nothing.
class Refusing final : public BodyCodec {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "refusing"; }
  [[nodiscard]] std::vector<std::byte> encode(std::span<const std::byte>,
                                              std::span<const std::byte>) const override {
    throw std::runtime_error{"made by the test"};
  }
  [[nodiscard]] std::vector<std::byte> decode(std::span<const std::byte>,
                                              std::span<const std::byte>) const override {
    throw std::runtime_error{"made by the test"};
  }
};

inline bool holds_card(const Response& response) {
  const auto holds = [](std::string_view text) { return text.find("4111") != std::string_view::npos; };
  return holds(body_text(response)) ||
         std::any_of(response.headers.begin(), response.headers.end(),
                     [&](const Header& header) { return holds(header.name) || holds(header.value); });
}

template <class Fixture>
class ResponseRulesConformance : public ::testing::Test {
 protected:
  using Tx = typename Fixture::Tx;

  // Begins with an empty table under these rules.
  void begin_with(ResponseRules rules, std::size_t max_bytes = 100) {
    fixture.emplace(std::move(rules), max_bytes);
  }
  void begin_with_key(std::uint32_t id, char secret) {
    codec = std::make_shared<Exchangeable>(std::make_shared<AesGcmCodec>(aes_key(id, secret)));
    begin_with({.codec = codec});
  }
  // As another process would have it.
  template <class... Keys>
  void give(Keys&&... keys) {
    codec->now = std::make_shared<AesGcmCodec>(std::forward<Keys>(keys)...);
  }

  static Request request(std::string key = "k1", char content = 'a') {
    const Fingerprint fingerprint = Fingerprinter{}({.method = "POST",
                                                     .operation = "/payments",
                                                     .query = {},
                                                     .content_type = "text/plain",
                                                     .body = {&content, 1}});
    return {{"alice", "POST /payments", std::move(key)}, fingerprint};
  }

  Outcome answer(Decision decision, const Request& of = request()) {
    return transact(
        fixture->backend(), [this] { return fixture->begin(); }, of,
        [&](Tx&, const Lease&) {
          ++runs;
          return decision;
        });
  }
  // Calls `work(store)` in a transaction that then commits.
  template <class Work>
  auto in_store(const Work& work) {
    auto unit = fixture->begin();
    auto store = fixture->backend().store(detail::transaction_of(unit));
    if constexpr (std::is_void_v<decltype(work(*store))>) {
      work(*store);
      detail::commit(unit);
    } else {
      auto result = work(*store);
      detail::commit(unit);
      return result;
    }
  }
  Reservation reserve(const Request& of = request(), const ReserveOptions& options = {}) {
    return in_store([&](auto& store) { return store.reserve(of.key, of.fingerprint, options); });
  }
  std::optional<Record> find(const Request& of = request()) {
    return in_store([&](auto& store) { return store.find(of.key); });
  }
  Record stored(const Request& of = request()) {
    return in_store([&](auto& store) { return store.find_stored(of.key); }).value();
  }
  // Reserves and marks UNKNOWN with `response`.
  void make_unknown(const Response& response, const Request& of = request()) {
    in_store([&](auto& store) {
      const auto reservation = store.reserve(of.key, of.fingerprint);
      store.mark_unknown(std::get<Acquired>(reservation).lease, response);
    });
  }
  // The answer cannot be read, nothing ran, and nothing was changed.
  void expect_unavailable(const std::string& why, const Request& of = request()) {
    const Response before = stored(of).response.value();
    const Holder holder = stored(of).holder;
    const int ran = runs;
    {
      // The transaction is usable, and commits.
      auto unit = fixture->begin();
      auto store = fixture->backend().store(detail::transaction_of(unit));
      EXPECT_THROW((void)store->reserve(of.key, of.fingerprint), BodyUnavailable);
      EXPECT_THROW((void)store->find(of.key), BodyUnavailable);
      EXPECT_TRUE(store->find_stored(of.key));
      detail::commit(unit);
    }
    {
      auto unit = fixture->begin();
      auto& tx = detail::transaction_of(unit);
      EXPECT_THROW((void)execute(fixture->backend(), tx, of,
                                 [&](Tx&, const Lease&) {
                                   ++runs;
                                   return completed(text_response(200, ""));
                                 }),
                   BodyUnavailable);
    }
    try {
      (void)answer(completed(text_response(200, "")), of);
      ADD_FAILURE() << "was answered";
    } catch (const BodyUnavailable& unavailable) {
      EXPECT_THAT(unavailable.what(), HasSubstr(why));
      EXPECT_EQ(unavailable.next_step(), NextStep::stop);
    }
    EXPECT_EQ(runs, ran);
    EXPECT_EQ(stored(of).response, before);
    EXPECT_EQ(stored(of).holder, holder);
  }

  static Response with_headers(Response response, std::vector<Header> headers) {
    response.headers = std::move(headers);
    return response;
  }

  std::optional<Fixture> fixture;
  std::shared_ptr<Exchangeable> codec;
  int runs = 0;
  const Response large = with_headers(text_response(201, std::string(200, 'x')), {{"Location", "/p/1"}});
  const Response large_withheld{201, {{"Location", "/p/1"}, {"idem-withheld", "too-large"}}, {}};
  const Response paid = with_headers(text_response(201, "paid 12.90 by alice"), {{"Location", "/p/1"}});
};

TYPED_TEST_SUITE_P(ResponseRulesConformance);

// ---- too large

TYPED_TEST_P(ResponseRulesConformance, TheFirstCallerGetsTheWholeAnswerAndARetryIsToldThatItIsNotKept) {
  this->begin_with({.too_large = OnUnstorable::withhold_body});
  for (const bool declined : {false, true}) {
    const Request request = this->request(declined ? "declined" : "paid");
    const auto state = declined ? State::failed : State::completed;
    const Outcome first = this->answer(declined ? failed(this->large) : completed(this->large), request);
    EXPECT_EQ(std::get<Executed>(first).response, this->large);
    const auto again = std::get<Replay>(this->answer(completed(this->paid), request));
    EXPECT_EQ(again.state, state);
    EXPECT_EQ(again.response, this->large_withheld);
    EXPECT_EQ(withheld(again.response), Withheld::too_large);
  }
  EXPECT_EQ(this->runs, 2);
}

TYPED_TEST_P(ResponseRulesConformance, AnAnswerAtTheLimitIsKept) {
  this->begin_with({.too_large = OnUnstorable::withhold_body});
  const Response largest = text_response(201, std::string(100, 'x'));
  (void)this->answer(completed(largest));
  EXPECT_EQ(std::get<Replay>(this->answer(completed(this->paid))).response, largest);
  EXPECT_EQ(withheld(largest), std::nullopt);
}

TYPED_TEST_P(ResponseRulesConformance, WithholdsTheAnswerOfAnUnknownRecordAndOfItsResolution) {
  this->begin_with({.too_large = OnUnstorable::withhold_body});
  this->make_unknown(this->large);
  EXPECT_EQ(std::get<Unknown>(this->reserve()).response, this->large_withheld);
  this->in_store([&](auto& store) {
    const Record record = store.find(this->request().key).value();
    store.resolve(record.key, record.holder, State::completed, this->large,
                  {.who = "ann", .why = "told so", .generation = record.generation});
  });
  EXPECT_EQ(std::get<Replay>(this->reserve()).response, this->large_withheld);
}

TYPED_TEST_P(ResponseRulesConformance, WithoutTheRuleALargeAnswerIsRefused) {
  this->begin_with({});
  EXPECT_THROW((void)this->answer(completed(this->large)), InvalidArgument);
  EXPECT_EQ(this->find(), std::nullopt);
}

TYPED_TEST_P(ResponseRulesConformance, HeadersOverTheLimitAreRefusedAlways) {
  this->begin_with({.too_large = OnUnstorable::withhold_body});
  const Response response = this->with_headers(text_response(201, ""), {{"H", std::string(98, 'h')}});
  EXPECT_THROW((void)this->answer(completed(response)), InvalidArgument);
  EXPECT_EQ(this->find(), std::nullopt);
}

// ---- what must not be stored

TYPED_TEST_P(ResponseRulesConformance, AnAnswerThatMustNotBeStoredIsRefused) {
  this->begin_with({.must_not_store = holds_card});
  EXPECT_THROW((void)this->answer(completed(text_response(201, "card 4111"))), InvalidArgument);
  EXPECT_EQ(this->find(), std::nullopt);
  (void)this->answer(completed(this->paid));
  EXPECT_EQ(std::get<Replay>(this->reserve()).response, this->paid);
}

TYPED_TEST_P(ResponseRulesConformance, ABodyThatMustNotBeStoredIsWithheld) {
  this->begin_with({.must_not_store = holds_card, .found = OnUnstorable::withhold_body});
  const Response response =
      this->with_headers(text_response(201, "card 4111"), {{"Location", "/p/1"}, {"ETag", "1"}});
  EXPECT_EQ(std::get<Executed>(this->answer(completed(response))).response, response);
  const Response kept{201, {{"Location", "/p/1"}, {"ETag", "1"}, {"idem-withheld", "card-data"}}, {}};
  EXPECT_EQ(this->stored().response, kept);
  EXPECT_EQ(std::get<Replay>(this->reserve()).response, kept);
  EXPECT_EQ(withheld(kept), Withheld::card_data);
}

TYPED_TEST_P(ResponseRulesConformance, HeadersThatMustNotBeStoredAreWithheldToo) {
  this->begin_with({.too_large = OnUnstorable::withhold_body,
                    .must_not_store = holds_card,
                    .found = OnUnstorable::withhold_body});
  const Response only_status{201, {{"idem-withheld", "card-data"}}, {}};
  const std::vector<Header> headers{{"Location", "/p/1"}, {"X-Card", "4111"}};
  // A body that would be left out for its length, and headers over the limit: what is not kept takes no room.
  int number = 0;
  for (const Response& response :
       {this->with_headers(text_response(201, "paid"), headers), this->with_headers(this->large, headers),
        this->with_headers(text_response(201, ""), {{"X-Card", std::string(200, ' ') + "4111"}})}) {
    const Request request = this->request(std::to_string(++number));
    (void)this->answer(completed(response), request);
    EXPECT_EQ(this->stored(request).response, only_status);
  }
}

TYPED_TEST_P(ResponseRulesConformance, ALargeAnswerWithCardDataIsTreatedAsSuch) {
  this->begin_with({.too_large = OnUnstorable::withhold_body, .must_not_store = holds_card});
  const Response response = text_response(201, std::string(200, ' ') + "4111");
  EXPECT_THROW((void)this->answer(completed(response)), InvalidArgument);
  EXPECT_EQ(this->find(), std::nullopt);
}

// ---- reserved names

TYPED_TEST_P(ResponseRulesConformance, AHeaderOfIdemsOwnIsRefusedInAnyCase) {
  for (const bool with_rules : {false, true}) {
    this->begin_with(with_rules ? ResponseRules{.codec = std::make_shared<AesGcmCodec>(aes_key(1, 'a'))}
                                : ResponseRules{});
    for (const std::string name : {"idem-withheld", "Idem-Encoded", "IDEM-", "idem-later"}) {
      const Response response = this->with_headers(text_response(201, ""), {{"A", "1"}, {name, "x"}});
      EXPECT_THROW((void)this->answer(completed(response)), InvalidArgument) << name;
      EXPECT_THROW((void)this->answer(failed(response)), InvalidArgument) << name;
      EXPECT_THROW(this->make_unknown(response), InvalidArgument) << name;
    }
    EXPECT_EQ(this->find(), std::nullopt);
    const Response response = this->with_headers(text_response(201, ""),
                                                 {{"Idempotency-Key", "k"}, {"idem", "x"}, {"a-idem-", ""}});
    (void)this->answer(completed(response));
    EXPECT_EQ(std::get<Replay>(this->reserve()).response, response);
  }
}

// ---- encoded

TYPED_TEST_P(ResponseRulesConformance, AnEncodedAnswerIsReplayedByteForByteAndNotStoredInClear) {
  this->begin_with_key(7, 'a');
  using namespace std::string_literals;
  int number = 0;
  for (const std::string& body : {"paid 12.90 by alice"s, ""s, "\0\xff\r\n "s, std::string(100, 'x')}) {
    for (const bool declined : {false, true}) {
      const Request request = this->request(std::to_string(++number));
      const Response response = text_response(201, body);
      EXPECT_EQ(std::get<Executed>(this->answer(declined ? failed(response) : completed(response), request))
                    .response,
                response);
      const Response stored = this->stored(request).response.value();
      EXPECT_EQ(encoded_by(stored), "aes-256-gcm");
      EXPECT_EQ(stored.body.size(), body.size() + 33);
      if (!body.empty()) {
        EXPECT_THAT(std::string{body_text(stored)}, Not(HasSubstr(body)));
      }
      EXPECT_EQ(std::get<Replay>(this->reserve(request)).response, response);
      EXPECT_EQ(this->find(request)->response, response);
      const Record decoded =
          this->in_store([&](auto& store) { return store.decoded(this->stored(request)); });
      EXPECT_EQ(decoded.response, response);
    }
  }
}

TYPED_TEST_P(ResponseRulesConformance, EncodesTheAnswerOfAnUnknownRecordAndOfItsResolution) {
  this->begin_with_key(7, 'a');
  const Response waiting = text_response(202, "ask again tomorrow");
  this->make_unknown(waiting);
  EXPECT_EQ(encoded_by(this->stored().response.value()), "aes-256-gcm");
  EXPECT_EQ(std::get<Unknown>(this->reserve()).response, waiting);
  EXPECT_EQ(this->find()->response, waiting);
  this->in_store([&](auto& store) {
    const Record record = store.find(this->request().key).value();
    store.resolve(record.key, record.holder, State::completed, this->paid,
                  {.who = "ann", .why = "told so", .generation = record.generation});
  });
  EXPECT_EQ(encoded_by(this->stored().response.value()), "aes-256-gcm");
  EXPECT_EQ(std::get<Replay>(this->reserve()).response, this->paid);
}

TYPED_TEST_P(ResponseRulesConformance, AWithheldBodyIsNotEncoded) {
  this->begin_with(
      {.too_large = OnUnstorable::withhold_body, .codec = std::make_shared<AesGcmCodec>(aes_key(1, 'a'))});
  (void)this->answer(completed(this->large));
  EXPECT_EQ(this->stored().response, this->large_withheld);
  EXPECT_EQ(std::get<Replay>(this->reserve()).response, this->large_withheld);
}

TYPED_TEST_P(ResponseRulesConformance, ACodecThatFailsLeavesNothingBehind) {
  this->begin_with({.codec = std::make_shared<Refusing>()});
  EXPECT_THROW((void)this->answer(completed(this->paid)), std::runtime_error);
  EXPECT_EQ(this->find(), std::nullopt);
}

// ---- what cannot be decoded

TYPED_TEST_P(ResponseRulesConformance, WithoutTheKeyNothingRunsAgainAndNothingIsChanged) {
  this->begin_with_key(7, 'a');
  (void)this->answer(completed(this->paid));
  this->make_unknown(text_response(202, "wait"), this->request("unknown"));
  this->give(aes_key(8, 'b'));
  for (const std::string key : {"k1", "unknown"}) {
    this->expect_unavailable("encoded under AES key 7, which this process was not given", this->request(key));
  }
  this->give(aes_key(8, 'b'), std::vector<AesKey>{aes_key(7, 'a')});
  EXPECT_EQ(std::get<Replay>(this->reserve()).response, this->paid);
  EXPECT_EQ(this->runs, 1);
}

TYPED_TEST_P(ResponseRulesConformance, AnotherSecretUnderTheSameIdDoesNotVerify) {
  this->begin_with_key(7, 'a');
  (void)this->answer(completed(this->paid));
  this->give(aes_key(7, 'b'));
  this->expect_unavailable("does not verify under AES key 7");
}

TYPED_TEST_P(ResponseRulesConformance, AnotherCodecIsNotGuessedAt) {
  this->begin_with_key(7, 'a');
  (void)this->answer(completed(this->paid));
  this->codec->now = std::make_shared<Refusing>();
  this->expect_unavailable("encoded by the codec aes-256-gcm, which this process was not given");
}

TYPED_TEST_P(ResponseRulesConformance, WithoutTheKeyAMismatchIsStillOne) {
  this->begin_with_key(7, 'a');
  (void)this->answer(completed(this->paid));
  this->make_unknown(text_response(202, "wait"), this->request("unknown"));
  this->give(aes_key(8, 'b'));
  EXPECT_TRUE(std::holds_alternative<Mismatch>(this->reserve(this->request("k1", 'b'))));
  EXPECT_TRUE(std::holds_alternative<Mismatch>(this->reserve(this->request("unknown", 'b'))));
  EXPECT_TRUE(
      std::holds_alternative<Mismatch>(this->answer(completed(this->paid), this->request("k1", 'b'))));
}

TYPED_TEST_P(ResponseRulesConformance, WithoutTheKeyARecordInProgressIsStillOne) {
  this->begin_with_key(7, 'a');
  (void)std::get<Acquired>(this->reserve());
  this->give(aes_key(8, 'b'));
  EXPECT_TRUE(std::holds_alternative<InProgress>(this->reserve()));
}

TYPED_TEST_P(ResponseRulesConformance, WithoutTheKeyAnUnknownRecordIsStillSettled) {
  this->begin_with_key(7, 'a');
  this->make_unknown(text_response(202, "wait"));
  this->give(aes_key(8, 'b'));
  this->in_store([&](auto& store) {
    const Record record = store.find_stored(this->request().key).value();
    store.resolve(record.key, record.holder, State::completed, this->paid,
                  {.who = "ann", .why = "told so", .generation = record.generation});
  });
  EXPECT_EQ(std::get<Replay>(this->reserve()).response, this->paid);
}

TYPED_TEST_P(ResponseRulesConformance, ExpiryAndPurgeNeedNoKey) {
  this->begin_with_key(7, 'a');
  (void)this->answer(completed(this->paid));
  (void)this->answer(completed(this->paid), this->request("k2"));
  this->give(aes_key(8, 'b'));
  this->fixture->advance(96h);
  EXPECT_EQ(this->find(), std::nullopt);
  EXPECT_TRUE(std::holds_alternative<Executed>(this->answer(completed(this->paid))));
  const auto purged =
      purge_records(this->fixture->backend(), [&] { return this->fixture->begin(); }, {.older_than = 80h});
  EXPECT_EQ(purged.rows, 1U);
  EXPECT_EQ(std::get<Replay>(this->reserve()).response, this->paid);
}

TYPED_TEST_P(ResponseRulesConformance, KeysRotate) {
  this->begin_with_key(1, 'a');
  (void)this->answer(completed(this->paid), this->request("old"));
  this->give(aes_key(1, 'a'), std::vector<AesKey>{aes_key(2, 'b')});  // every process knows the new one
  (void)this->answer(completed(this->paid), this->request("still old"));
  this->give(aes_key(2, 'b'), std::vector<AesKey>{aes_key(1, 'a')});
  (void)this->answer(completed(this->paid), this->request("new"));
  for (const std::string key : {"old", "still old", "new"}) {
    EXPECT_EQ(std::get<Replay>(this->reserve(this->request(key))).response, this->paid) << key;
  }
  this->give(aes_key(2, 'b'));
  EXPECT_EQ(std::get<Replay>(this->reserve(this->request("new"))).response, this->paid);
  this->expect_unavailable("AES key 1", this->request("old"));
  this->expect_unavailable("AES key 1", this->request("still old"));
  EXPECT_EQ(this->runs, 3);
}

// ---- outside calls

template <class Tx>
struct OneCall {
  [[nodiscard]] Downstream downstream() const { return deduplicates_for("acquirer", 24h); }
  void prepare(Tx&, const CallContext&) {}
  CallResult<std::string> call(const CallContext&) {
    ++calls;
    if (meanwhile) std::exchange(meanwhile, nullptr)();
    return std::string{"charged"};
  }
  Decision finish(Tx&, const CallContext&, const std::string&) { return completed(answer); }
  Response unknown(Tx&, const CallContext&) { return text_response(202, ""); }

  Response answer;
  std::function<void()> meanwhile{};
  int calls = 0;
};

TYPED_TEST_P(ResponseRulesConformance, AnOutsideCallIsNotMadeAgainWithoutTheKey) {
  this->begin_with_key(7, 'a');
  const auto begin = [&] { return this->fixture->begin(); };
  OneCall<typename TestFixture::Tx> operation{.answer = this->paid};
  const auto call = [&] {
    return external_call(this->fixture->backend(), begin, this->request(), operation);
  };
  EXPECT_EQ(std::get<Executed>(call()).response, this->paid);
  this->give(aes_key(8, 'b'));
  EXPECT_THROW((void)call(), BodyUnavailable);
  EXPECT_EQ(operation.calls, 1);
  this->give(aes_key(7, 'a'));
  EXPECT_EQ(std::get<Replay>(call()).response, this->paid);
  EXPECT_EQ(operation.calls, 1);
}

// A holder that was replaced looks for the answer of the one that replaced it.
TYPED_TEST_P(ResponseRulesConformance, AReplacedHolderIsToldThatItCannotReadTheAnswer) {
  this->begin_with_key(7, 'a');
  const auto begin = [&] { return this->fixture->begin(); };
  OneCall<typename TestFixture::Tx> quick{.answer = this->paid};
  OneCall<typename TestFixture::Tx> slow{.answer = text_response(200, "late")};
  slow.meanwhile = [&] {
    this->fixture->advance(1h);
    (void)std::get<Executed>(external_call(this->fixture->backend(), begin, this->request(), quick));
    this->give(aes_key(8, 'b'));
  };
  EXPECT_THROW((void)external_call(this->fixture->backend(), begin, this->request(), slow), BodyUnavailable);
  EXPECT_EQ(slow.calls, 1);
}

TYPED_TEST_P(ResponseRulesConformance, AReplacedHolderWhoseKeyIsUsedForAnotherRequestIsToldSoWithoutTheKey) {
  this->begin_with_key(7, 'a');
  const auto begin = [&] { return this->fixture->begin(); };
  OneCall<typename TestFixture::Tx> quick{.answer = this->paid};
  OneCall<typename TestFixture::Tx> slow{.answer = text_response(200, "late")};
  slow.meanwhile = [&] {
    this->fixture->advance(1h);
    (void)std::get<Executed>(external_call(this->fixture->backend(), begin, this->request(), quick));
    this->fixture->advance(96h);
    (void)std::get<Executed>(this->answer(completed(this->paid), this->request("k1", 'b')));
    this->give(aes_key(8, 'b'));
  };
  EXPECT_TRUE(std::holds_alternative<Mismatch>(
      external_call(this->fixture->backend(), begin, this->request(), slow)));
}

REGISTER_TYPED_TEST_SUITE_P(
    ResponseRulesConformance, TheFirstCallerGetsTheWholeAnswerAndARetryIsToldThatItIsNotKept,
    AnAnswerAtTheLimitIsKept, WithholdsTheAnswerOfAnUnknownRecordAndOfItsResolution,
    WithoutTheRuleALargeAnswerIsRefused, HeadersOverTheLimitAreRefusedAlways,
    AnAnswerThatMustNotBeStoredIsRefused, ABodyThatMustNotBeStoredIsWithheld,
    HeadersThatMustNotBeStoredAreWithheldToo, ALargeAnswerWithCardDataIsTreatedAsSuch,
    AHeaderOfIdemsOwnIsRefusedInAnyCase, AnEncodedAnswerIsReplayedByteForByteAndNotStoredInClear,
    EncodesTheAnswerOfAnUnknownRecordAndOfItsResolution, AWithheldBodyIsNotEncoded,
    ACodecThatFailsLeavesNothingBehind, WithoutTheKeyNothingRunsAgainAndNothingIsChanged,
    AnotherSecretUnderTheSameIdDoesNotVerify, AnotherCodecIsNotGuessedAt, WithoutTheKeyAMismatchIsStillOne,
    WithoutTheKeyARecordInProgressIsStillOne, WithoutTheKeyAnUnknownRecordIsStillSettled,
    ExpiryAndPurgeNeedNoKey, KeysRotate, AnOutsideCallIsNotMadeAgainWithoutTheKey,
    AReplacedHolderIsToldThatItCannotReadTheAnswer,
    AReplacedHolderWhoseKeyIsUsedForAnotherRequestIsToldSoWithoutTheKey);

}  // namespace idem::conformance
