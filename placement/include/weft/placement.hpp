// SPDX-License-Identifier: BSD-3-Clause
//
// weft::placement: traffic of a training step, what a placement of it costs, and the choice of a good one.
#pragma once

#include "weft/placement/comm_file.hpp"       // IWYU pragma: export
#include "weft/placement/io.hpp"              // IWYU pragma: export
#include "weft/placement/model.hpp"           // IWYU pragma: export
#include "weft/placement/placement.hpp"       // IWYU pragma: export
#include "weft/placement/score.hpp"           // IWYU pragma: export
#include "weft/placement/traffic.hpp"         // IWYU pragma: export
#include "weft/placement/traffic_report.hpp"  // IWYU pragma: export
