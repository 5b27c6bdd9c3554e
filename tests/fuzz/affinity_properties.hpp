// SPDX-License-Identifier: BSD-3-Clause
//
// What must hold of every reader of node insides, whatever the bytes: an error can be shown; a model holds its
// invariants, reads the same twice, and agrees with itself as a second view.
#pragma once

#include <cstdint>

#include "fuzz/import_properties.hpp"
#include "weft/topology/affinity.hpp"

namespace weft::topology::fuzz {

inline void check_affinity(const Result<NodeAffinity>& node, const Result<NodeAffinity>& again) {
  if (node.has_value() != again.has_value()) broken("read once, not twice");
  if (!node) return check_error(node.error());
  if (const auto fault = node->check_invariants()) broken(*fault);
  if (node->gpu_nic != again->gpu_nic || node->nic_of_gpu != again->nic_of_gpu) broken("read twice, not the same");
  for (const Note& note : affinity_warnings(*node)) {
    if (note.message.empty()) broken("an empty warning");
  }
  const auto merged = merge_views(*node, *again);
  if (!merged) broken("not a view of itself: " + merged.error().to_string());
  if (const auto fault = merged->check_invariants()) broken("merged: " + *fault);
  if (merged->notes.size() != node->notes.size() * 2) broken("contradicts itself");
  if (merged->gpu_nic != node->gpu_nic || merged->nic_of_gpu != node->nic_of_gpu) broken("merged with itself, changed");
}

}  // namespace weft::topology::fuzz
