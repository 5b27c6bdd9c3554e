// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <map>
#include <span>
#include <tuple>

#include "log_lines.hpp"
#include "replay.hpp"

namespace weft::bridge {
namespace {

constexpr std::array<double, 12> kSeconds{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                          0.01,   0.025,   0.05,   0.1,   0.25,   1};
constexpr std::array<double, 11> kDomains{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};

// Cumulative buckets, as Prometheus wants them.
class Histogram {
 public:
  explicit Histogram(std::span<const double> bounds) : bounds_(bounds), below_(bounds.size(), 0) {}
  void add(double value) {
    for (std::size_t b = 0; b < bounds_.size(); ++b) below_[b] += value <= bounds_[b] ? 1 : 0;
    sum_ += value;
    ++count_;
  }
  [[nodiscard]] std::string text(std::string_view name, std::string_view help) const {
    std::string out = fmt::format("# HELP {} {}\n# TYPE {} histogram\n", name, help, name);
    for (std::size_t b = 0; b < bounds_.size(); ++b)
      out += fmt::format("{}_bucket{{le=\"{}\"}} {}\n", name, bounds_[b], below_[b]);
    out += fmt::format("{}_bucket{{le=\"+Inf\"}} {}\n{}_sum {}\n{}_count {}\n", name, count_, name, sum_, name, count_);
    return out;
  }

 private:
  std::span<const double> bounds_;
  std::vector<std::uint64_t> below_;
  double sum_ = 0;
  std::uint64_t count_ = 0;
};

struct Tally {
  std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t> decisions;  // verdict, cause, mode
  std::map<std::string, std::uint64_t> fallbacks;                                        // by cause
  std::array<std::uint64_t, 2> outcomes{};                                               // not taken, taken
  Histogram seconds{kSeconds}, leaves{kDomains}, pods{kDomains};
  double cross_spine_bytes = 0;
  std::uint64_t nodes = 0, waits = 0, repeated = 0;

  void add(const Glance& each) {
    if (each.outcome) {
      ++outcomes[each.taken ? 1 : 0];
      if (!each.taken) ++fallbacks["stock_overruled"];
      return;
    }
    ++decisions[{each.verdict, each.cause, each.mode}];
    seconds.add(each.elapsed_seconds);
    waits += each.worth_waiting ? 1 : 0;
    repeated += each.repeated ? 1 : 0;
    if (each.verdict == "delegate") ++fallbacks[each.cause];
    if (each.verdict != "placed") return;
    nodes += each.nodes;
    cross_spine_bytes += each.cross_spine_bytes;
    leaves.add(static_cast<double>(each.leaves));
    pods.add(static_cast<double>(each.pods));
  }

  [[nodiscard]] std::string text() const {
    std::string out =
        "# HELP weft_decisions_total Decisions by verdict, cause and the mode that slurmctld asked in.\n"
        "# TYPE weft_decisions_total counter\n";
    for (const auto& [key, count] : decisions)
      out += fmt::format("weft_decisions_total{{verdict=\"{}\",cause=\"{}\",mode=\"{}\"}} {}\n", std::get<0>(key),
                         std::get<1>(key), std::get<2>(key), count);
    out += counter("weft_decisions_repeated_total", "Decisions answered as the same question was before.", repeated);
    out += counter("weft_decisions_to_wait_total", "Choices that patience holds back for nearer nodes.", waits);
    out += seconds.text("weft_decision_seconds", "Wall-clock time of a decision under slurmctld's locks.");
    out += leaves.text("weft_placed_leaves", "Leaf domains that a placed job uses.");
    out += pods.text("weft_placed_pods", "Pods that a placed job uses; 0 where the fabric has none.");
    out += counter("weft_placed_nodes_total", "Nodes of all placed jobs.", nodes);
    out += counter("weft_cross_spine_bytes_total",
                   "Modelled bytes a training step over tiers 2 and up, summed over placed jobs with a layout.",
                   cross_spine_bytes);
    out +=
        "# HELP weft_fallbacks_total Decisions left to stock selection, by cause; stock_overruled: Slurm could not "
        "take "
        "the chosen nodes.\n# TYPE weft_fallbacks_total counter\n";
    for (const auto& [cause, count] : fallbacks)
      out += fmt::format("weft_fallbacks_total{{cause=\"{}\"}} {}\n", cause, count);
    out += fmt::format(
        "# HELP weft_outcomes_total What Slurm's own code made of choices.\n# TYPE weft_outcomes_total counter\n"
        "weft_outcomes_total{{taken=\"false\"}} {}\nweft_outcomes_total{{taken=\"true\"}} {}\n",
        outcomes[0], outcomes[1]);
    return out;
  }

 private:
  template <typename T>
  static std::string counter(std::string_view name, std::string_view help, T value) {
    return fmt::format("# HELP {} {}\n# TYPE {} counter\n{} {}\n", name, help, name, name, value);
  }
};

}  // namespace

Result<std::string> stats(const std::vector<Source>& logs) {
  Tally tally;
  for (const Source& log : logs) {
    auto done = for_each_line(log, [&](std::string_view line, std::uint32_t number) -> Result<void> {
      const auto seen = glance(line);
      if (!seen) return at_line(log, number, seen.error());
      tally.add(*seen);
      return {};
    });
    if (!done) return fail(done.error());
  }
  return tally.text();
}

}  // namespace weft::bridge
