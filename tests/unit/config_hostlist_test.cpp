// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "weft/config/hostlist.hpp"

namespace weft::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> expand(std::string_view text) {
  const auto names = expand_hostlist(text);
  EXPECT_TRUE(names.has_value()) << text << ": " << names.error().message;
  const auto count = count_hostlist(text);
  EXPECT_TRUE(count.has_value());
  const std::vector<std::string> out = names.value_or(std::vector<std::string>());
  EXPECT_EQ(count.value_or(0), out.size());
  return out;
}

std::string refusal(std::string_view text) {
  const auto names = expand_hostlist(text);
  if (names) return "accepted";
  const HostlistError& e = names.error();
  EXPECT_EQ(count_hostlist(text).error().message, e.message);
  std::string out = std::to_string(e.offset) + "+" + std::to_string(e.length) + " " + std::string(to_string(e.code)) +
                    ": " + e.message;
  return e.expected.empty() ? out : out + " | " + e.expected;
}

// Each of these was compared with `scontrol show hostnames`.
TEST(Hostlist, ExpandsAsSlurmDoes) {
  EXPECT_THAT(expand("gpu1"), ElementsAre("gpu1"));
  EXPECT_THAT(expand("a[1-3,5]"), ElementsAre("a1", "a2", "a3", "a5"));
  EXPECT_THAT(expand("a[08-11]"), ElementsAre("a08", "a09", "a10", "a11"));
  EXPECT_THAT(expand("a[8-10]"), ElementsAre("a8", "a9", "a10"));
  EXPECT_THAT(expand("a[001-2,9,98-100]"), ElementsAre("a001", "a002", "a9", "a98", "a99", "a100"));
  EXPECT_THAT(expand("SW[14,58]"), ElementsAre("SW14", "SW58"));
  EXPECT_THAT(expand("a1,b[2,5-7]"), ElementsAre("a1", "b2", "b5", "b6", "b7"));
  EXPECT_THAT(expand("r[1-2]n[01-02]"), ElementsAre("r1n01", "r1n02", "r2n01", "r2n02"));
  EXPECT_THAT(expand("a[1-2][3-4]"), ElementsAre("a13", "a14", "a23", "a24"));
  EXPECT_THAT(expand("[1101-1102]"), ElementsAre("1101", "1102"));
  EXPECT_THAT(expand(",a,,b ,c\t\nd,"), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(expand("a[3,1,3]"), ElementsAre("a3", "a1", "a3"));
}

TEST(Hostlist, TextAfterABracketIsTaken) {
  EXPECT_THAT(expand("n[1-2]x"), ElementsAre("n1x", "n2x"));
  EXPECT_THAT(expand("r[1-2]n[3]-ib,z"), ElementsAre("r1n3-ib", "r2n3-ib", "z"));
}

// Slurm's nesting puts the second bracket from the right outermost.
TEST(Hostlist, ThreeBracketsRunInSlurmsOrder) {
  EXPECT_THAT(expand("a[1-2]b[1-2]c[1-2]"),
              ElementsAre("a1b1c1", "a1b1c2", "a2b1c1", "a2b1c2", "a1b2c1", "a1b2c2", "a2b2c1", "a2b2c2"));
}

TEST(Hostlist, EmptyTextIsAnEmptyList) {
  EXPECT_THAT(expand(""), IsEmpty());
  EXPECT_THAT(expand(" ,\n"), IsEmpty());
}

TEST(Hostlist, RefusalsNameThePlace) {
  EXPECT_EQ(refusal("a[1-3"), "1+1 bad_name: \"[\" without its \"]\" | \"]\"");
  EXPECT_EQ(refusal("a["), "1+1 bad_name: \"[\" without its \"]\" | \"]\"");
  EXPECT_EQ(refusal("b,a]"), "3+1 bad_name: \"]\" without its \"[\"");
  EXPECT_EQ(refusal("a[[1-2]]"), "2+1 bad_name: \"[\" inside brackets | numbers and ranges, such as [1-4,7]");
  EXPECT_EQ(refusal("a[1-2]]"), "6+1 bad_name: \"]\" without its \"[\"");
  EXPECT_EQ(refusal("a[]"), "2+1 bad_name: a number is missing before \"]\" | numbers and ranges, such as [1-4,7]");
  EXPECT_EQ(refusal("a[1,,2]"), "4+1 bad_name: a number is missing before \",\" | numbers and ranges, such as [1-4,7]");
  EXPECT_EQ(refusal("a[1-]"), "2+2 bad_name: the range \"1-\" has no end | numbers and ranges, such as [1-4,7]");
  EXPECT_EQ(refusal("a[-1]"), "2+1 bad_name: \"-\" inside brackets | numbers and ranges, such as [1-4,7]");
  EXPECT_EQ(refusal("a[1-2-3]"), "5+1 bad_name: \"-\" inside brackets | numbers and ranges, such as [1-4,7]");
  EXPECT_EQ(refusal("a[1, 2]"), "4+1 bad_name: \" \" inside brackets | numbers and ranges, such as [1-4,7]");
  EXPECT_EQ(refusal("a[x]"), "2+1 bad_name: \"x\" inside brackets | numbers and ranges, such as [1-4,7]");
  EXPECT_EQ(refusal("a[32-01]"), "2+5 bad_name: the range 32-01 runs backwards | 01-32");
  EXPECT_EQ(refusal("a:1"), "1+1 bad_name: \":\" in a name | letters, digits, dots, dashes, underscores");
  EXPECT_EQ(refusal(std::string_view("a\0b", 3)),
            "1+1 bad_name: the byte 0x00 in a name | letters, digits, dots, dashes, underscores");
}

TEST(Hostlist, SizesAreBoundedBeforeAnythingIsAllocated) {
  EXPECT_EQ(expand("a[1-1048576]").size(), kMaxHostlistNames);
  EXPECT_EQ(refusal("a[0-1048576]"), "1+10 limit: more than 1048576 names");
  EXPECT_EQ(refusal("a[0-999999999999999999]"), "1+21 limit: more than 1048576 names");
  EXPECT_EQ(refusal("a[0-9999999999999999999]"), "4+19 limit: a number of more than 18 digits");
  EXPECT_EQ(refusal("x,r[1-2000]n[1-2000]"), "2+18 limit: more than 1048576 names");
  EXPECT_EQ(refusal("a[1-1048576],b"), "13+1 limit: more than 1048576 names");
  EXPECT_EQ(refusal(std::string(256, 'a')), "0+256 limit: a name longer than 255 bytes");
  EXPECT_EQ(expand(std::string(250, 'a') + "[1-99999]").size(), 99999U);
  EXPECT_EQ(refusal(std::string(250, 'a') + "[1-100000]"), "0+260 limit: a name longer than 255 bytes");
}

std::string compress(const std::vector<std::string>& names) { return compress_hostlist(names); }

TEST(Hostlist, CompressesToTheUsualForm) {
  EXPECT_EQ(compress({}), "");
  EXPECT_EQ(compress({"a"}), "a");
  EXPECT_EQ(compress({"gpu1"}), "gpu1");
  EXPECT_EQ(compress({"gpu08", "gpu09", "gpu10", "gpu12"}), "gpu[08-10,12]");
  EXPECT_EQ(compress({"gpu8", "gpu9", "gpu10"}), "gpu[8-10]");
  EXPECT_EQ(compress({"gpu09", "gpu9", "gpu010"}), "gpu[09,9,010]");
  EXPECT_EQ(compress({"gpu99", "gpu100"}), "gpu[99-100]");
  EXPECT_EQ(compress({"b2", "b1"}), "b[2,1]");
  EXPECT_EQ(compress({"b1", "b1"}), "b[1,1]");
  EXPECT_EQ(compress({"n1-ib0", "n2-ib0", "n3-ib0"}), "n[1-3]-ib0");
  EXPECT_EQ(compress({"x", "n1", "n2", "y3"}), "x,n[1-2],y3");
  EXPECT_EQ(compress({"1101", "1102"}), "[1101-1102]");
  EXPECT_EQ(compress(expand("r[1-4]n[01-18]")), "r[1-4]n[01-18]");
  EXPECT_EQ(compress(expand("r[1-4]n[01-18]-x,r7n[01-18]-x")), "r[1-4,7]n[01-18]-x");
  EXPECT_EQ(compress(expand("r[1-2]n[01-18],r3n[01-17]")), "r[1-2]n[01-18],r3n[01-17]");
  // The outer bracket must stand before the inner one, or the order would change.
  EXPECT_EQ(compress({"n1r1", "n2r1", "n1r2", "n2r2"}), "n[1-2]r1,n[1-2]r2");
  // Digits beyond 18 stay text.
  EXPECT_EQ(compress({"s0123456789012345678", "s0123456789012345679"}), "s0123456789012345678,s0123456789012345679");
}

TEST(Hostlist, ValidNames) {
  EXPECT_TRUE(is_valid_name("gpu-01.site_x"));
  EXPECT_TRUE(is_valid_name("MF0;sw#1/U1"));
  EXPECT_FALSE(is_valid_name(""));
  for (const char* bad : {"a b", "a,b", "a[1]", "a:1", "a\"", "a'", "a\n", "a\x7f"})
    EXPECT_FALSE(is_valid_name(bad)) << bad;
  EXPECT_TRUE(is_valid_name(std::string(255, 'a')));
  EXPECT_FALSE(is_valid_name(std::string(256, 'a')));
}

TEST(Indices, ExpandInOrder) {
  EXPECT_THAT(expand_indices("0-3,6").value(), ElementsAre(0, 1, 2, 3, 6));
  EXPECT_THAT(expand_indices("4").value(), ElementsAre(4));
  EXPECT_EQ(expand_indices("0-3,2").error().message, "the index 2 stands twice");
  EXPECT_EQ(expand_indices("").error().message, "a number is missing before \"]\"");
  EXPECT_EQ(expand_indices("0,x").error().offset, 2U);
  EXPECT_EQ(expand_indices("3-1").error().offset, 0U);
  EXPECT_EQ(expand_indices("1048576").error().message, "the index 1048576 is too large");
  EXPECT_FALSE(expand_indices("1],[2").has_value());
}

}  // namespace
}  // namespace weft::config
