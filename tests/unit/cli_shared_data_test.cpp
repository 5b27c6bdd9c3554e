// SPDX-License-Identifier: BSD-3-Clause
//
// Whatever file `weft check` is shown, it reads or refuses it; it never crashes and no sanitizer speaks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/program.hpp"

namespace weft::test {
namespace {

// For a POSIX regular expression.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += std::string(std::string_view("^$.[]|()?*+{}\\").find(c) == std::string_view::npos ? "" : "\\") + c;
  return out;
}

TEST(CliSharedData, CheckNeverCrashes) {
  const char* given = std::getenv("WEFT_SHARED");
  const std::filesystem::path data = std::filesystem::path(given != nullptr ? given : WEFT_SHARED_DIR) / "data";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no shared data at " << data;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  ASSERT_GT(files.size(), 200U);
  // One run over all: a bad file must not stop the good ones after it.
  std::vector<std::string> arguments{"check"};
  arguments.insert(arguments.end(), files.begin(), files.end());
  const ProgramRun run = run_weft(arguments);
  EXPECT_EQ(run.code, 2) << run.err;
  EXPECT_EQ(run.err.find("Sanitizer"), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("runtime error:"), std::string::npos) << run.err;
  std::istringstream lines(run.out);
  std::string line;
  std::size_t read = 0;
  for (const std::string& file : files) {
    ASSERT_TRUE(std::getline(lines, line)) << "ended at " << file << "\n" << run.err;
    if (line.starts_with(file + ": ok: ")) {
      ++read;
      continue;
    }
    EXPECT_EQ(line, file + ": bad");
    // Every refusal names the file, with a place in it or not, and says that it is an error.
    EXPECT_THAT(run.err, testing::ContainsRegex("(^|\n)" + escaped(file) + "(:[0-9]+)*: error: ")) << file;
  }
  EXPECT_FALSE(std::getline(lines, line)) << line;
  // The dumps and Slurm files among them are meant to be read.
  EXPECT_GT(read, 20U);
}

}  // namespace
}  // namespace weft::test
