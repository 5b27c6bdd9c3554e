// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "weft/config/error.hpp"

namespace weft {
namespace {

TEST(Error, ShowsPlaceMessageExpectationAndCaret) {
  const auto source = std::make_shared<const SourceText>("f.yaml", "weft: 1\nname: x\nlinks: 3\n");
  const Error e = error_at(ErrorCode::bad_value, source, {3, 8}, 1, "links is not a list", "a list of links");
  EXPECT_EQ(e.to_string(),
            "f.yaml:3:8: error: links is not a list; expected a list of links\n"
            "  links: 3\n"
            "         ^");
}

TEST(Error, ShowsControlBytesHarmlessly) {
  const auto source = std::make_shared<const SourceText>("f", "\ta\x1b[31m: 1\r\n");
  EXPECT_EQ(error_at(ErrorCode::syntax, source, {1, 2}, 3, "bad \x1b name").to_string(),
            "f:1:2: error: bad ? name\n   a?[31m: 1\n   ^^^");
}

TEST(Error, CutsLongLinesAroundTheCaret) {
  const std::string line = std::string(300, 'a') + "HERE" + std::string(300, 'b');
  const auto source = std::make_shared<const SourceText>("f", line);
  const std::string text = error_at(ErrorCode::syntax, source, {1, 301}, 4, "m").to_string();
  EXPECT_EQ(text, "f:1:301: error: m\n  ..." + std::string(60, 'a') + "HERE" + std::string(56, 'b') + "...\n" +
                      std::string(65, ' ') + "^^^^");
}

TEST(ReadSource, NamesTheFileAndTheSystemsReason) {
  const auto got = read_source("/nonexistent/f.yaml");
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().to_string(), "/nonexistent/f.yaml: error: cannot read: No such file or directory");
}

}  // namespace
}  // namespace weft
