// SPDX-License-Identifier: BSD-3-Clause
//
// choose() as slurmctld calls it: 512 nodes of 12,500, all free and half busy, with and without a layout. "again" asks
// the same each time, as the schedulers do while nothing on the cluster changes; the others leave out another node each
// time, so that no answer is known.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "weft/config.hpp"
#include "weft/topology/generate.hpp"
#include "weft_bridge.h"

namespace {

struct Site {
  Site() {
    std::string directory = (std::filesystem::temp_directory_path() / "weft-bench-XXXXXX").string();
    if (mkdtemp(directory.data()) == nullptr) throw std::runtime_error("mkdtemp");
    weft::topology::FatTreeOptions options;
    options.nodes = 12500;
    options.tiers = 3;
    options.nodes_per_leaf = 20;
    options.leaves_per_pod = 25;
    const auto spec = weft::topology::generate_fat_tree(options);
    if (!spec) throw std::runtime_error(spec.error().to_string());
    std::ofstream(directory + "/fabric.yaml") << weft::config::write_fabric_yaml(*spec);
    std::ofstream(directory + "/weft.yaml") << "weft: 1\nfabric: fabric.yaml\ndeadline: 1s\n";
    char error[WEFT_ERROR_MAX];
    if (weft_bridge_open((directory + "/weft.yaml").c_str(), nullptr, nullptr, &bridge, error, sizeof(error)) !=
        WEFT_OK)
      throw std::runtime_error(error);
    std::filesystem::remove_all(directory);
    std::vector<std::string> names;
    for (const auto& node : spec->nodes) {
      const auto more = weft::config::expand_hostlist(node.names.value);
      names.insert(names.end(), more->begin(), more->end());
    }
    std::vector<const char*> pointers;
    for (const std::string& name : names) pointers.push_back(name.c_str());
    weft_bridge_bind(bridge, pointers.size(), pointers.data(), nullptr);
    for (std::uint32_t n = 0; n < names.size(); ++n) {
      all.push_back(n);
      std::uint64_t z = (n + 1000003ULL) * 0x9e3779b97f4a7c15ULL;
      z = (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9ULL;
      if ((z >> 40 & 1U) != 0) half.push_back(n);
    }
  }
  ~Site() { weft_bridge_close(bridge); }
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;
  weft_bridge* bridge = nullptr;
  std::vector<std::uint32_t> all, half;
};

void choose_512_of_12500(benchmark::State& state, bool half_busy, const char* spec, bool again = false) {
  static const Site site;
  const std::vector<std::uint32_t>& free = half_busy ? site.half : site.all;
  std::vector<std::uint32_t> usable;
  std::vector<std::uint32_t> nodes(free.size());
  weft_request request{};
  request.size = sizeof(request);
  request.min_nodes = request.req_nodes = request.max_nodes = 512;
  request.gpus_per_node = 8;
  if (spec != nullptr) {
    request.spec = spec;
    request.spec_length = std::char_traits<char>::length(spec);
  }
  std::size_t at = 0;
  for (auto _ : state) {
    if (!again) at = (at + 1) % 1000;  // more than are remembered
    usable = free;
    usable.erase(usable.begin() + static_cast<std::ptrdiff_t>(at));
    request.usable = usable.data();
    request.usable_count = usable.size();
    weft_choice choice{};
    choice.size = sizeof(choice);
    choice.nodes = nodes.data();
    choice.nodes_size = static_cast<std::uint32_t>(nodes.size());
    weft_bridge_choose(site.bridge, &request, &choice);
    if (choice.verdict != WEFT_PLACED) state.SkipWithError(choice.reason);
  }
}
BENCHMARK_CAPTURE(choose_512_of_12500, empty_plain, false, nullptr)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(choose_512_of_12500, half_busy_plain, true, nullptr)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(choose_512_of_12500, half_busy_tp8_pp8, true, "tp=8,pp=8")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(choose_512_of_12500, half_busy_plain_again, true, nullptr, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(choose_512_of_12500, half_busy_tp8_pp8_again, true, "tp=8,pp=8", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(choose_512_of_12500, half_busy_segments, true, "tp=8,pp=8,segment=8")->Unit(benchmark::kMillisecond);

}  // namespace
