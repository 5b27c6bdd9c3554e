// SPDX-License-Identifier: BSD-3-Clause
//
// What the documents show is what the program says: every fenced block of docs/*.md that begins with "$ weft …" is run
// at the top of the tree, and the rest of the block must be its standard output. WEFT_REGENERATE=1 rewrites the blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "support/program.hpp"

namespace weft::test {
namespace {

namespace fs = std::filesystem;
constexpr const char* kOpen = "```\n$ weft ";

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> out;
  for (std::string word; in >> word;) {
    // What a shell would take off: no word here has a blank inside its quotes.
    if (word.size() > 1 && word.front() == '\'' && word.back() == '\'') word = word.substr(1, word.size() - 2);
    out.push_back(word);
  }
  return out;
}

std::string run_in_tree(const std::string& command) {
  const ProgramRun run = run_weft(words(command), {.directory = WEFT_SOURCE_DIR, .input = {}});
  EXPECT_EQ(run.code, 0) << command << '\n' << run.err;
  return run.out;
}

TEST(CliDocs, ShowWhatTheProgramSays) {
  std::size_t blocks = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(WEFT_SOURCE_DIR "/docs")) {
    if (entry.path().extension() != ".md") continue;
    SCOPED_TRACE(entry.path());
    const std::string text = slurp(entry.path());
    std::string fresh = text;
    for (std::size_t at = fresh.find(kOpen); at != std::string::npos; at = fresh.find(kOpen, at + 1)) {
      const std::size_t command = at + std::string(kOpen).size();
      const std::size_t output = fresh.find('\n', command) + 1;
      const std::size_t end = fresh.find("\n```", output - 1) + 1;
      ASSERT_NE(end, 0U) << "a block that does not end";
      fresh.replace(output, end - output, run_in_tree(fresh.substr(command, output - command)));
      ++blocks;
    }
    if (std::getenv("WEFT_REGENERATE") != nullptr) {
      if (fresh != text) spill(entry.path(), fresh);
    } else {
      EXPECT_EQ(text, fresh);
    }
  }
  EXPECT_GE(blocks, 1U);
}

}  // namespace
}  // namespace weft::test
