// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <utility>

#include "weft/config/error.hpp"

namespace weft {

/// What a benchmark cannot do without.
template <typename T>
T take(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  return std::move(*result);
}

}  // namespace weft
