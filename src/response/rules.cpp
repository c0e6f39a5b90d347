#include "response/stored_form.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "idem/base/error.hpp"
#include "response/headers.hpp"

namespace idem {
inline namespace v0 {
namespace {

std::string_view word_of(Withheld why) {
  return why == Withheld::too_large ? withheld_too_large : withheld_card_data;
}

// The value of the header of idem's own; it is spelled one way only.
std::optional<std::string_view> mark(const Response& response, std::string_view name) {
  const auto found = std::find_if(response.headers.begin(), response.headers.end(),
                                  [name](const Header& header) { return header.name == name; });
  if (found == response.headers.end()) return std::nullopt;
  return found->value;
}

bool is_codec_name(std::string_view name) {
  constexpr std::size_t longest = 64;
  return !name.empty() && name.size() <= longest &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+-.") == std::string_view::npos;
}

bool is_reserved(std::string_view name) {
  if (name.size() < reserved_header_prefix.size()) return false;
  return std::equal(reserved_header_prefix.begin(), reserved_header_prefix.end(), name.begin(),
                    [](char prefix, char given) {
                      return prefix == given || (given >= 'A' && given <= 'Z' && prefix == given - 'A' + 'a');
                    });
}

void check_names(const Response& given) {
  if (std::any_of(given.headers.begin(), given.headers.end(),
                  [](const Header& header) { return is_reserved(header.name); })) {
    throw InvalidArgument{
        "a response header's name begins with \"idem-\": those are reserved for what idem itself stores; a "
        "replayed answer must not be stored again"};
  }
}

Response marked(Response stored, std::string_view name, std::string_view value) {
  stored.headers.push_back({std::string{name}, std::string{value}});
  return stored;
}

void append(std::vector<std::byte>& message, std::string_view part) {
  constexpr int bits = 64;
  const std::uint64_t length = part.size();
  for (int shift = bits - 8; shift >= 0; shift -= 8) message.push_back(std::byte((length >> shift) & 0xff));
  const auto bytes = std::as_bytes(std::span{part});
  message.insert(message.end(), bytes.begin(), bytes.end());
}

// Which record a body belongs to, and which answer it is a part of. Stored bodies are bound to it, so it is frozen: these
// parts, each after its length in bytes as 8 bytes, big endian.
std::vector<std::byte> associated_data(const Key& key, const Response& stored) {
  std::vector<std::byte> message;
  append(message, "idem body v1");
  append(message, key.principal);
  append(message, key.operation);
  append(message, key.value);
  append(message, std::to_string(stored.status));
  for (const Header& header : stored.headers) {
    append(message, header.name);
    append(message, header.value);
  }
  return message;
}

std::shared_ptr<const BodyCodec> codec_named(std::string_view name, const ResponseRules* rules) {
  if (rules == nullptr) return nullptr;
  if (rules->codec && rules->codec->name() == name) return rules->codec;
  for (const auto& codec : rules->also_decode) {
    if (codec->name() == name) return codec;
  }
  return nullptr;
}

}  // namespace

std::optional<Withheld> withheld(const Response& response) {
  const auto word = mark(response, withheld_header);
  for (const Withheld why : {Withheld::too_large, Withheld::card_data}) {
    if (word == word_of(why)) return why;
  }
  return std::nullopt;
}

std::optional<std::string_view> encoded_by(const Response& response) {
  return mark(response, encoded_header);
}

void validate(const ResponseRules& rules) {
  std::set<std::string_view> names;
  const auto check = [&names](const BodyCodec& codec) {
    if (!is_codec_name(codec.name())) {
      throw InvalidArgument{"a body codec's name must have 1 to 64 of a-z, 0-9, '+', '-' and '.'"};
    }
    if (!names.insert(codec.name()).second) {
      throw InvalidArgument{"two body codecs have the name " + std::string{codec.name()}};
    }
  };
  if (rules.codec) check(*rules.codec);
  for (const auto& codec : rules.also_decode) {
    if (!codec) throw InvalidArgument{"a body codec in also_decode is null"};
    check(*codec);
  }
}

namespace detail {

std::optional<Response> as_stored(const Key& key, const Response& given, std::size_t max_bytes,
                                  const ResponseRules* rules) {
  const std::size_t header_bytes = check_headers("a response", given.headers);
  check_names(given);
  std::optional<Withheld> why;
  bool keeps_headers = true;
  if (rules != nullptr && rules->must_not_store && rules->must_not_store(given)) {
    if (rules->found == OnUnstorable::refuse) {
      throw InvalidArgument{"a response holds what must not be stored; settle with one that may be replayed"};
    }
    why = Withheld::card_data;
    keeps_headers = !rules->must_not_store({given.status, given.headers, {}});
  } else if (rules != nullptr && rules->too_large == OnUnstorable::withhold_body &&
             header_bytes + given.body.size() > max_bytes) {
    why = Withheld::too_large;
  }
  const std::size_t bytes = (keeps_headers ? header_bytes : 0) + (why ? 0 : given.body.size());
  if (bytes > max_bytes) {
    throw InvalidArgument{(why ? "a response's headers of " : "a response of ") + std::to_string(bytes) +
                          " bytes" + (why ? " are" : " is") + " over the limit of " +
                          std::to_string(max_bytes) + "; settle with one that can be replayed"};
  }
  if (why) {
    return marked({given.status, keeps_headers ? given.headers : std::vector<Header>{}, {}}, withheld_header,
                  word_of(*why));
  }
  if (rules == nullptr || !rules->codec) return std::nullopt;
  Response stored = marked({given.status, given.headers, {}}, encoded_header, rules->codec->name());
  stored.body = rules->codec->encode(given.body, associated_data(key, stored));
  return stored;
}

void restore(const Key& key, Response& stored, const ResponseRules* rules) {
  if (const auto word = mark(stored, withheld_header); word && !withheld(stored)) {
    throw StoredDataError{"a record's body was withheld for a reason that this version does not know"};
  }
  const auto name = encoded_by(stored);
  if (!name) return;
  const auto codec = codec_named(*name, rules);
  if (!codec) {
    throw BodyUnavailable{"the record's body was encoded by " +
                          (is_codec_name(*name) ? "the codec " + std::string{*name}
                                                : std::string{"a codec that no version could name"}) +
                          ", which this process was not given; nothing was changed"};
  }
  stored.body = codec->decode(stored.body, associated_data(key, stored));
  std::erase_if(stored.headers, [](const Header& header) { return header.name == encoded_header; });
}

}  // namespace detail
}  // namespace v0
}  // namespace idem
