// SPDX-License-Identifier: BSD-3-Clause
//
// `weft replay` and `weft stats`: the decision log of the Slurm plugin.
#include "replay.hpp"  // plugin/bridge/core

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "app.hpp"
#include "output.hpp"
#include "replay_commands.hpp"
#include "words.hpp"

namespace weft::cli {
namespace {

Result<std::string> config_path(const ReplayArgs& args, const Source& log) {
  if (!args.config.empty()) return args.config;
  auto path = bridge::config_of(log);
  if (!path) return fail(path.error());
  if (!*path) return fail(error(ErrorCode::missing, fmt::format("{} holds no decision", args.log)));
  return **path;
}

}  // namespace

Result<int> run_replay(const ReplayArgs& args) {
  const auto log = read_source(args.log);
  if (!log) return fail(log.error());
  const auto config = config_path(args, *log);
  if (!config) return fail(config.error());
  const auto model = bridge::load_model(*config);
  if (!model) return fail(model.error());
  std::string text;
  const std::optional<std::uint64_t> only = args.decision == 0 ? std::nullopt : std::optional(args.decision);
  const auto counts = bridge::replay(*model, *log, only, [&](const bridge::Replayed& each) {
    if (!each.equal()) {
      text += fmt::format("{}:{}: decision {} differs\n  logged {}\n  now    {}\n", args.log, each.line, each.decision,
                          each.logged, each.now);
    } else if (only) {
      text += each.now + '\n';
    }
  });
  if (!counts) return fail(counts.error());
  text += fmt::format("{}: {}: {} equal, {} different, {} on another fabric\n", args.log,
                      counted(counts->equal + counts->different + counts->other_fabric, "decision"), counts->equal,
                      counts->different, counts->other_fabric);
  if (counts->other_fabric > 0)
    say(fmt::format("decisions on another fabric were not replayed: {} now has the digest {}", *config, model->digest));
  const auto written = deliver(text, args.output);
  if (!written) return fail(written.error());
  const bool all = counts->different == 0 && counts->other_fabric == 0 && counts->equal > 0;
  return all ? kExitDone : kExitInfeasible;
}

Result<int> run_stats(const StatsArgs& args) {
  std::vector<Source> logs;
  for (const std::string& path : args.logs) {
    auto log = read_source(path);
    if (!log) return fail(log.error());
    logs.push_back(std::move(*log));
  }
  const auto text = bridge::stats(logs);
  if (!text) return fail(text.error());
  const auto written = deliver(*text, args.output);
  if (!written) return fail(written.error());
  return kExitDone;
}

void add_replay(CLI::App& app, Chosen& chosen) {
  CLI::App* sub = app.add_subcommand("replay", "run the plugin's logged decisions again");
  auto args = std::make_shared<ReplayArgs>();
  sub->add_option("LOG", args->log, "the decision log, JSON lines; \"-\" is standard input")->required();
  sub->add_option("--config", args->config, "weft.yaml; default: the one that the log names");
  sub->add_option("--decision", args->decision, "this decision alone, and print it");
  add_output(*sub, args->output);
  sub->footer(
      "Each decision is made again from what the log says of the question, and compared to the byte. Exit code 0 "
      "where\n"
      "all are equal; 1 where one differs, was made on another fabric, or there is none.\n"
      "Example:\n"
      "  weft replay /var/log/slurm/weft-decisions.jsonl");
  sub->callback([args, &chosen] { chosen = [args] { return run_replay(*args); }; });
}

void add_stats(CLI::App& app, Chosen& chosen) {
  CLI::App* sub = app.add_subcommand("stats", "the plugin's decisions as Prometheus text");
  auto args = std::make_shared<StatsArgs>();
  sub->add_option("LOG", args->logs, "decision logs, JSON lines")->required();
  add_output(*sub, args->output);
  sub->footer(
      "Decisions by verdict and cause, times, leaves and pods used, cross-spine bytes, fallbacks. With -o the file is\n"
      "replaced whole, as node_exporter's textfile collector wants it.\n"
      "Example:\n"
      "  weft stats /var/log/slurm/weft-decisions.jsonl -o /var/lib/node_exporter/weft.prom");
  sub->callback([args, &chosen] { chosen = [args] { return run_stats(*args); }; });
}

}  // namespace weft::cli
