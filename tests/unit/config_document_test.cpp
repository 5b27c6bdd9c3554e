// SPDX-License-Identifier: BSD-3-Clause
//
// The value tree and its accessors. Texts of refusals are held by config/invalid.
#include <gtest/gtest.h>

#include <array>

#include "weft/config/document.hpp"

namespace weft::config {
namespace {

Document parse(std::string text) {
  const auto doc = parse_yaml(std::make_shared<const SourceText>("d.yaml", std::move(text)));
  EXPECT_TRUE(doc.has_value()) << doc.error().to_string();
  return doc.value_or(Document());
}

TEST(Document, KeepsPlacesOrderAndQuotes) {
  const Document doc = parse("b: [x, \"y z\", {c: }]\na:\n  - |\n    text\n  - !!str 5\n  - 'it''s'\n");
  ASSERT_EQ(doc.root.entries.size(), 2U);
  EXPECT_EQ(doc.root.entries[0].key, "b");
  EXPECT_EQ(doc.root.entries[1].at, (Position{2, 1}));
  const Node& list = *doc.root.find("b");
  ASSERT_EQ(list.items.size(), 3U);
  EXPECT_FALSE(list.items[0].quoted);
  EXPECT_TRUE(list.items[1].quoted);
  EXPECT_EQ(list.items[1].at, (Position{1, 8}));
  EXPECT_EQ(Document::text_at(list.items[1]), (Position{1, 9}));
  EXPECT_TRUE(list.items[2].find("c")->is_null());
  const Node& block = *doc.root.find("a");
  EXPECT_EQ(block.items[0].text, "text\n");
  EXPECT_TRUE(block.items[0].quoted);
  EXPECT_EQ(Document::text_at(block.items[0]), block.items[0].at);
  EXPECT_TRUE(block.items[1].quoted);
  EXPECT_EQ(block.items[2].text, "it's");
  EXPECT_EQ(doc.root.find("none"), nullptr);
}

TEST(Document, AnEmptyTextIsNothingAtItsStart) {
  EXPECT_TRUE(parse("").root.is_null());
  EXPECT_EQ(parse("# only this\n").root.at, (Position{1, 1}));
}

TEST(Document, AByteOrderMarkAndCrLfMoveNoCaret) {
  const Document doc = parse(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: \"x\"\r\n");
  EXPECT_EQ(doc.root.entries[0].at, (Position{1, 4}));
  EXPECT_EQ(doc.root.find("b")->at, (Position{2, 4}));
  EXPECT_EQ(doc.root.find("b")->text, "x");
}

TEST(Document, ErrorsInsideAScalarFallBackToTheWholeWhereEscapesPartThem) {
  const Document doc = parse("a: \"abcdef\"\nb: \"\\x61bcdef\"\n");
  EXPECT_EQ(doc.error_inside(ErrorCode::bad_value, *doc.root.find("a"), 2, 3, "m").to_string(),
            "d.yaml:1:7: error: m\n  a: \"abcdef\"\n        ^^^");
  EXPECT_EQ(doc.error_inside(ErrorCode::bad_value, *doc.root.find("b"), 2, 3, "m").to_string(),
            "d.yaml:2:4: error: m\n  b: \"\\x61bcdef\"\n     ^^^^^^^^^^^");
}

TEST(Document, NumbersAreDecimalAndBounded) {
  const Document doc = parse("[7, 18446744073709551615, 18446744073709551616, 007, 0x10, +1, 1e3, 2.5]");
  const auto at = [&](std::size_t i) -> const Node& { return doc.root.items[i]; };
  EXPECT_EQ(as_unsigned(doc, at(0), "n").value(), 7U);
  EXPECT_EQ(as_unsigned(doc, at(1), "n").value(), 18446744073709551615U);
  for (const std::size_t i : {2U, 3U, 4U, 5U, 6U, 7U}) EXPECT_FALSE(as_unsigned(doc, at(i), "n").has_value()) << i;
  EXPECT_EQ(as_number(doc, at(6), "n").value(), 1000);
  EXPECT_EQ(as_number(doc, at(7), "n").value(), 2.5);
  EXPECT_EQ(as_unsigned(doc, at(0), "n", 8).error().message, "n is \"7\"");
  EXPECT_EQ(as_unsigned(doc, at(0), "n", 8, 9).error().expected, "a whole number from 8 to 9");
}

TEST(NearestWord, FindsSlipsAndNotStrangers) {
  constexpr std::array<std::string_view, 4> kWords{"switches", "tier", "name", "bandwidth"};
  EXPECT_EQ(nearest_word("swiches", kWords), "switches");
  EXPECT_EQ(nearest_word("teir", kWords), "tier");
  EXPECT_EQ(nearest_word("nmae", kWords), "name");
  EXPECT_EQ(nearest_word("bandwith", kWords), "bandwidth");
  EXPECT_EQ(nearest_word("frobnicate", kWords), "");
  EXPECT_EQ(nearest_word("x", kWords), "");
  EXPECT_EQ(one_of(kWords), "switches, tier, name or bandwidth");
}

}  // namespace
}  // namespace weft::config
