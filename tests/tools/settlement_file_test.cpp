// Which CSV is a settlement, and what is said of one that is not.
#include "settlement_file.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "failure.hpp"
#include "tools/temporary_file.hpp"

namespace idem::test {
namespace {

using Entries = std::vector<SettlementEntry>;

const std::string header = "downstream_key,outcome,amount,reference\n";

Entries read(const std::string& content) {
  const TemporaryFile file{content};
  idemctl::SettlementFile settlement{file.path()};
  Entries entries;
  while (auto entry = settlement.next()) entries.push_back(*std::move(entry));
  EXPECT_FALSE(settlement.next());
  return entries;
}

std::string refusal(const std::string& content) {
  try {
    static_cast<void>(read(content));
  } catch (const idemctl::Failure& failure) {
    return failure.what();
  }
  return "not refused";
}

SettlementEntry entry(const std::string& key, const std::string& reference, std::int64_t amount = 1290) {
  return {.downstream_key = key, .amount = amount, .reference = reference};
}

TEST(SettlementFile, ReadsEachLineInOrder) {
  EXPECT_EQ(read(header + "k1,charged,1290,r1\nk2,declined,0,\n"),
            (Entries{entry("k1", "r1"),
                     {.downstream_key = "k2", .outcome = SettlementOutcome::declined, .amount = 0}}));
}

TEST(SettlementFile, TheColumnsStandInAnyOrder) {
  const Entries entries = read(
      "at,reference,amount,outcome,downstream_key\n2026-01-31T12:00:00.5Z,r,7,charged,k\n,r,7,charged,l\n");
  ASSERT_EQ(entries.size(), 2U);
  SettlementEntry first = entry("k", "r", 7);
  first.at = TimePoint{std::chrono::sys_days{std::chrono::year{2026} / 1 / 31} + std::chrono::hours{12} +
                       std::chrono::milliseconds{500}};
  EXPECT_EQ(entries[0], first);
  EXPECT_EQ(entries[1], entry("l", "r", 7));
}

TEST(SettlementFile, LinesEndWithLfOrCrlfAndTheLastOneNeedsNoEnd) {
  const Entries both{entry("k", "r"), entry("l", "s")};
  for (const std::string end : {"\n", "\r\n"}) {
    const std::string lines =
        "downstream_key,outcome,amount,reference" + end + "k,charged,1290,r" + end + "l,charged,1290,s";
    EXPECT_EQ(read(lines), both);
    EXPECT_EQ(read(lines + end), both);
    EXPECT_EQ(read(lines + end + end), both);
  }
}

TEST(SettlementFile, QuotedFieldsHoldCommasQuotationMarksAndLineBreaks) {
  EXPECT_EQ(read(header + "\"k\",\"charged\",\"1290\",\"a,\"\"b\"\"\nc\r\nd\"\nl,charged,1290,\"\"\n"),
            (Entries{entry("k", "a,\"b\"\nc\r\nd"), entry("l", "")}));
}

TEST(SettlementFile, SpacesAreAPartOfTheField) {
  EXPECT_EQ(read(header + " k\t,charged,1290,  r \n"), Entries{entry(" k\t", "  r ")});
  EXPECT_EQ(
      refusal(header + "k,charged, 1290,r\n"),
      "line 2, column amount, of the settlement file: must be a whole number from 0 to 9223372036854775807");
}

TEST(SettlementFile, AByteOrderMarkAndEmptyLinesArePassedOver) {
  EXPECT_EQ(read("\xef\xbb\xbf" + header + "\n\r\nk,charged,1290,r\n\n\n"), Entries{entry("k", "r")});
  // In UTF-16 there are no such columns.
  EXPECT_EQ(refusal(std::string("\xff\xfe"
                                "d\0",
                                4))
                .substr(0, 49),
            "line 1, column 1, of the settlement file: must be");
}

TEST(SettlementFile, AFileOfTheFirstLineAloneHasNoEntries) {
  EXPECT_TRUE(read(header).empty());
  EXPECT_TRUE(read("downstream_key,outcome,amount,reference").empty());
}

TEST(SettlementFile, AnEmptyFileIsRefused) {
  for (const std::string content : {"", "\n", "\r\n\r\n", "\xef\xbb\xbf"}) {
    EXPECT_EQ(refusal(content),
              "the settlement file is empty: its first line must name the columns downstream_key, outcome, "
              "amount, reference and, if it is there, at");
  }
}

TEST(SettlementFile, TheFirstLineMustNameTheColumnsOnce) {
  EXPECT_EQ(refusal("downstream_key,outcome,amount\n"),
            "line 1, column reference, of the settlement file: is missing");
  EXPECT_EQ(refusal("outcome,amount,reference\n"),
            "line 1, column downstream_key, of the settlement file: is missing");
  EXPECT_EQ(refusal("downstream_key,outcome,amount,secret,reference\n"),
            "line 1, column 4, of the settlement file: must be one of downstream_key, outcome, amount, "
            "reference and, "
            "if it is there, at");
  EXPECT_EQ(refusal("downstream_key,outcome,amount,amount,reference\n"),
            "line 1, column amount, of the settlement file: is there twice");
  EXPECT_EQ(refusal("Downstream_key,outcome,amount,reference\n").substr(0, 49),
            "line 1, column 1, of the settlement file: must be");
}

TEST(SettlementFile, EachLineHasAsManyColumnsAsTheFirst) {
  EXPECT_EQ(refusal(header + "k,charged,1290,r\nk,charged,1290\n"),
            "line 3 of the settlement file: must have as many columns as the first line: 4, not 3");
  EXPECT_EQ(refusal(header + "k,charged,1290,r,secret\n"),
            "line 2 of the settlement file: must have as many columns as the first line: 4, not 5");
  EXPECT_EQ(refusal(header + " \n"),
            "line 2 of the settlement file: must have as many columns as the first line: 4, not 1");
}

TEST(SettlementFile, ABadValueIsToldByLineAndColumnAndNeverItself) {
  for (const std::string amount :
       {"", "secret", "1.5", "-1", "-0", "+1", "1e3", "0x1", "1 ", "9223372036854775808", "1\xc2\xa0"}) {
    EXPECT_EQ(
        refusal(header + "k,charged,1290,r\nk,charged," + amount + ",r\n"),
        "line 3, column amount, of the settlement file: must be a whole number from 0 to 9223372036854775807")
        << amount;
  }
  for (const std::string outcome : {"", "secret", "Charged", "charged "}) {
    EXPECT_EQ(refusal(header + "k," + outcome + ",1,r\n"),
              "line 2, column outcome, of the settlement file: must be charged or declined");
  }
  EXPECT_EQ(refusal("downstream_key,outcome,amount,reference,at\nk,charged,1,r,yesterday\n"),
            "line 2, column at, of the settlement file: must be a time as RFC 3339 has it, or empty");
  EXPECT_EQ(refusal(header + ",charged,1,r\n"),
            "line 2 of the settlement file: an entry's downstream_key must be 1 to 255 bytes long");
  EXPECT_EQ(refusal(header + "k,charged,1,secret\xff\n"),
            "line 2 of the settlement file: an entry's reference must be UTF-8 without NUL");
  EXPECT_EQ(refusal(header + std::string("k,charged,1,a\0b\n", 16)),
            "line 2 of the settlement file: an entry's reference must be UTF-8 without NUL");
}

TEST(SettlementFile, AQuotationMarkOutOfPlaceIsRefused) {
  const std::string why =
      ": a quotation mark stands where RFC 4180 has none: quote the field, and double the mark in it";
  EXPECT_EQ(refusal(header + "k,charged,1290,se\"cret\n"),
            "line 2, column reference, of the settlement file" + why);
  EXPECT_EQ(refusal(header + "k,charged,1290,r\n\"k\"x,charged,1,r\n"),
            "line 3, column downstream_key, of the settlement file" + why);
  EXPECT_EQ(refusal("downstream_key,out\"come\n"), "line 1, column 2, of the settlement file" + why);
  EXPECT_EQ(refusal(header + "k,charged,1290,\"secret\nl,charged,1,r\n"),
            "line 2, column reference, of the settlement file: the quotation is not ended");
}

TEST(SettlementFile, LinesAreCountedAsTheFileHasThem) {
  for (const std::string end : {"\n", "\r\n"}) {
    const std::string three_lines = "k,charged,1290,\"a" + end + "b" + end + "c\"" + end;
    const std::string first = "downstream_key,outcome,amount,reference" + end;
    EXPECT_EQ(refusal(first + three_lines + end + "k,charged,x,r" + end).substr(0, 12), "line 6, colu");
    // A row of several lines is told by its first one.
    EXPECT_EQ(refusal(first + end + "k,charged,x,\"a" + end + "b\"" + end).substr(0, 12), "line 3, colu");
  }
}

TEST(SettlementFile, ALineThatIsTooLongIsRefusedInBoundedMemory) {
  const std::string why = "line 2 of the settlement file: must not be longer than 65536 bytes";
  EXPECT_EQ(refusal(header + "k,charged,1," + std::string(10'000'000, 'x') + "\n"), why);
  EXPECT_EQ(refusal(header + "k,charged,1,\"" + std::string(10'000'000, '\n') + "\"\n"), why);
  EXPECT_EQ(refusal(header + "k,charged,1," + std::string(65'525, 'x')), why);
  EXPECT_EQ(refusal(header + "k,charged,1," + std::string(65'524, 'x')),
            "line 2 of the settlement file: an entry's reference must be 1 to 255 bytes long");
}

TEST(SettlementFile, LinesMayStandAcrossBlocks) {
  std::string content = header;
  for (int n = 0; n < 20'000; ++n) content += "k" + std::to_string(n) + ",charged,1290,\"r\n\"\r\n";
  const Entries entries = read(content);
  ASSERT_EQ(entries.size(), 20'000U);
  for (std::size_t n = 0; n < entries.size(); ++n)
    EXPECT_EQ(entries[n], entry("k" + std::to_string(n), "r\n"));
}

TEST(SettlementFile, AFileThatCannotBeReadIsToldByItsReason) {
  EXPECT_THROW(idemctl::SettlementFile{"/nowhere/secret"}, idemctl::Failure);
  EXPECT_THROW(idemctl::SettlementFile{"/"}, idemctl::Failure);
}

}  // namespace
}  // namespace idem::test
