// SPDX-License-Identifier: BSD-3-Clause
//
// Stands in for libFuzzer where there is no clang: runs a fuzzer's function over every file of its corpus, over each
// file cut off at many places (what a full disk or a broken pipe leaves behind), and over nothing at all.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kCuts = 24;  // a file, evenly spread

// A buffer of exactly `size` bytes, so that the address sanitizer sees a read past the end.
void run(const std::string& text, std::size_t size) {
  const std::vector<std::uint8_t> bytes(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::vector<std::filesystem::path> files_under(const char* folder) {
  std::vector<std::filesystem::path> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, none)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) try {
  std::size_t seeds = 0;
  run("", 0);
  for (int i = 1; i < argc; ++i) {
    for (const auto& path : files_under(argv[i])) {
      std::printf("%s\n", path.c_str());
      std::fflush(stdout);  // after an abort the last line names the culprit
      std::ifstream in(path, std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      run(text, text.size());
      for (std::size_t cut = 1; cut < std::min(kCuts, text.size()); ++cut) {
        run(text, text.size() * cut / std::min(kCuts, text.size()));
      }
      ++seeds;
    }
  }
  if (seeds == 0) {
    std::fprintf(stderr, "no seed in the corpus\n");
    return 1;
  }
  std::printf("%zu seeds replayed\n", seeds);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "an exception got out: %s\n", e.what());
  return 1;
}
