// SPDX-License-Identifier: BSD-3-Clause
//
// Differential: what the real tools said of a simulated fat tree is what the generator makes of the same tree.
#include <gtest/gtest.h>

#include "ib_compare.hpp"
#include "ib_dumps.hpp"
#include "weft/topology/generate.hpp"

namespace weft::topology::test {
namespace {

// The tree of config/examples/ib/make-dumps.
FatTreeOptions example_tree() {
  FatTreeOptions options;
  options.node.gpus = 2;
  options.node.nics = 2;
  options.node.bandwidth = Bandwidth{200'000'000'000};
  options.nodes = 32;
  options.tiers = 2;
  options.nodes_per_leaf = 8;
  options.spines = 4;
  options.cables = 4;
  return options;
}

Result<Fabric> generated(const FatTreeOptions& options) {
  const auto spec = generate_fat_tree(options);
  if (!spec) return fail(spec.error());
  return Fabric::build(*spec);
}

Result<Fabric> imported(View view, const std::string& suffix) {
  const auto dump = import_view(view, load(std::string(WEFT_SOURCE_DIR) + "/config/examples/ib/fat-tree" + suffix));
  if (!dump) return fail(dump.error());
  return Fabric::build(dump->spec);
}

TEST(IbFatTree, DumpEqualsGenerated) {
  const auto expected = generated(example_tree());
  ASSERT_TRUE(expected) << expected.error().to_string();
  for (const auto& [view, suffix] :
       {std::pair(View::topology, ".ibnetdiscover.txt"), std::pair(View::ports, ".ibnetdiscover-p.txt"),
        std::pair(View::linkinfo, ".iblinkinfo.txt")}) {
    SCOPED_TRACE(suffix);
    const auto dump = imported(view, suffix);
    ASSERT_TRUE(dump) << dump.error().to_string();
    EXPECT_EQ(shape_difference(*expected, *dump), std::nullopt);
    EXPECT_EQ(dump->check_invariants(), std::nullopt);
  }
}

// The comparison sees a tree that is not the same.
TEST(IbFatTree, DumpDiffersFromAnotherTree) {
  const auto dump = imported(View::topology, ".ibnetdiscover.txt");
  ASSERT_TRUE(dump);
  FatTreeOptions other = example_tree();
  other.taper = {2};
  other.cables = 2;
  auto fabric = generated(other);
  ASSERT_TRUE(fabric) << fabric.error().to_string();
  EXPECT_EQ(shape_difference(*fabric, *dump), "96 cables, 128 cables");
  other = example_tree();
  other.node.bandwidth = Bandwidth{100'000'000'000};
  fabric = generated(other);
  ASSERT_TRUE(fabric) << fabric.error().to_string();
  EXPECT_EQ(shape_difference(*fabric, *dump), "cable 'node0:0 - tier1.0 100Gb/s' is 'node0:0 - tier1.0 200Gb/s'");
  other = example_tree();
  other.nodes_per_leaf = 4;
  other.cables = 2;
  fabric = generated(other);
  ASSERT_TRUE(fabric) << fabric.error().to_string();
  EXPECT_EQ(shape_difference(*fabric, *dump), "12 switches, 8 switches");
}

}  // namespace
}  // namespace weft::topology::test
