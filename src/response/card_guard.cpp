#include "idem/response/card_guard.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace idem {
inline namespace v0 {

namespace {

constexpr std::size_t shortest_number = 13;
constexpr std::size_t longest_number = 19;

/// Stands for every character that is not ASCII.
constexpr char not_ascii = '\x80';

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

constexpr bool is_upper(char c) noexcept {
  return c >= 'A' && c <= 'Z';
}

constexpr bool is_letter(char c) noexcept {
  return is_upper(c) || (c >= 'a' && c <= 'z');
}

constexpr bool is_ascii(char c) noexcept {
  return static_cast<unsigned char>(c) < 0x80;
}

/// The value of a hex digit; negative for anything else.
constexpr int hex_value(char c) noexcept {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// A text as its reader will see it: JSON's escapes and percent-encoding are resolved, whatever the text is.
class Characters {
 public:
  explicit Characters(std::string_view text) noexcept : text_{text} {}

  [[nodiscard]] bool at_end() const noexcept { return pos_ == text_.size(); }

  [[nodiscard]] char next() noexcept {
    const char c = text_[pos_++];
    last_ = c == '\\' ? escaped() : c == '%' ? percent_encoded() : c;
    return last_;
  }

 private:
  char escaped() noexcept {
    // JSON inside a JSON string doubles its backslashes.
    while (!at_end() && text_[pos_] == '\\') ++pos_;
    if (at_end()) return '\\';
    switch (text_[pos_]) {
      case '"':
      case '/':
        return text_[pos_++];
      case 'b':
      case 'f':
      case 'n':
      case 'r':
      case 't':
        ++pos_;
        return '\n';
      case 'u': {
        const int value = hex(pos_ + 1, 4);
        if (value < 0) return '\\';
        pos_ += 5;
        return value < 0x80 ? static_cast<char>(value) : not_ascii;
      }
      default:
        return '\\';
    }
  }

  char percent_encoded() noexcept {
    const int value = hex(pos_, 2);
    if (value < 0) return '%';
    // Nobody encodes letters. "%B4242…" is a magnetic stripe's first track: a byte from B0 on only continues others.
    const bool continues = value >= 0xb0 && value <= 0xb9;
    if (value < 0x80 ? is_letter(static_cast<char>(value)) : continues && is_ascii(last_)) return '%';
    pos_ += 2;
    return value < 0x80 ? static_cast<char>(value) : not_ascii;
  }

  /// The value of so many hex digits; negative where they are not there.
  [[nodiscard]] int hex(std::size_t pos, std::size_t digits) const noexcept {
    if (text_.size() - pos < digits) return -1;
    int value = 0;
    for (const char c : text_.substr(pos, digits)) {
      const int digit = hex_value(c);
      if (digit < 0) return -1;
      value = value * 16 + digit;
    }
    return value;
  }

  std::string_view text_;
  std::size_t pos_ = 0;
  char last_ = '\n';
};

/// The numbers of an issuer: their first six digits and their lengths, from and to.
struct Issuer {
  std::int32_t first;
  std::int32_t last;
  std::size_t shortest;
  std::size_t longest;
};

constexpr Issuer issuers[] = {
    {400000, 499999, 13, 13},  // Visa
    {400000, 499999, 16, 16},  // Visa
    {400000, 499999, 19, 19},  // Visa
    {222100, 272099, 16, 16},  // Mastercard
    {510000, 559999, 16, 16},  // Mastercard
    {340000, 349999, 15, 15},  // American Express
    {370000, 379999, 15, 15},  // American Express
    {601100, 601199, 16, 19},  // Discover
    {644000, 659999, 16, 19},  // Discover
    {300000, 305999, 14, 19},  // Diners Club
    {309000, 309999, 14, 19},  // Diners Club
    {360000, 369999, 14, 19},  // Diners Club
    {380000, 399999, 14, 19},  // Diners Club
    {352800, 358999, 16, 19},  // JCB
    {620000, 629999, 16, 19},  // UnionPay, and Discover from 622126 to 622925
    {501800, 501899, 13, 19},  // Maestro
    {502000, 502099, 13, 19},  // Maestro
    {503800, 503899, 13, 19},  // Maestro
    {589300, 589399, 13, 19},  // Maestro
    {630400, 630499, 13, 19},  // Maestro
    {675900, 675999, 13, 19},  // Maestro
    {676100, 676399, 13, 19},  // Maestro
};

bool has_issuer(std::string_view digits) noexcept {
  std::int32_t prefix = 0;
  for (const char c : digits.substr(0, 6)) prefix = prefix * 10 + (c - '0');
  return std::ranges::any_of(issuers, [&](const Issuer& issuer) {
    return prefix >= issuer.first && prefix <= issuer.last && digits.size() >= issuer.shortest &&
           digits.size() <= issuer.longest;
  });
}

/// ISO/IEC 7812-1: from the right, every second digit is doubled and its own digits are added.
bool has_luhn(std::string_view digits) noexcept {
  int sum = 0;
  bool doubled = digits.size() % 2 == 0;
  for (const char c : digits) {
    const int digit = c - '0';
    sum += !doubled ? digit : digit < 5 ? digit * 2 : digit * 2 - 9;
    doubled = !doubled;
  }
  return sum % 10 == 0;
}

/// The number of an article: those of whole countries begin as cards do, with 4 or 50. Nobody issues Visa cards of 13
/// digits any more, so it is the likelier of the two.
bool is_ean_13(std::string_view digits) noexcept {
  if (digits.size() != 13) return false;
  int sum = 0;
  int weight = 1;
  for (const char c : digits) {
    sum += (c - '0') * weight;
    weight = 4 - weight;
  }
  return sum % 10 == 0;
}

bool is_card_number(std::string_view digits) noexcept {
  return digits.size() >= shortest_number && digits.size() <= longest_number && has_issuer(digits) &&
         has_luhn(digits) && !is_ean_13(digits);
}

/// Knows whether it is in the groups of an IBAN: two capitals and two digits, then capitals and digits in fours.
class Iban {
 public:
  [[nodiscard]] bool inside() const noexcept { return inside_; }

  void feed(char c) noexcept {
    if (is_upper(c) || is_digit(c)) {
      fits_ = fits_ && token_ < 4 && (inside_ ? length_ < longest : token_ < 2 ? is_upper(c) : is_digit(c));
      inside_ = inside_ && fits_;
      ++token_;
      ++length_;
    } else if (c == ' ' || c == '+') {
      if (!inside_) length_ = 4;
      inside_ = fits_ && token_ == 4;  // a shorter group is the last one
      token_ = 0;
      fits_ = true;
    } else {
      inside_ = false;
      token_ = 0;
      fits_ = !is_letter(c);
    }
  }

 private:
  static constexpr std::size_t longest = 34;

  bool inside_ = false;
  bool fits_ = true;       // the token so far is what can stand here
  std::size_t token_ = 0;  // its length
  std::size_t length_ = 0;
};

/// How cards are grouped, in print and by formatters.
constexpr std::size_t most_groups = 5;
constexpr std::array<std::size_t, most_groups> groupings[] = {
    {4, 4, 4, 4}, {4, 4, 4, 4, 1}, {4, 4, 4, 4, 2}, {4, 4, 4, 4, 3}, {4, 4, 4, 1},
    {4, 4, 4, 2}, {4, 4, 4, 3},    {4, 6, 5},       {4, 6, 4},       {4, 3, 3, 3},
};

constexpr bool is_separator(char c) noexcept {
  return c == ' ' || c == '-' || c == '+';  // a form spells a space as +
}

/// Finds card numbers that are written as digits, in a row or in groups.
class Numbers {
 public:
  /// Takes the next character. True where it has shown that what stands before it is a card number.
  [[nodiscard]] bool feed(char c) noexcept {
    const bool found = is_digit(c) ? digit(c) : other(c);
    iban_.feed(c);
    before_last_ = std::exchange(last_, c);
    return found;
  }

 private:
  struct Group {
    std::array<char, longest_number> digits;
    std::size_t size;  // counts on where there are more
    char left;         // the character before it
    bool is_fraction;
  };

  bool digit(char c) noexcept {
    if (!in_group_) begin_group();
    in_group_ = true;
    Group& group = groups_[count_ - 1];
    if (group.size < longest_number) group.digits[group.size] = c;
    ++group.size;
    return false;
  }

  bool other(char c) noexcept {
    const bool was_at_end_of_sentence = std::exchange(at_point_, false);
    if (!in_group_) {
      count_ = 0;  // nothing, or two separators
      return was_at_end_of_sentence;
    }
    in_group_ = false;
    const bool found = ends_card(c);
    if (c == '.') at_point_ = found;
    if (!is_separator(c)) {
      count_ = 0;
    } else if (count_ > 1 && c != separator_) {
      groups_[0] = groups_[count_ - 1];
      count_ = 1;
    }
    separator_ = c;
    return found && c != '.';
  }

  void begin_group() noexcept {
    if (count_ == most_groups) {
      std::ranges::move(groups_.begin() + 1, groups_.end(), groups_.begin());
      --count_;
    }
    Group& group = groups_[count_++];
    group.size = 0;
    group.left = last_;
    group.is_fraction = last_ == '.' && is_digit(before_last_);
  }

  /// True where the last group, or the groups up to it, are a card number when `right` comes next.
  [[nodiscard]] bool ends_card(char right) const noexcept {
    const Group& last = groups_[count_ - 1];
    if (last.size > longest_number) return false;
    if (last.size >= shortest_number) {
      return may_be_card(last, last.size, right) && is_card_number({last.digits.data(), last.size});
    }
    if (iban_.inside()) return false;
    return std::ranges::any_of(groupings, [&](const auto& sizes) { return ends_grouped(sizes, right); });
  }

  [[nodiscard]] bool ends_grouped(const std::array<std::size_t, most_groups>& sizes,
                                  char right) const noexcept {
    const std::size_t groups = sizes.back() == 0
                                   ? static_cast<std::size_t>(std::ranges::find(sizes, 0U) - sizes.begin())
                                   : most_groups;
    if (count_ < groups) return false;
    const std::span<const Group> last{groups_.data() + (count_ - groups), groups};
    std::array<char, longest_number> digits{};
    std::size_t size = 0;
    for (std::size_t i = 0; i < groups; ++i) {
      if (last[i].size != sizes[i]) return false;
    }
    for (const Group& group : last) {
      std::copy_n(group.digits.begin(), group.size, digits.begin() + size);
      size += group.size;
    }
    return may_be_card(last.front(), size, right) && is_card_number({digits.data(), size});
  }

  /// What stands beside the digits allows it.
  static bool may_be_card(const Group& first, std::size_t size, char right) noexcept {
    if (first.is_fraction) return false;
    if (first.left == 'B' && right == '^') return true;  // the first track of a magnetic stripe
    if (first.left == '+' && size == 13) return false;   // no other phone's number is as long as a card's
    return !is_letter(first.left) && !is_letter(right);
  }

  std::array<Group, most_groups> groups_{};
  std::size_t count_ = 0;  // the groups that one separator joins, the last ones of them
  char separator_ = '\0';
  char last_ = '\n';
  char before_last_ = '\n';
  bool in_group_ = false;
  bool at_point_ =
      false;  // behind a card number and a point; digits there are a fraction, which Decimals reads
  Iban iban_;
};

/// Finds card numbers that are written with a fraction of zeros or an exponent.
class Decimals {
 public:
  /// As Numbers has it.
  [[nodiscard]] bool feed(char c) noexcept {
    switch (state_) {
      case State::outside:
        if (is_digit(c)) {
          size_ = significant_ = fraction_ = 0;
          exponent_ = 0;
          negative_ = false;
          add(c);
        }
        return go(is_digit(c) ? State::integer : outside(c));
      case State::word:
        return go(is_digit(c) ? State::word : outside(c));
      case State::integer:
        if (is_digit(c)) add(c);
        return go(is_digit(c) ? State::integer : c == '.' ? State::point : mantissa_ends(c));
      case State::point:
      case State::fraction:
        if (is_digit(c)) {
          add(c);
          ++fraction_;
          return go(State::fraction);
        }
        if (state_ == State::fraction && outside(c) == State::outside) return ends();
        return go(state_ == State::fraction ? mantissa_ends(c) : outside(c));
      case State::e:
        negative_ = c == '-';
        if (negative_ || c == '+') return go(State::sign);
        [[fallthrough]];
      case State::sign:
      case State::exponent:
        if (is_digit(c)) {
          exponent_ = std::min<std::size_t>(exponent_ * 10 + static_cast<std::size_t>(c - '0'), 999);
          return go(State::exponent);
        }
        if (state_ == State::exponent && outside(c) == State::outside) return ends();
        return go(outside(c));
    }
    return false;
  }

 private:
  enum class State { outside, word, integer, point, fraction, e, sign, exponent };

  static constexpr std::size_t fewest_digits = 10;  // 4.2e15 is a measurement
  // Numbers are written with a point before an exponent; the last twelve characters of a UUID are not (`6567337055e7`).
  static constexpr std::size_t fewest_digits_without_point = shortest_number;

  bool go(State state) noexcept {
    state_ = state;
    return false;
  }

  /// Where a character leads that is no part of a number.
  static State outside(char c) noexcept { return is_letter(c) || c == '.' ? State::word : State::outside; }
  static State mantissa_ends(char c) noexcept { return c == 'e' || c == 'E' ? State::e : outside(c); }

  void add(char c) noexcept {
    if (size_ == 0 && c == '0') return;
    if (size_ < longest_number) digits_[size_] = c;
    ++size_;
    if (c != '0') significant_ = size_;
  }

  bool ends() noexcept {
    state_ = State::outside;
    const std::size_t up = negative_ ? 0 : exponent_;
    const std::size_t down = fraction_ + (negative_ ? exponent_ : 0);
    if (size_ < (fraction_ == 0 ? fewest_digits_without_point : fewest_digits) || size_ + up < down)
      return false;
    const std::size_t length = size_ + up - down;
    if (length > longest_number || significant_ > length) return false;
    for (std::size_t i = size_; i < length; ++i) digits_[i] = '0';
    return is_card_number({digits_.data(), length});
  }

  State state_ = State::outside;
  std::array<char, longest_number> digits_{};  // without zeros in front
  std::size_t size_ = 0;                       // counts on where there are more
  std::size_t significant_ = 0;                // their number without the zeros behind
  std::size_t fraction_ = 0;                   // how many stand behind the point
  std::size_t exponent_ = 0;
  bool negative_ = false;
};

/// The names of security codes, in lower case and without `_`, `-`, `+` and blanks.
constexpr std::string_view security_code_names[] = {
    "cvv",
    "cvv2",
    "cvc",
    "cvc2",
    "csc",
    "cav2",
    "cvn",
    "cvn2",
    "cvvcode",
    "cvccode",
    "cvvnumber",
    "cvcnumber",
    "cardcvv",
    "cardcvv2",
    "cardcvc",
    "cardcvc2",
    "cardcsc",
    "cardcid",
    "cardcvn",
    "cardcvd",
    "cardsecuritycode",
    "creditcardcvv",
    "creditcardcvc",
    "creditcardsecuritycode",
    "securitycode",
    "cardverificationcode",
    "cardverificationvalue",
    "cardverificationnumber",
};

/// Finds security codes by the name that stands before them.
class SecurityCodes {
 public:
  /// As Numbers has it.
  [[nodiscard]] bool feed(char c) noexcept {
    switch (state_) {
      case State::name:
        name(c);
        return false;
      case State::named:
        if (is_blank(c) || is_quote(c) || c == ']') {
          if (c == '\n') ++lines_;
        } else if (is_assignment(c)) {
          state_ = State::value;
        } else if (is_digit(c) && lines_ >= 2) {  // the part of a multipart form
          begin_code();
        } else {
          begin_name(c);
        }
        return false;
      case State::value:
        if (is_digit(c)) {
          begin_code();
        } else if (!is_blank(c) && !is_quote(c)) {
          begin_name(c);
        }
        return false;
      case State::code:
        if (is_digit(c)) {
          ++digits_;
          return false;
        }
        begin_name(c);
        return (digits_ == 3 || digits_ == 4) && ends_value(c);
    }
    return false;
  }

 private:
  enum class State { name, named, value, code };

  static constexpr std::size_t longest_name =
      std::ranges::max(security_code_names, {}, [](std::string_view name) { return name.size(); }).size();

  static bool is_blank(char c) noexcept { return c == ' ' || c == '+' || (c >= '\t' && c <= '\r'); }
  static bool is_quote(char c) noexcept { return c == '"' || c == '\''; }
  static bool is_assignment(char c) noexcept { return c == ':' || c == '=' || c == '>'; }
  static bool ends_value(char c) noexcept {
    return is_blank(c) || is_quote(c) || std::string_view{",;&#}])<"}.find(c) != std::string_view::npos;
  }

  /// A name as it is compared.
  struct Name {
    std::array<char, longest_name> characters{};
    std::size_t size = 0;

    void add(char c) noexcept {
      if (size < longest_name) characters[size] = static_cast<char>(is_upper(c) ? c - 'A' + 'a' : c);
      if (size <= longest_name) ++size;  // longer ones are all alike
    }

    [[nodiscard]] bool is_security_code() const noexcept {
      if (size < 3 || size > longest_name) return false;
      return std::ranges::find(security_code_names, std::string_view{characters.data(), size}) !=
             std::ranges::end(security_code_names);
    }
  };

  void name(char c) noexcept {
    if (is_letter(c) || is_digit(c)) {
      name_.add(c);
      word_.add(c);
    } else if (c == ' ' || c == '+') {
      word_.size = 0;
    } else if (c != '_' && c != '-') {
      if ((is_quote(c) || c == ']') && name_.is_security_code()) {
        state_ = State::named;
        lines_ = 0;
      } else if (is_assignment(c) && (name_.is_security_code() || word_.is_security_code())) {
        state_ = State::value;
      }
      name_.size = word_.size = 0;
    }
  }

  void begin_code() noexcept {
    state_ = State::code;
    digits_ = 1;
  }

  void begin_name(char c) noexcept {
    state_ = State::name;
    name_.size = word_.size = 0;
    name(c);
  }

  State state_ = State::name;
  Name name_;
  Name word_;              // its last word: in running text the name of a value is one
  std::size_t lines_ = 0;  // that ended since the name
  std::size_t digits_ = 0;
};

}  // namespace

std::string_view to_string(CardData data) noexcept {
  return data == CardData::number ? "card number" : "card security code";
}

std::optional<CardData> find_card_data(std::string_view text) noexcept {
  Characters characters{text};
  Numbers numbers;
  Decimals decimals;
  SecurityCodes security_codes;
  for (bool more = true; more;) {
    more = !characters.at_end();
    const char c = more ? characters.next() : '\n';  // the end ends a number as a line's end does
    const bool number = numbers.feed(c);
    const bool decimal = decimals.feed(c);
    const bool security_code = security_codes.feed(c);
    if (number || decimal) return CardData::number;
    if (security_code) return CardData::security_code;
  }
  return std::nullopt;
}

void check_no_card_data(std::string_view whose, std::string_view text) {
  const std::optional<CardData> found = find_card_data(text);
  if (!found) return;
  // A header's name is its sender's choice.
  const std::string_view named = find_card_data(whose) ? "what was given" : whose;
  throw CardDataFound{std::string{named} + " holds a " + std::string{to_string(*found)}};
}

bool holds_card_data(const Response& response) noexcept {
  if (find_card_data({reinterpret_cast<const char*>(response.body.data()), response.body.size()}))
    return true;
  return std::any_of(response.headers.begin(), response.headers.end(),
                     [](const Header& header) { return find_card_data(header.value).has_value(); });
}

}  // namespace v0
}  // namespace idem
