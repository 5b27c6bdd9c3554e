// SPDX-License-Identifier: BSD-3-Clause
//
// --weft=@job.yaml: a job file as a SPEC.
#pragma once

#include <string>

#include "weft/config/error.hpp"
#include "weft/config/job_spec.hpp"

namespace weft::bridge {

/// The canonical SPEC of a job. Traffic of a `model:` is derived first. Errors: unsupported for what a SPEC cannot
/// carry (matrix, required_nodes, excluded_nodes, more than 16 traffic terms), with what to use instead; those of
/// derive_traffic. The number of nodes is Slurm's to say: the SPEC carries it as dp.
[[nodiscard]] Result<std::string> job_to_spec(const config::JobSpec& job);

}  // namespace weft::bridge
