// SPDX-License-Identifier: BSD-3-Clause
#include "replay.hpp"

#include <exception>

#include "log_lines.hpp"

namespace weft::bridge {
namespace {

// As Bridge::choose does it, the clock being what the log says of it.
Decision again(const Model& model, const Record& record, TrafficCache& traffic) {
  std::uint64_t checks = 0;
  DecideOptions options;
  options.budget_steps = record.about.budget_steps;
  options.traffic = &traffic;
  options.overran = [&] { return record.about.overran && checks++ >= record.about.checks; };
  try {
    return decide(model.fabric, model.sound(), record.about.settings, record.ask, options);
  } catch (const std::exception&) {
    return engine_failed(record.about.settings, WEFT_CAUSE_INTERNAL, "internal fault");
  }
}

}  // namespace

Result<ReplayCounts> replay(const Model& model, const Source& log, std::optional<std::uint64_t> only,
                            const std::function<void(const Replayed&)>& tell) {
  ReplayCounts out;
  TrafficCache traffic;
  auto done = for_each_line(log, [&](std::string_view line, std::uint32_t number) -> Result<void> {
    auto seen = glance(line);
    if (!seen) return at_line(log, number, seen.error());
    if (seen->outcome || (only && seen->decision != *only)) return {};
    if (seen->digest != model.digest) {
      ++out.other_fabric;
      return {};
    }
    const auto read = read_line(model.fabric, line);
    if (!read) return at_line(log, number, read.error());
    const auto& record = std::get<Record>(*read);
    Replayed each{number, seen->decision, std::move(seen->choice), {}};
    each.now = write_choice(model.fabric, again(model, record, traffic));
    ++(each.equal() ? out.equal : out.different);
    tell(each);
    return {};
  });
  if (!done) return fail(done.error());
  return out;
}

Result<std::optional<std::string>> config_of(const Source& log) {
  std::optional<std::string> out;
  auto done = for_each_line(log, [&](std::string_view line, std::uint32_t number) -> Result<void> {
    if (out) return {};
    const auto seen = glance(line);
    if (!seen) return at_line(log, number, seen.error());
    if (!seen->outcome) out = seen->config;
    return {};
  });
  if (!done) return fail(done.error());
  return out;
}

}  // namespace weft::bridge
