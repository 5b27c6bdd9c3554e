// SPDX-License-Identifier: BSD-3-Clause
//
// A bridge over a small fabric, its node table in an order of its own, for tests of the bridge room.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "c_handle.hpp"
#include "placement_fixtures.hpp"
#include "weft_bridge.h"

namespace weft::bridge::test {

/// A directory of its own, gone at the end.
class Directory {
 public:
  Directory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft-bridge-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = pattern;
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(path_ / name);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }

 private:
  std::filesystem::path path_;
};

/// Two pods of two leaves of four nodes of eight GPUs, one spine a pod, one core:
///
///                      core
///             spineA           spineB          tier 2
///          l1       l2      l3       l4        tier 1
///        n1-n4    n5-n8   n9-n12  n13-n16
inline std::string tree16() { return placement::fixtures::three_tiers(16, 4, "spineA,spineB", 8, 4); }

/// A clock that stands: a loaded machine must not turn answers into overruns.
inline Hooks still() {
  Hooks out;
  out.now = [] { return std::chrono::steady_clock::time_point{}; };
  return out;
}

/// An open bridge whose node table holds n1 .. n16 in the order 1 8 15 6 13 4 11 2 9 16 7 14 5 12 3 10, or more
/// likewise.
class Rig {
 public:
  explicit Rig(const std::string& more = "", Hooks hooks = still(), const std::string& fabric = tree16(),
               bool bind_now = true, int count = 16) {
    dir.write("fabric.yaml", fabric);
    dir.write("weft.yaml", "weft: 1\nfabric: fabric.yaml\n" + more);
    char error[WEFT_ERROR_MAX] = "";
    const int status =
        open_with((dir / "weft.yaml").c_str(), &Rig::logged, this, std::move(hooks), &bridge, error, sizeof(error));
    if (status != WEFT_OK) throw std::runtime_error(error);
    for (int i = 0; i < count; ++i) names.push_back("n" + std::to_string(i * 7 % count + 1));
    if (bind_now) bind();
  }
  ~Rig() { weft_bridge_close(bridge); }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  int bind(weft_bind_report* report = nullptr) {
    std::vector<const char*> pointers;
    for (const std::string& name : names) pointers.push_back(name.empty() ? nullptr : name.c_str());
    return weft_bridge_bind(bridge, pointers.size(), pointers.data(), report);
  }
  [[nodiscard]] std::uint32_t index(const std::string& name) const {
    return static_cast<std::uint32_t>(std::find(names.begin(), names.end(), name) - names.begin());
  }
  /// Ascending table indices of nodes by number.
  [[nodiscard]] std::vector<std::uint32_t> set(const std::vector<int>& numbers) const {
    std::vector<std::uint32_t> out;
    for (const int n : numbers) out.push_back(index("n" + std::to_string(n)));
    std::sort(out.begin(), out.end());
    return out;
  }
  [[nodiscard]] std::string log() const {
    std::string out;
    for (const std::string& line : messages) out += line + '\n';
    return out;
  }

  Directory dir;
  weft_bridge* bridge = nullptr;
  std::vector<std::string> names;
  std::vector<std::string> messages;  ///< of levels error and info

 private:
  static void logged(void* self, weft_log_level level, const char* message) {
    if (level != WEFT_LOG_DEBUG) static_cast<Rig*>(self)->messages.emplace_back(message);
  }
};

inline std::vector<int> range(int from, int to) {
  std::vector<int> out;
  for (int n = from; n <= to; ++n) out.push_back(n);
  return out;
}

/// A request that owns its arrays, and the answer in words.
struct Asked {
  explicit Asked(const Rig& on, const std::vector<int>& usable_nodes = range(1, 16)) : rig(on) {
    request.size = sizeof(request);
    request.mode = WEFT_MODE_RUN_NOW;
    request.job_id = 7;
    usable = rig.set(usable_nodes);
  }
  Asked& nodes(std::uint32_t least, std::uint32_t wish = 0, std::uint32_t most = 0) {
    request.min_nodes = least;
    request.req_nodes = wish == 0 ? least : wish;
    request.max_nodes = most == 0 ? std::max(least, wish) : most;
    return *this;
  }
  Asked& spec(std::string text) {
    said = std::move(text);
    request.spec = said.data();
    request.spec_length = said.size();
    return *this;
  }
  Asked& must(const std::vector<int>& numbers) {
    required = rig.set(numbers);
    return *this;
  }
  /// What it could have if it were alone.
  Asked& within(const std::vector<int>& numbers) {
    reach = rig.set(numbers);
    return *this;
  }
  Asked& flags(std::uint32_t bits) {
    request.flags |= bits;
    return *this;
  }
  /// A number for each node, by node number.
  template <typename Value>
  static std::vector<std::uint32_t> by_node(const Asked& asked, Value value) {
    std::vector<std::uint32_t> out;
    for (const std::uint32_t i : asked.usable) out.push_back(value(std::stoi(asked.rig.names[i].substr(1))));
    return out;
  }

  /// Free GPUs of nodes by number, 0xff of all others.
  Asked& free(const std::map<int, std::uint64_t>& of) {
    free_gpus.clear();
    for (const std::uint32_t i : usable) {
      const auto found = of.find(std::stoi(rig.names[i].substr(1)));
      free_gpus.push_back(found == of.end() ? 0xff : found->second);
    }
    return *this;
  }

  Asked& choose() {
    request.usable = usable.data();
    request.usable_count = usable.size();
    request.required = required.data();
    request.required_count = required.size();
    if (!possible.empty()) {
      request.possible = possible.data();
      request.possible_count = possible.size();
    }
    if (!reach.empty()) {
      request.reach = reach.data();
      request.reach_count = reach.size();
    }
    if (!cpus.empty()) request.node_cpus = cpus.data();
    if (!gpus.empty()) request.node_gpus = gpus.data();
    if (!weights.empty()) request.weights = weights.data();
    request.free_gpus = free_gpus.empty() ? nullptr : free_gpus.data();
    chosen.assign(usable.size() + 1, 0);
    choice = {};
    choice.size = sizeof(choice);
    choice.nodes = chosen.data();
    chosen_gpus.assign(chosen.size(), 0);
    choice.gpus = chosen_gpus.data();
    choice.nodes_size = static_cast<std::uint32_t>(chosen.size());
    status = weft_bridge_choose(rig.bridge, &request, &choice);
    return *this;
  }
  /// "n1 n2" in rank order, "n1:23 n2:23" with GPUs; or "delegate: reason", "not now: reason", "never: reason".
  [[nodiscard]] std::string answer() {
    choose();
    if (status != WEFT_OK) return "status " + std::to_string(status);
    const std::string reason = choice.reason;
    switch (choice.verdict) {
      case WEFT_DELEGATE: return "delegate: " + reason;
      case WEFT_NOT_NOW: return "not now: " + reason;
      case WEFT_NEVER: return "never: " + reason;
      default: break;
    }
    std::string out;
    for (std::uint32_t i = 0; i < choice.node_count; ++i) {
      out += (i > 0 ? " " : "") + rig.names[chosen[i]];
      if (choice.gpus_said == 0) continue;
      out += ':';
      for (int g = 0; g < 64; ++g)
        if ((chosen_gpus[i] >> g & 1U) != 0) out += std::to_string(g);
    }
    return out;
  }

  const Rig& rig;
  weft_request request{};
  weft_choice choice{};
  std::vector<std::uint32_t> usable, required, possible, reach, cpus, gpus, weights, chosen;
  std::vector<std::uint64_t> free_gpus, chosen_gpus;
  std::string said;
  int status = 0;
};

}  // namespace weft::bridge::test
