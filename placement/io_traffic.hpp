// SPDX-License-Identifier: BSD-3-Clause
//
// The `traffic` of a placement.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "weft/placement/io.hpp"

namespace weft::placement {

/// Reads the value of the key `traffic`, which stands in `source`. Errors: unknown_key, missing, bad_value, limit, with
/// their place.
[[nodiscard]] Result<TrafficDoc> read_traffic_json(const Source& source, const nlohmann::json& value);

/// The object, its lines but the first indented by four.
[[nodiscard]] std::string write_traffic_object(const TrafficDoc& traffic);

}  // namespace weft::placement
