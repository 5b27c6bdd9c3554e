// SPDX-License-Identifier: BSD-3-Clause
//
// The decision log read again: each decision made anew and compared, or all of them counted for Prometheus.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "model.hpp"
#include "record.hpp"

namespace weft::bridge {

/// What became of one decision. The texts are what stands under "choice".
struct Replayed {
  std::uint32_t line = 0;
  std::uint64_t decision = 0;
  std::string logged, now;
  [[nodiscard]] bool equal() const { return logged == now; }
};

struct ReplayCounts {
  std::uint64_t equal = 0, different = 0;
  std::uint64_t other_fabric = 0;  ///< made on a fabric of another digest: not replayed
};

/// Makes every decision of the log again, or the one numbered `only`, and tells each to `tell`. A last line without its
/// end is being written and is passed over. Errors: of a line, with its place.
[[nodiscard]] Result<ReplayCounts> replay(const Model& model, const Source& log, std::optional<std::uint64_t> only,
                                          const std::function<void(const Replayed&)>& tell);

/// weft.yaml's path in the first decision of a log; nullopt where there is no decision. Errors: of a line.
[[nodiscard]] Result<std::optional<std::string>> config_of(const Source& log);

/// Prometheus's text exposition format (version 0.0.4) over all decisions of all logs, names sorted. Errors: of a line.
[[nodiscard]] Result<std::string> stats(const std::vector<Source>& logs);

}  // namespace weft::bridge
