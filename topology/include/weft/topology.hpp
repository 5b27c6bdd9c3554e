// SPDX-License-Identifier: BSD-3-Clause
//
// weft::topology: the fabric. Specs compiled into an immutable Fabric; importers; generators.
#pragma once

#include "weft/topology/affinity.hpp"  // IWYU pragma: export
#include "weft/topology/fabric.hpp"    // IWYU pragma: export
#include "weft/topology/generate.hpp"  // IWYU pragma: export
#include "weft/topology/ids.hpp"       // IWYU pragma: export
#include "weft/topology/import.hpp"    // IWYU pragma: export
