// What rules make of stored answers, on any backend.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "conformance/suites.hpp"
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

class ResponseRulesConformance : public ::testing::Test {
 public:
  using MakeFixture = Conformance::MakeFixture;
  explicit ResponseRulesConformance(const MakeFixture& make) : make_{make} {}

 protected:
  // Begins with an empty table under these rules.
  void begin_with(ResponseRules rules, std::size_t max_bytes = 100) {
    fixture = make_({std::move(rules), max_bytes});
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
    return payment_request(std::move(key), content);
  }
  [[nodiscard]] const Backend& backend() const { return fixture->backend(); }
  auto begin() {
    return [this] { return fixture->begin(); };
  }

  Outcome answer(Decision decision, const Request& of = request()) {
    return transact(backend(), begin(), of, [&](Tx&, const Lease&) {
      ++runs;
      return decision;
    });
  }
  // Calls `work(store)` in a transaction that then commits.
  template <class Work>
  auto in_store(const Work& work) {
    auto unit = fixture->begin();
    const auto store = backend().store(unit->transaction());
    if constexpr (std::is_void_v<decltype(work(*store))>) {
      work(*store);
      unit->commit();
    } else {
      auto result = work(*store);
      unit->commit();
      return result;
    }
  }
  Reservation reserve(const Request& of = request(), const ReserveOptions& options = {}) {
    return in_store([&](IdempotencyStore& store) { return store.reserve(of.key, of.fingerprint, options); });
  }
  std::optional<Record> find(const Request& of = request()) {
    return in_store([&](IdempotencyStore& store) { return store.find(of.key); });
  }
  Record stored(const Request& of = request()) {
    return in_store([&](IdempotencyStore& store) { return store.find_stored(of.key); }).value();
  }
  // Reserves and marks UNKNOWN with `response`.
  void make_unknown(const Response& response, const Request& of = request()) {
    in_store([&](IdempotencyStore& store) {
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
      auto store = backend().store(unit->transaction());
      EXPECT_THROW((void)store->reserve(of.key, of.fingerprint), BodyUnavailable);
      EXPECT_THROW((void)store->find(of.key), BodyUnavailable);
      EXPECT_TRUE(store->find_stored(of.key));
      unit->commit();
    }
    {
      auto unit = fixture->begin();
      Tx& tx = unit->transaction();
      EXPECT_THROW((void)execute(backend(), tx, of,
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

  std::unique_ptr<Fixture> fixture;
  std::shared_ptr<Exchangeable> codec;
  int runs = 0;
  const Response large = with_headers(text_response(201, std::string(200, 'x')), {{"Location", "/p/1"}});
  const Response large_withheld{201, {{"Location", "/p/1"}, {"idem-withheld", "too-large"}}, {}};
  const Response paid = with_headers(text_response(201, "paid 12.90 by alice"), {{"Location", "/p/1"}});

 private:
  const MakeFixture make_;
};

namespace {

CONFORMANCE_TESTS_OF(ResponseRulesConformance);

// ---- too large

CONFORMANCE_TEST(ResponseRulesConformance, TheFirstCallerGetsTheWholeAnswerAndARetryIsToldThatItIsNotKept) {
  begin_with({.too_large = OnUnstorable::withhold_body});
  for (const bool declined : {false, true}) {
    const Request request = this->request(declined ? "declined" : "paid");
    const auto state = declined ? State::failed : State::completed;
    const Outcome first = answer(declined ? failed(large) : completed(large), request);
    EXPECT_EQ(std::get<Executed>(first).response, large);
    const auto again = std::get<Replay>(answer(completed(paid), request));
    EXPECT_EQ(again.state, state);
    EXPECT_EQ(again.response, large_withheld);
    EXPECT_EQ(withheld(again.response), Withheld::too_large);
  }
  EXPECT_EQ(runs, 2);
}

CONFORMANCE_TEST(ResponseRulesConformance, AnAnswerAtTheLimitIsKept) {
  begin_with({.too_large = OnUnstorable::withhold_body});
  const Response largest = text_response(201, std::string(100, 'x'));
  (void)answer(completed(largest));
  EXPECT_EQ(std::get<Replay>(answer(completed(paid))).response, largest);
  EXPECT_EQ(withheld(largest), std::nullopt);
}

CONFORMANCE_TEST(ResponseRulesConformance, WithholdsTheAnswerOfAnUnknownRecordAndOfItsResolution) {
  begin_with({.too_large = OnUnstorable::withhold_body});
  make_unknown(large);
  EXPECT_EQ(std::get<Unknown>(reserve()).response, large_withheld);
  in_store([&](IdempotencyStore& store) {
    const Record record = store.find(request().key).value();
    store.resolve(record.key, record.holder, State::completed, large,
                  {.who = "ann", .why = "told so", .generation = record.generation});
  });
  EXPECT_EQ(std::get<Replay>(reserve()).response, large_withheld);
}

CONFORMANCE_TEST(ResponseRulesConformance, WithoutTheRuleALargeAnswerIsRefused) {
  begin_with({});
  EXPECT_THROW((void)answer(completed(large)), InvalidArgument);
  EXPECT_EQ(find(), std::nullopt);
}

CONFORMANCE_TEST(ResponseRulesConformance, HeadersOverTheLimitAreRefusedAlways) {
  begin_with({.too_large = OnUnstorable::withhold_body});
  const Response response = with_headers(text_response(201, ""), {{"H", std::string(98, 'h')}});
  EXPECT_THROW((void)answer(completed(response)), InvalidArgument);
  EXPECT_EQ(find(), std::nullopt);
}

// ---- what must not be stored

CONFORMANCE_TEST(ResponseRulesConformance, AnAnswerThatMustNotBeStoredIsRefused) {
  begin_with({.must_not_store = holds_card});
  EXPECT_THROW((void)answer(completed(text_response(201, "card 4111"))), InvalidArgument);
  EXPECT_EQ(find(), std::nullopt);
  (void)answer(completed(paid));
  EXPECT_EQ(std::get<Replay>(reserve()).response, paid);
}

CONFORMANCE_TEST(ResponseRulesConformance, ABodyThatMustNotBeStoredIsWithheld) {
  begin_with({.must_not_store = holds_card, .found = OnUnstorable::withhold_body});
  const Response response =
      with_headers(text_response(201, "card 4111"), {{"Location", "/p/1"}, {"ETag", "1"}});
  EXPECT_EQ(std::get<Executed>(answer(completed(response))).response, response);
  const Response kept{201, {{"Location", "/p/1"}, {"ETag", "1"}, {"idem-withheld", "card-data"}}, {}};
  EXPECT_EQ(stored().response, kept);
  EXPECT_EQ(std::get<Replay>(reserve()).response, kept);
  EXPECT_EQ(withheld(kept), Withheld::card_data);
}

CONFORMANCE_TEST(ResponseRulesConformance, HeadersThatMustNotBeStoredAreWithheldToo) {
  begin_with({.too_large = OnUnstorable::withhold_body,
              .must_not_store = holds_card,
              .found = OnUnstorable::withhold_body});
  const Response only_status{201, {{"idem-withheld", "card-data"}}, {}};
  const std::vector<Header> headers{{"Location", "/p/1"}, {"X-Card", "4111"}};
  // A body that would be left out for its length, and headers over the limit: what is not kept takes no room.
  int number = 0;
  for (const Response& response :
       {with_headers(text_response(201, "paid"), headers), with_headers(large, headers),
        with_headers(text_response(201, ""), {{"X-Card", std::string(200, ' ') + "4111"}})}) {
    const Request request = this->request(std::to_string(++number));
    (void)answer(completed(response), request);
    EXPECT_EQ(stored(request).response, only_status);
  }
}

CONFORMANCE_TEST(ResponseRulesConformance, ALargeAnswerWithCardDataIsTreatedAsSuch) {
  begin_with({.too_large = OnUnstorable::withhold_body, .must_not_store = holds_card});
  const Response response = text_response(201, std::string(200, ' ') + "4111");
  EXPECT_THROW((void)answer(completed(response)), InvalidArgument);
  EXPECT_EQ(find(), std::nullopt);
}

// ---- reserved names

CONFORMANCE_TEST(ResponseRulesConformance, AHeaderOfIdemsOwnIsRefusedInAnyCase) {
  for (const bool with_rules : {false, true}) {
    begin_with(with_rules ? ResponseRules{.codec = std::make_shared<AesGcmCodec>(aes_key(1, 'a'))}
                          : ResponseRules{});
    for (const std::string name : {"idem-withheld", "Idem-Encoded", "IDEM-", "idem-later"}) {
      const Response response = with_headers(text_response(201, ""), {{"A", "1"}, {name, "x"}});
      EXPECT_THROW((void)answer(completed(response)), InvalidArgument) << name;
      EXPECT_THROW((void)answer(failed(response)), InvalidArgument) << name;
      EXPECT_THROW(make_unknown(response), InvalidArgument) << name;
    }
    EXPECT_EQ(find(), std::nullopt);
    const Response response =
        with_headers(text_response(201, ""), {{"Idempotency-Key", "k"}, {"idem", "x"}, {"a-idem-", ""}});
    (void)answer(completed(response));
    EXPECT_EQ(std::get<Replay>(reserve()).response, response);
  }
}

// ---- encoded

CONFORMANCE_TEST(ResponseRulesConformance, AnEncodedAnswerIsReplayedByteForByteAndNotStoredInClear) {
  begin_with_key(7, 'a');
  using namespace std::string_literals;
  int number = 0;
  for (const std::string& body : {"paid 12.90 by alice"s, ""s, "\0\xff\r\n "s, std::string(100, 'x')}) {
    for (const bool declined : {false, true}) {
      const Request request = this->request(std::to_string(++number));
      const Response response = text_response(201, body);
      EXPECT_EQ(
          std::get<Executed>(answer(declined ? failed(response) : completed(response), request)).response,
          response);
      const Response stored = this->stored(request).response.value();
      EXPECT_EQ(encoded_by(stored), "aes-256-gcm");
      EXPECT_EQ(stored.body.size(), body.size() + 33);
      if (!body.empty()) {
        EXPECT_THAT(std::string{body_text(stored)}, Not(HasSubstr(body)));
      }
      EXPECT_EQ(std::get<Replay>(reserve(request)).response, response);
      EXPECT_EQ(find(request)->response, response);
      const Record decoded =
          in_store([&](IdempotencyStore& store) { return store.decoded(this->stored(request)); });
      EXPECT_EQ(decoded.response, response);
    }
  }
}

CONFORMANCE_TEST(ResponseRulesConformance, EncodesTheAnswerOfAnUnknownRecordAndOfItsResolution) {
  begin_with_key(7, 'a');
  const Response waiting = text_response(202, "ask again tomorrow");
  make_unknown(waiting);
  EXPECT_EQ(encoded_by(stored().response.value()), "aes-256-gcm");
  EXPECT_EQ(std::get<Unknown>(reserve()).response, waiting);
  EXPECT_EQ(find()->response, waiting);
  in_store([&](IdempotencyStore& store) {
    const Record record = store.find(request().key).value();
    store.resolve(record.key, record.holder, State::completed, paid,
                  {.who = "ann", .why = "told so", .generation = record.generation});
  });
  EXPECT_EQ(encoded_by(stored().response.value()), "aes-256-gcm");
  EXPECT_EQ(std::get<Replay>(reserve()).response, paid);
}

CONFORMANCE_TEST(ResponseRulesConformance, AWithheldBodyIsNotEncoded) {
  begin_with(
      {.too_large = OnUnstorable::withhold_body, .codec = std::make_shared<AesGcmCodec>(aes_key(1, 'a'))});
  (void)answer(completed(large));
  EXPECT_EQ(stored().response, large_withheld);
  EXPECT_EQ(std::get<Replay>(reserve()).response, large_withheld);
}

CONFORMANCE_TEST(ResponseRulesConformance, ACodecThatFailsLeavesNothingBehind) {
  begin_with({.codec = std::make_shared<Refusing>()});
  EXPECT_THROW((void)answer(completed(paid)), std::runtime_error);
  EXPECT_EQ(find(), std::nullopt);
}

// ---- what cannot be decoded

CONFORMANCE_TEST(ResponseRulesConformance, WithoutTheKeyNothingRunsAgainAndNothingIsChanged) {
  begin_with_key(7, 'a');
  (void)answer(completed(paid));
  make_unknown(text_response(202, "wait"), request("unknown"));
  give(aes_key(8, 'b'));
  for (const std::string key : {"k1", "unknown"}) {
    expect_unavailable("encoded under AES key 7, which this process was not given", request(key));
  }
  give(aes_key(8, 'b'), std::vector<AesKey>{aes_key(7, 'a')});
  EXPECT_EQ(std::get<Replay>(reserve()).response, paid);
  EXPECT_EQ(runs, 1);
}

CONFORMANCE_TEST(ResponseRulesConformance, AnotherSecretUnderTheSameIdDoesNotVerify) {
  begin_with_key(7, 'a');
  (void)answer(completed(paid));
  give(aes_key(7, 'b'));
  expect_unavailable("does not verify under AES key 7");
}

CONFORMANCE_TEST(ResponseRulesConformance, AnotherCodecIsNotGuessedAt) {
  begin_with_key(7, 'a');
  (void)answer(completed(paid));
  codec->now = std::make_shared<Refusing>();
  expect_unavailable("encoded by the codec aes-256-gcm, which this process was not given");
}

CONFORMANCE_TEST(ResponseRulesConformance, WithoutTheKeyAMismatchIsStillOne) {
  begin_with_key(7, 'a');
  (void)answer(completed(paid));
  make_unknown(text_response(202, "wait"), request("unknown"));
  give(aes_key(8, 'b'));
  EXPECT_TRUE(std::holds_alternative<Mismatch>(reserve(request("k1", 'b'))));
  EXPECT_TRUE(std::holds_alternative<Mismatch>(reserve(request("unknown", 'b'))));
  EXPECT_TRUE(std::holds_alternative<Mismatch>(answer(completed(paid), request("k1", 'b'))));
}

CONFORMANCE_TEST(ResponseRulesConformance, WithoutTheKeyARecordInProgressIsStillOne) {
  begin_with_key(7, 'a');
  (void)std::get<Acquired>(reserve());
  give(aes_key(8, 'b'));
  EXPECT_TRUE(std::holds_alternative<InProgress>(reserve()));
}

CONFORMANCE_TEST(ResponseRulesConformance, WithoutTheKeyAnUnknownRecordIsStillSettled) {
  begin_with_key(7, 'a');
  make_unknown(text_response(202, "wait"));
  give(aes_key(8, 'b'));
  in_store([&](IdempotencyStore& store) {
    const Record record = store.find_stored(request().key).value();
    store.resolve(record.key, record.holder, State::completed, paid,
                  {.who = "ann", .why = "told so", .generation = record.generation});
  });
  EXPECT_EQ(std::get<Replay>(reserve()).response, paid);
}

CONFORMANCE_TEST(ResponseRulesConformance, ExpiryAndPurgeNeedNoKey) {
  begin_with_key(7, 'a');
  (void)answer(completed(paid));
  (void)answer(completed(paid), request("k2"));
  give(aes_key(8, 'b'));
  fixture->advance(96h);
  EXPECT_EQ(find(), std::nullopt);
  EXPECT_TRUE(std::holds_alternative<Executed>(answer(completed(paid))));
  const auto purged = purge_records(backend(), begin(), {.older_than = 80h});
  EXPECT_EQ(purged.rows, 1U);
  EXPECT_EQ(std::get<Replay>(reserve()).response, paid);
}

CONFORMANCE_TEST(ResponseRulesConformance, KeysRotate) {
  begin_with_key(1, 'a');
  (void)answer(completed(paid), request("old"));
  give(aes_key(1, 'a'), std::vector<AesKey>{aes_key(2, 'b')});  // every process knows the new one
  (void)answer(completed(paid), request("still old"));
  give(aes_key(2, 'b'), std::vector<AesKey>{aes_key(1, 'a')});
  (void)answer(completed(paid), request("new"));
  for (const std::string key : {"old", "still old", "new"}) {
    EXPECT_EQ(std::get<Replay>(reserve(request(key))).response, paid) << key;
  }
  give(aes_key(2, 'b'));
  EXPECT_EQ(std::get<Replay>(reserve(request("new"))).response, paid);
  expect_unavailable("AES key 1", request("old"));
  expect_unavailable("AES key 1", request("still old"));
  EXPECT_EQ(runs, 3);
}

// ---- outside calls

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

CONFORMANCE_TEST(ResponseRulesConformance, AnOutsideCallIsNotMadeAgainWithoutTheKey) {
  begin_with_key(7, 'a');
  OneCall operation{.answer = paid};
  const auto call = [&] { return external_call(backend(), begin(), request(), operation); };
  EXPECT_EQ(std::get<Executed>(call()).response, paid);
  give(aes_key(8, 'b'));
  EXPECT_THROW((void)call(), BodyUnavailable);
  EXPECT_EQ(operation.calls, 1);
  give(aes_key(7, 'a'));
  EXPECT_EQ(std::get<Replay>(call()).response, paid);
  EXPECT_EQ(operation.calls, 1);
}

// A holder that was replaced looks for the answer of the one that replaced it.
CONFORMANCE_TEST(ResponseRulesConformance, AReplacedHolderIsToldThatItCannotReadTheAnswer) {
  begin_with_key(7, 'a');
  OneCall quick{.answer = paid};
  OneCall slow{.answer = text_response(200, "late")};
  slow.meanwhile = [&] {
    fixture->advance(1h);
    (void)std::get<Executed>(external_call(backend(), begin(), request(), quick));
    give(aes_key(8, 'b'));
  };
  EXPECT_THROW((void)external_call(backend(), begin(), request(), slow), BodyUnavailable);
  EXPECT_EQ(slow.calls, 1);
}

CONFORMANCE_TEST(ResponseRulesConformance,
                 AReplacedHolderWhoseKeyIsUsedForAnotherRequestIsToldSoWithoutTheKey) {
  begin_with_key(7, 'a');
  OneCall quick{.answer = paid};
  OneCall slow{.answer = text_response(200, "late")};
  slow.meanwhile = [&] {
    fixture->advance(1h);
    (void)std::get<Executed>(external_call(backend(), begin(), request(), quick));
    fixture->advance(96h);
    (void)std::get<Executed>(answer(completed(paid), request("k1", 'b')));
    give(aes_key(8, 'b'));
  };
  EXPECT_TRUE(std::holds_alternative<Mismatch>(external_call(backend(), begin(), request(), slow)));
}

}  // namespace

void register_response_rules(const std::string& prefix, const Conformance::MakeFixture& make) {
  testing::register_conformance_cases(prefix + "/ResponseRulesConformance", CONFORMANCE_CASES, make);
}

}  // namespace idem::conformance
