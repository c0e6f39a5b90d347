// Finds card numbers and security codes in what is about to be stored, so that it can be refused.
#pragma once

#include <optional>
#include <string_view>

#include "idem/base/error.hpp"
#include "idem/response/response.hpp"

namespace idem {
inline namespace v0 {

/// What must not be stored.
enum class CardData {
  number,         ///< A payment card's number (PAN).
  security_code,  ///< The three or four digits that are printed on a card (CVV, CVC, CSC).
};

[[nodiscard]] std::string_view to_string(CardData data) noexcept;

/// Tells whether a text holds card data: the kind of what comes first, or nothing. For a body, a header's value, an
/// event's payload; any bytes. Pure; nothing is rewritten, and where it stands is not told.
///
/// A card number has 13 to 19 digits, an issuer's prefix at that issuer's length (Visa, Mastercard, American
/// Express, Discover, Diners Club, JCB, UnionPay, Maestro) and the right check digit (Luhn). Its digits stand in a
/// row or in groups with one space, hyphen or `+` between them: 4-4-4-4, that with 1 to 3 more, 4-4-4 with 1 to 3
/// more, 4-6-5, 4-6-4, 4-3-3-3. No letter or digit stands beside it (`test_4242…` is one), except in the track of a
/// magnetic stripe. A decimal of that value counts too, where at least ten digits are written, 13 without a point
/// (`4242….0`, `4.242…e15`).
///
/// A security code is 3 or 4 digits, as a string or a number, that are the value of a JSON member at any depth, of a
/// form field (`card[cvc]=…`, multipart too) or of an XML element or attribute. Its name, whatever its case and
/// without `_`, `-` and blanks, is one of
/// - cvv, cvv2, cvc, cvc2, csc, cav2, cvn, cvn2, cvvcode, cvccode, cvvnumber, cvcnumber, securitycode;
/// - cardcvv, cardcvv2, cardcvc, cardcvc2, cardcsc, cardcid, cardcvn, cardcvd, cardsecuritycode,
///   cardverificationcode, cardverificationvalue, cardverificationnumber;
/// - creditcardcvv, creditcardcvc, creditcardsecuritycode.
/// `cid` alone is mostly a customer's id and `cardcode` a partner's: they are no such names. `securitycode` may be
/// that of a text message, which should not be stored either.
///
/// Both are found behind JSON's escapes (`\u0034`), also in JSON inside a JSON string, and behind percent-encoding.
///
/// Not found: a number beside a letter (`pan4242…`; hashes and IBANs are full of those), inside a longer row of
/// digits (zeros in front), in groups of another shape or with other separators, in the groups of an IBAN, right
/// behind a percent sign where it begins with 2 or 3, with digits that are not ASCII, in UTF-16, base64 or a
/// compressed body, percent-encoded twice, of an issuer that is not named above; thirteen digits that are also an
/// article's number (EAN-13) or stand behind a `+` as a phone's; a security code under another name, deeper in its
/// member (`"cvc":{"value":…}`), with a fraction, or in a multipart part with a Content-Type of its own.
///
/// Found though it is none: one in ten of the numbers that have an issuer's prefix and length by chance. Times in
/// seconds, milli-, micro- or nanoseconds since 1970 have none before May 2040.
///
/// Linear in the text; neither recurses nor allocates.
[[nodiscard]] std::optional<CardData> find_card_data(std::string_view text) noexcept;

/// Throws CardDataFound where `text` holds card data. `whose` says what the text is, for the message ("the body", "the
/// header X-Note").
void check_no_card_data(std::string_view whose, std::string_view text);

/// Whether a response's body or the value of one of its headers holds card data: what ResponseRules::must_not_store takes.
[[nodiscard]] bool holds_card_data(const Response& response) noexcept;

}  // namespace v0
}  // namespace idem
