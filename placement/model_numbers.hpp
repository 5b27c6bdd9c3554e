// SPDX-License-Identifier: BSD-3-Clause
//
// The numbers of a model under a layout, before they become volumes: everything that can be refused is refused here.
#pragma once

#include <cstdint>

#include "weft/placement/model.hpp"

namespace weft::placement {

/// Exact arithmetic on what people may write: up to 2^40 each, several multiplied. Once a product is past 2^120 it
/// stays there, and becomes a limit error where it is turned into bytes.
class BigCount {
 public:
  constexpr BigCount() = default;
  constexpr BigCount(std::uint64_t value) : value_(value) {}  // NOLINT(google-explicit-constructor): numbers are counts
  friend BigCount operator*(BigCount a, BigCount b);
  friend BigCount operator+(BigCount a, BigCount b);
  /// Rounded up. Precondition: b is not 0.
  [[nodiscard]] BigCount divided_up(BigCount b) const;
  [[nodiscard]] bool fits(std::uint64_t limit) const { return value_ <= limit; }
  [[nodiscard]] std::uint64_t value() const { return static_cast<std::uint64_t>(value_); }
  [[nodiscard]] double approximate() const { return static_cast<double>(value_); }

 private:
  unsigned __int128 value_ = 0;
};

/// Numbers resolved: defaults filled in, divisibility checked. Those that no term of the layout needs may be 0.
struct ModelNumbers {
  std::uint64_t layers = 0, hidden = 0, seq = 0, microbatch = 1, microbatches = 1, interleave = 1, zero = 0;
  std::uint64_t kv_width = 0;   ///< of keys or of values, all heads
  std::uint64_t kv_shards = 1;  ///< tensor ranks that share them: min(tp, kv_heads)
  std::uint64_t experts = 1, experts_per_token = 1;
  std::uint64_t token_shards = 1;  ///< tp with sequence_parallel, else 1
  bool sequence_parallel = false;
  std::uint64_t activation_bytes = 2, weight_bytes = 2, gradient_bytes = 4;
  BigCount shared_parameters;  ///< of the whole model, all but the experts
  BigCount expert_parameters;  ///< all experts of all layers
};

/// Fills in and checks; appends what was found to `out.numbers` and `out.notes`. Errors: as derive_traffic.
[[nodiscard]] Result<ModelNumbers> resolve_model(const config::ModelSpec& model, const config::Layout& layout,
                                                 const Source& source, ModelTraffic& out);

}  // namespace weft::placement
