// SPDX-License-Identifier: BSD-3-Clause
//
// What weft.yaml comes to: the fabric, and how to choose on it. Read once, then immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "weft/config/error.hpp"
#include "weft/config/slurm_config.hpp"
#include "weft/placement/placement.hpp"
#include "weft/topology/fabric.hpp"

namespace weft::bridge {

/// What weft.yaml says about each choice. Part of a decision's record.
struct Settings {
  placement::Objective objective = placement::Objective::traffic;
  std::uint64_t budget_steps = 0;
  std::optional<config::Layout> default_layout;
  config::NodeWeight node_weight = config::NodeWeight::strict;
  config::OnError on_error = config::OnError::stock;
  double patience = 0;  ///< 0: no job waits for better nodes
  friend bool operator==(const Settings& a, const Settings& b);
};

struct Model {
  config::SlurmConfig config;
  Settings settings;
  topology::Fabric fabric;
  /// The same with nothing down, to tell "not now" from "never"; null where nothing is down.
  std::shared_ptr<const topology::Fabric> healthy;
  std::string digest;  ///< of the fabric with its health, 16 hexadecimal digits: equal fabrics have equal digests
  Notes notes;         ///< what was assumed or found odd
  [[nodiscard]] const topology::Fabric& sound() const { return healthy ? *healthy : fabric; }
};

/// Reads weft.yaml and the files that it names, relative names from its directory. Errors: those of the files, each
/// with its place; io.
[[nodiscard]] Result<Model> load_model(const std::string& weft_yaml);

/// The settings of a parsed weft.yaml.
[[nodiscard]] Settings settings_of(const config::SlurmConfig& config);

}  // namespace weft::bridge
