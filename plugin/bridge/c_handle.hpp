// SPDX-License-Identifier: BSD-3-Clause
//
// What a weft_bridge is inside, and its opening with faults put in: for the C functions and their tests.
#pragma once

#include <memory>

#include "bridge.hpp"
#include "weft_bridge.h"

struct weft_bridge {
  std::unique_ptr<weft::bridge::Bridge> bridge;
};

namespace weft::bridge {

/// weft_bridge_open with hooks.
[[nodiscard]] int open_with(const char* weft_yaml, weft_log_fn log, void* log_user, Hooks hooks, weft_bridge** out,
                            char* error, std::size_t error_size) noexcept;

}  // namespace weft::bridge
