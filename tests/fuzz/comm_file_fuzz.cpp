// SPDX-License-Identifier: BSD-3-Clause
//
// Matrices, lists of flows, AICB and SimAI workloads: what is read keeps CommFile's promises, and its flows, written
// again as a list, read equal.
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "weft/placement/comm_file.hpp"

namespace {

using weft::placement::CommFile;
using weft::placement::kMaxStepBytes;

void must(bool condition) {
  if (!condition) std::abort();
}

weft::Source source(std::string text) { return std::make_shared<const weft::SourceText>("fuzz", std::move(text)); }

void check_flows(const CommFile& file) {
  std::uint64_t total = 0;
  std::string again = "from,to,bytes\n";
  for (std::size_t i = 0; i < file.flows.size(); ++i) {
    const weft::placement::RankFlow& f = file.flows[i];
    must(f.from != f.to && f.from < file.ranks && f.to < file.ranks);
    must(i == 0 || std::pair(file.flows[i - 1].from, file.flows[i - 1].to) < std::pair(f.from, f.to));
    must(f.bytes <= kMaxStepBytes - total);
    total += f.bytes;
    again += fmt::format("{},{},{}\n", f.from, f.to, f.bytes);
  }
  if (file.flows.empty()) return;
  const auto second = weft::placement::parse_comm_file(source(again));
  must(second.has_value() && second->kind == weft::placement::CommKind::list && second->flows == file.flows);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = weft::placement::parse_comm_file(source(std::string(reinterpret_cast<const char*>(data), size)));
  if (!file) {
    must(!file.error().to_string().empty());
    return 0;
  }
  must(file->flows.empty() || file->terms.empty());
  for (std::size_t i = 0; i < file->terms.size(); ++i) {
    const auto& t = file->terms[i];
    must(t.bytes.value > 0 && t.bytes.value <= kMaxStepBytes && t.algorithm == weft::config::Algorithm::ring);
    if (i == 0) continue;
    const auto& before = file->terms[i - 1];
    must(std::pair(before.dim, before.collective) < std::pair(t.dim, t.collective));
  }
  check_flows(*file);
  return 0;
}
