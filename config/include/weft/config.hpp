// SPDX-License-Identifier: BSD-3-Clause
//
// weft::config: what files say. Errors with carets, units, hostlists, fabric and job specs.
#pragma once

#include "weft/config/document.hpp"      // IWYU pragma: export
#include "weft/config/error.hpp"         // IWYU pragma: export
#include "weft/config/fabric_spec.hpp"   // IWYU pragma: export
#include "weft/config/hostlist.hpp"      // IWYU pragma: export
#include "weft/config/job_spec.hpp"      // IWYU pragma: export
#include "weft/config/slurm_config.hpp"  // IWYU pragma: export
#include "weft/config/units.hpp"         // IWYU pragma: export
