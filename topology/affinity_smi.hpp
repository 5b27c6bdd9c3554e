// SPDX-License-Identifier: BSD-3-Clause
//
// What the reader of nvidia-smi's tables and the recogniser share.
#pragma once

#include "affinity_text.hpp"

namespace weft::topology::affinity {

/// True for the head of a topology table: device names alone, a GPU first, then perhaps "CPU Affinity" and more.
[[nodiscard]] bool is_smi_header(const std::vector<Word>& words);
/// A cell of `topo -m`: "X", "NV18", "PIX" …
[[nodiscard]] bool is_smi_cell(std::string_view word);
/// A cell of `topo -p2p`: "OK", "CNS" … (and not "X").
[[nodiscard]] bool is_p2p_cell(std::string_view word);

}  // namespace weft::topology::affinity
