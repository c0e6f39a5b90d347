// The card guard: any bytes, and card numbers and security codes put between them.
#include "idem/response/card_guard.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "fuzz.hpp"

namespace idem::fuzz {
namespace {

struct Card {
  std::string_view digits;
  std::array<std::size_t, 5> groups;
};

// Numbers that acquirers and issuers publish for tests, and how such a one is printed.
constexpr std::array<Card, 10> cards{{
    {"4242424242424242", {4, 4, 4, 4}},
    {"5555555555554444", {4, 4, 4, 4}},
    {"2223003122003222", {4, 4, 4, 4}},
    {"378282246310005", {4, 6, 5}},
    {"6011111111111117", {4, 4, 4, 4}},
    {"36259600000004", {4, 6, 4}},
    {"3566002020360505", {4, 4, 4, 4}},
    {"6205500000000000004", {4, 4, 4, 4, 3}},
    {"6304000000000000", {4, 4, 4, 4}},
    {"4222222222222", {4, 3, 3, 3}},
}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// The byte as what stands beside a number; a line feed for those that the page on card data names: beside a letter, behind
// a percent sign, a fraction, and a backslash, which may spell a digit.
char beside(std::uint8_t byte) {
  const char c = static_cast<char>(byte);
  return is_digit(c) || is_letter(c) || c == '%' || c == '\\' || c == '.' ? '\n' : c;
}

std::string spelled(char digit, unsigned spelling) {
  const std::string hex = std::string{'3', digit};
  switch (spelling % 4) {
    case 1:
      return "\\u00" + hex;
    case 2:
      return "%" + hex;
    case 3:
      return "\\\\u00" + hex;
    default:
      return {digit};
  }
}

struct Plant {
  Card card;
  char separator = '0';  // between the groups; none where it is a digit
  unsigned spelling = 0;
};

std::string written(const Plant& plant) {
  std::string text;
  std::size_t group = 0;
  std::size_t in_group = 0;
  unsigned spelling = plant.spelling;
  for (const char digit : plant.card.digits) {
    if (in_group == plant.card.groups.at(group)) {
      if (!is_digit(plant.separator)) text += plant.separator;
      ++group;
      in_group = 0;
    }
    text += spelled(digit, spelling);
    if (plant.spelling >= 4) spelling = spelling * 5 + 3;  // each another way
    ++in_group;
  }
  return text;
}

// Written otherwise than the library does it: from the right.
bool has_check_digit(std::string_view digits) {
  int sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const int digit = digits[digits.size() - 1 - i] - '0';
    sum += i % 2 == 0 ? digit : (2 * digit) / 10 + (2 * digit) % 10;
  }
  return sum % 10 == 0;
}

// Whether there are digits, with one space, hyphen or + between some, that begin and end as a card's number does and have its
// check digit.
bool may_hold_number(std::string_view text) {
  constexpr std::string_view separators = " -+";
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    if (text[begin] < '2' || text[begin] > '6' || (begin > 0 && is_digit(text[begin - 1]))) continue;
    std::string digits;
    for (std::size_t at = begin; at < text.size() && digits.size() <= 19; ++at) {
      const bool at_digit = is_digit(text[at]);
      if (at_digit) digits += text[at];
      if (!at_digit && (separators.find(text[at]) == std::string_view::npos || !is_digit(text[at - 1])))
        break;
      const bool ends = at + 1 == text.size() || !is_digit(text[at + 1]);
      if (at_digit && ends && digits.size() >= 13 && digits.size() <= 19 && has_check_digit(digits))
        return true;
    }
  }
  return false;
}

void check_plain(std::string_view text) {
  const auto found = find_card_data(text);
  const auto digits = std::count_if(text.begin(), text.end(), is_digit);
  if (found == CardData::number) {
    expect(digits >= 10, "a number has ten written digits at least");
    // As digits, and not as escapes or a decimal.
    if (text.find_first_of("%\\.eE") == std::string_view::npos) {
      expect(may_hold_number(text), "a number has an issuer's first digit and the right check digit");
    }
  }
  if (found == CardData::security_code) expect(digits >= 3, "a security code has three digits at least");

  const std::string whole{text};
  expect(find_card_data(whole + '\n') == found, "the end of a text is the end of a line");
  if (found) {
    expect(find_card_data(whole + "\n\"cvc\":737,4242424242424242\n") == found,
           "what stands behind what was found does not count");
  }
  expect(holds_card_data(text_response(200, text)) == found.has_value(), "a body is a text");
  expect(holds_card_data({200, {{"X-Note", whole}}, {}}) == found.has_value(), "a header's value is a text");
  try {
    check_no_card_data(whole, text);
    expect(!found, "what was found is refused");
  } catch (const CardDataFound& refused) {
    expect(found.has_value(), "nothing else is refused");
    expect(!find_card_data(refused.what()), "a refusal holds no card data");
  }
}

}  // namespace

void one_input(Input input) {
  const Card card = cards.at(input.byte() % cards.size());
  char left = beside(input.byte());
  const char right = beside(input.byte());
  const std::uint8_t style = input.byte();
  const std::uint8_t place = input.byte();
  const std::string_view text = input.rest();
  check_plain(text);

  constexpr std::string_view separators = "0 -+";
  const Plant plant{card, separators[style % 4], style / 4U % 8};
  const bool in_row = is_digit(plant.separator);
  // The last group of an IBAN, or a phone.
  if (!in_row && (left == ' ' || left == '+')) left = '\n';
  if (card.digits.size() == 13 && left == '+') left = '\n';

  const std::size_t at = text.size() * place / 255;
  const std::string before{text.substr(0, at)};
  const std::string behind{text.substr(at)};
  expect(find_card_data(before + left + written(plant) + right + behind).has_value(),
         "a card's number is found between any bytes");
  expect(find_card_data(before + "\n\"cvc\":\"737\"\n" + behind).has_value(),
         "a security code is found between any bytes");
}

}  // namespace idem::fuzz
