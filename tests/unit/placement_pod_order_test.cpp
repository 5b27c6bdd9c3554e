// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>

#include "placement_fixtures.hpp"
#include "weft/placement/score.hpp"

namespace weft::placement {
namespace {

// Four pods of two leaves of eight nodes, of which 8, 6, 11 and 7 are free: as many as the job has. Four rings of
// eight: laid over the pods in fabric order or fullest first, and bettered by exchanges, they leave 77 GiB between
// pods. The pods of 11 and 7 side by side, what one has over goes where it is missing.
TEST(PodOrder, FollowsThePodsSizes) {
  const topology::Fabric fabric = fixtures::fat_tree(64, 8, 2);
  fixtures::Case c = fixtures::make_case(fabric, fixtures::replicas(8, 4, "8GiB", "512MiB"));
  const std::array<std::uint32_t, 8> free{4, 4, 3, 3, 8, 3, 2, 5};  // of each leaf
  for (std::uint32_t n = 0; n < 64; ++n)
    c.request.free[topology::index(fabric.fabric_order()[n])] = n % 8 < free[n / 8];
  const auto placed = place(fabric, c.request);
  ASSERT_TRUE(placed);
  const auto s = score(fabric, *placed, *c.traffic);
  ASSERT_TRUE(s);
  EXPECT_LE(s->tier_bytes.back() / (1U << 30), 75);
}

}  // namespace
}  // namespace weft::placement
