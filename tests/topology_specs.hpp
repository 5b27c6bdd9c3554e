// SPDX-License-Identifier: BSD-3-Clause
//
// Fabric specs in a few words, for tests of what is built on them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "weft/config/fabric_spec.hpp"
#include "weft/topology/fabric.hpp"

namespace weft::topology::test {

inline constexpr Bandwidth k400G{400'000'000'000};
inline constexpr Bandwidth k200G{200'000'000'000};
inline constexpr Bandwidth k100G{100'000'000'000};

/// Collects a spec line by line; every name also goes into a source text, so that errors show a line and a caret.
class SpecMaker {
 public:
  SpecMaker& type(std::uint32_t gpus, std::uint32_t nics, std::string name = "t") {
    config::NodeTypeSpec out;
    out.name = text("type: ", std::move(name));
    out.gpus = gpus;
    out.nics = nics;
    spec_.node_types.push_back(out);
    return *this;
  }
  SpecMaker& nodes(std::string names, std::string type = "t") {
    config::NodeSpec out;
    out.names = text("nodes: ", std::move(names));
    out.type = text("of: ", std::move(type));
    spec_.nodes.push_back(out);
    return *this;
  }
  SpecMaker& switches(std::string names, std::optional<std::uint32_t> tier = std::nullopt) {
    spec_.switches.push_back({text("switches: ", std::move(names)), tier});
    return *this;
  }
  SpecMaker& link(std::string from, std::string to, config::LinkPattern pattern = config::LinkPattern::all,
                  std::uint32_t cables = 1, Bandwidth bandwidth = k400G) {
    config::LinkSpec out;
    out.from = text("from: ", std::move(from));
    out.to = text("to: ", std::move(to));
    out.pattern = pattern;
    out.bandwidth = bandwidth;
    out.cables = cables;
    spec_.links.push_back(out);
    return *this;
  }
  /// Of the newest link entry.
  SpecMaker& nics(std::string list) {
    spec_.links.back().nics = text("nics: ", std::move(list));
    return *this;
  }
  SpecMaker& plane(std::string name) {
    spec_.links.back().plane = text("plane: ", std::move(name));
    return *this;
  }
  SpecMaker& nvlink(std::string name, std::string nodes) {
    config::NvlinkDomainSpec out;
    out.name = text("nvlink: ", std::move(name));
    out.nodes = text("nodes: ", std::move(nodes));
    spec_.nvlink_domains.push_back(out);
    return *this;
  }
  SpecMaker& down(config::HealthSpec::Target target, std::string a, std::string b = {}, std::string reason = {}) {
    config::HealthSpec out;
    out.target = target;
    out.a = text("health: ", std::move(a));
    if (!b.empty()) out.b = text("and: ", std::move(b));
    out.down = true;
    out.reason = std::move(reason);
    spec_.health.push_back(out);
    return *this;
  }
  SpecMaker& slow(config::HealthSpec::Target target, std::string a, std::string b, Bandwidth bandwidth) {
    down(target, std::move(a), std::move(b));
    spec_.health.back().down = false;
    spec_.health.back().bandwidth = bandwidth;
    return *this;
  }
  /// Of the newest health entry.
  SpecMaker& cables(std::uint32_t count) {
    spec_.health.back().cables = count;
    return *this;
  }

  [[nodiscard]] config::FabricSpec spec() const {
    config::FabricSpec out = spec_;
    out.name = "test";
    out.source = std::make_shared<const SourceText>("fabric.yaml", source_);
    return out;
  }
  [[nodiscard]] Result<Fabric> build() const { return Fabric::build(spec()); }

 private:
  config::Text text(const std::string& key, std::string value) {
    ++line_;
    source_ += key + value + "\n";
    return {std::move(value), {line_, static_cast<std::uint32_t>(key.size() + 1)}};
  }

  config::FabricSpec spec_;
  std::string source_;
  std::uint32_t line_ = 0;
};

}  // namespace weft::topology::test
