// SPDX-License-Identifier: BSD-3-Clause
//
// The generated half of tests/ibsim/run.
//   ibsim_peer net FABRIC            prints a generated fabric as ibsim's description
//   ibsim_peer compare FABRIC DUMP   compares what ibnetdiscover then said of it; tells the first difference, exits 1
#include <cstdio>
#include <cstring>

#include "ib_compare.hpp"
#include "weft/topology/generate.hpp"
#include "weft/topology/import.hpp"

namespace weft::topology::test {
namespace {

constexpr Bandwidth kHdr{200'000'000'000};  // what Debian's ibsim knows at most

Result<config::FabricSpec> spec_of(const std::string& name) {
  if (name == "fat-tree-2") {
    FatTreeOptions options;
    options.node.gpus = options.node.nics = 2;
    options.node.bandwidth = kHdr;
    options.nodes = 24;
    options.nodes_per_leaf = 6;
    return generate_fat_tree(options);
  }
  if (name == "fat-tree-3") {
    FatTreeOptions options;
    options.node.gpus = options.node.nics = 1;
    options.node.bandwidth = kHdr;
    options.tiers = 3;
    options.nodes = 32;
    options.nodes_per_leaf = 4;
    options.leaves_per_pod = 4;
    return generate_fat_tree(options);
  }
  RailOptions options;
  options.node.gpus = options.node.nics = 4;
  options.node.bandwidth = kHdr;
  options.nodes = 16;
  options.nodes_per_unit = 8;
  return generate_rail(options);
}

// Devices in ibsim's text form; the first is the adapter that the tools attach to.
class NetWriter {
 public:
  explicit NetWriter(const Fabric& fabric) : fabric_(fabric) {
    for (const Link& link : fabric.links()) {
      for (std::uint32_t c = 0; c < link.cables; ++c) join(link.a, link.b);
    }
  }

  [[nodiscard]] std::string text() const {
    std::string out;
    for (const bool is_switch : {false, true}) {
      for (const auto& [key, lines] : records_) {
        if ((key >= kSwitches) != is_switch) continue;
        out += fmt::format(
            "vendid=0x2c9\ndevid=0x1\nsysimgguid=0x{0:x}\n{1}guid=0x{0:x}\n{2}\t{3} \"{4}\"\t\t# \"{5}\"\n{6}\n", key,
            is_switch ? "switch" : "ca", is_switch ? "Switch" : "Ca", lines.size(), id(key), texts_.at(key),
            fmt::join(lines, ""));
      }
    }
    return out;
  }

 private:
  static constexpr std::uint64_t kSwitches = 0x900a840300000000;
  static constexpr std::uint64_t kAdapters = 0x100a840300000000;

  static std::string id(std::uint64_t key) { return fmt::format("{}-{:016x}", key >= kSwitches ? 'S' : 'H', key); }

  std::uint64_t key_of(const LinkEnd& end) {
    const std::uint64_t key =
        end.is_switch ? kSwitches + (end.id + 1) * 0x10 : kAdapters + (end.id * 64ULL + end.nic + 1) * 0x10;
    texts_[key] = end.is_switch ? fabric_.switch_name(SwitchId{end.id})
                                : fmt::format("{} mlx5_{}", fabric_.node_name(NodeId{end.id}), end.nic);
    return key;
  }

  void join(const LinkEnd& a, const LinkEnd& b) {
    const std::uint64_t key_a = key_of(a);
    const std::uint64_t key_b = key_of(b);
    const std::size_t port_a = records_[key_a].size() + 1;
    const std::size_t port_b = records_[key_b].size() + 1;
    records_[key_a].push_back(line(key_a, port_a, key_b, port_b));
    records_[key_b].push_back(line(key_b, port_b, key_a, port_a));
  }

  [[nodiscard]] std::string line(std::uint64_t own, std::size_t port, std::uint64_t peer, std::size_t peer_port) const {
    const bool is_adapter = own < kSwitches;
    return fmt::format("[{}]{}\t\"{}\"[{}]\t\t# {}\"{}\" lid 0 4xHDR\n", port,
                       is_adapter ? fmt::format("({:x}) ", own) : "", id(peer), peer_port,
                       is_adapter ? "lid 0 lmc 0 " : "", texts_.at(peer));
  }

  const Fabric& fabric_;
  std::map<std::uint64_t, std::vector<std::string>> records_;
  std::map<std::uint64_t, std::string> texts_;
};

int run(int argc, char** argv) {
  const bool is_net = argc == 3 && std::strcmp(argv[1], "net") == 0;
  if (!is_net && argc != 4) {
    std::fputs("usage: ibsim_peer net FABRIC | compare FABRIC DUMP\n", stderr);
    return 2;
  }
  const auto spec = spec_of(argv[2]);
  if (!spec) return std::fputs((spec.error().to_string() + "\n").c_str(), stderr), 2;
  const auto fabric = Fabric::build(*spec);
  if (!fabric) return std::fputs((fabric.error().to_string() + "\n").c_str(), stderr), 2;
  if (is_net) return std::fputs(NetWriter(*fabric).text().c_str(), stdout) < 0 ? 2 : 0;
  const auto source = read_source(argv[3]);
  if (!source) return std::fputs((source.error().to_string() + "\n").c_str(), stderr), 2;
  const auto imported = import_ibnetdiscover(*source, {});
  if (!imported) return std::fputs((imported.error().to_string() + "\n").c_str(), stderr), 1;
  const auto seen = Fabric::build(imported->spec);
  if (!seen) return std::fputs((seen.error().to_string() + "\n").c_str(), stderr), 1;
  if (const auto words = shape_difference(*fabric, *seen)) {
    std::fprintf(stderr, "%s: generated and discovered differ: %s\n", argv[2], words->c_str());
    return 1;
  }
  std::printf("%s: %u nodes, %zu cables as generated\n", argv[2], seen->node_count(), cable_list(*seen).size());
  return 0;
}

}  // namespace
}  // namespace weft::topology::test

int main(int argc, char** argv) { return weft::topology::test::run(argc, argv); }
