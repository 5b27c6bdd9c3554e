// SPDX-License-Identifier: BSD-3-Clause
#include "recognise.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "slurm_conf.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMostBytes = 1U << 20;
constexpr std::uint32_t kMostLines = 2000;
constexpr std::size_t kBinaryProbe = 4096;

struct Magic {
  std::string_view bytes;
  std::string_view what;
};

constexpr std::array<Magic, 5> kCompressed{{
    {"\x1f\x8b", "gzip"},
    {std::string_view("\xfd"
                      "7zXZ\0",
                      6),
     "xz"},
    {"\x28\xb5\x2f\xfd", "zstd"},
    {"BZh", "bzip2"},
    {"PK\x03\x04", "zip"},
}};

bool refuse(Recognised& out, std::string reason, std::string expected) {
  out.kind = FileKind::unknown;
  out.reason = std::move(reason);
  out.expected = std::move(expected);
  return true;
}

bool classify_bytes(std::string_view text, Recognised& out) {
  for (const Magic& magic : kCompressed) {
    if (!text.starts_with(magic.bytes)) continue;
    return refuse(out, "the file is compressed (" + std::string(magic.what) + ")", "the text in it; unpack it first");
  }
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    return refuse(out, "the file is in UTF-16", "UTF-8 or plain ASCII text");
  }
  if (text.substr(0, kBinaryProbe).find('\0') != std::string_view::npos) {
    return refuse(out, "the file is binary", std::string(kKnownFabrics));
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return refuse(out, "the file is empty", std::string(kKnownFabrics));
  }
  return false;
}

bool classify_markup(std::string_view text, Recognised& out) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (text[first] != '<') return false;
  const std::string_view head = text.substr(first, 2048);
  const auto has = [head](std::string_view word) {
    for (std::size_t i = 0; i + word.size() <= head.size(); ++i) {
      if (same_key(head.substr(i, word.size()), word)) return true;
    }
    return false;
  };
  if (has("<html") || has("<!doctype html")) {
    return refuse(out, "an HTML page, perhaps an error page in place of a download", std::string(kKnownFabrics));
  }
  if (has("<topology") || has("hwloc")) {
    return refuse(out, "an hwloc file, which describes one node",
                  "a fabric; name the hwloc file in a node type of fabric.yaml");
  }
  if (has("<system") || has("<graphs")) {
    return refuse(out, "an NCCL topology or graph file, which describes one node", std::string(kKnownFabrics));
  }
  return false;
}

}  // namespace

bool LineWalk::next(std::string_view& line) {
  if (rest_.empty() || number_ >= kMostLines || bytes_ >= kMostBytes) return false;
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  line = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  bytes_ += end + 1;
  ++number_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

Recognised classify(std::string_view text) {
  Recognised out;
  if (classify_bytes(text, out)) return out;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    refuse(out, "the file is empty", std::string(kKnownFabrics));
    return out;
  }
  if (classify_markup(text, out) || classify_lines(text, out) || classify_yaml(text, out)) return out;
  LineWalk walk(text);
  std::string_view line;
  bool only_comments = true;
  while (only_comments && walk.next(line)) {
    const std::size_t first = line.find_first_not_of(" \t");
    only_comments = first == std::string_view::npos || line[first] == '#';
    if (!only_comments) out.at = {walk.number(), static_cast<std::uint32_t>(first + 1)};
  }
  refuse(out, only_comments ? "nothing but comments in the file" : "not a format that Weft knows",
         std::string(kKnownFabrics));
  return out;
}

FileKind recognise(std::string_view text) { return classify(text).kind; }

}  // namespace weft::topology
