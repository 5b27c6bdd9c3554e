// SPDX-License-Identifier: BSD-3-Clause
#include "app.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "generate.hpp"
#include "help_format.hpp"
#include "options.hpp"
#include "output.hpp"
#include "replay_commands.hpp"

namespace weft::cli {
namespace {

constexpr const char* kOverview =
    "A fabric is a fabric.yaml or any file that the site has: ibnetdiscover, iblinkinfo, Slurm topology.conf or\n"
    "topology.yaml, a topograph model, a Clos CSV; it is recognised by its content. \"-\" is standard input.\n"
    "\n"
    "Exit codes: 0 done; 1 no legal placement (reasons on standard error); 2 bad input or usage, or a file that "
    "cannot\n"
    "be read or written; 3 internal error. Standard output carries the result alone.\n"
    "\n"
    "weft help COMMAND says more.";

void add_check(CLI::App& app, Chosen& chosen) {
  CLI::App* sub = app.add_subcommand("check", "validate any file that Weft reads");
  auto args = std::make_shared<CheckArgs>();
  sub->add_option("FILE", args->files, "any file that Weft reads; each is checked, whatever the others hold")
      ->required();
  add_fabric_options(*sub, args->fabric);
  add_quiet(*sub, args->quiet);
  sub->footer(
      "One line a file on standard output, \"FILE: ok: KIND, ...\" or \"FILE: bad\"; errors, assumptions and warnings "
      "on\n"
      "standard error. Exit code 2 if any file is bad.\n"
      "Example:\n"
      "  weft check fabric.yaml job.yaml /etc/slurm/topology.conf");
  sub->callback([args, &chosen] { chosen = [args] { return run_check(*args); }; });
}

void add_show(CLI::App& app, Chosen& chosen) {
  CLI::App* sub = app.add_subcommand("show", "a fabric in words or JSON");
  auto args = std::make_shared<ShowArgs>();
  sub->add_option("FABRIC", args->fabric.path, "the fabric, of any kind")->required();
  add_fabric_options(*sub, args->fabric);
  add_format(*sub, args->format, {"text", "json"});
  sub->footer(
      "links counts cables, those that are down too. Capacities and oversubscription (capacity down : capacity up of "
      "a\n"
      "tier) are of the links that are up. hops count the switches on a shortest path.\n"
      "Example:\n"
      "  ibnetdiscover | weft show - --node-type h100");
  sub->callback([args, &chosen] { chosen = [args] { return run_show(*args); }; });
}

void add_import(CLI::App& app, Chosen& chosen) {
  CLI::App* sub = app.add_subcommand("import", "any fabric file to a fabric.yaml that can be read and edited");
  auto args = std::make_shared<ImportArgs>();
  sub->add_option("FILE", args->fabric.path, "the fabric, of any kind")->required();
  add_fabric_options(*sub, args->fabric);
  add_output(*sub, args->output);
  add_quiet(*sub, args->quiet);
  sub->footer(
      "What was assumed or found odd is said on standard error and stands as comments on top of the file.\n"
      "Example:\n"
      "  weft import ibnetdiscover.txt --names guids.map -o fabric.yaml");
  sub->callback([args, &chosen] { chosen = [args] { return run_import(*args); }; });
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

Error no_command(const CLI::App& app, const std::string& name, const std::string& word) {
  std::string known;
  for (const CLI::App* each : commands_of(app)) known += (known.empty() ? "" : ", ") + each->get_name();
  if (known.empty()) return error(ErrorCode::usage, fmt::format("`{}` has no command \"{}\"", name, word));
  return error(ErrorCode::usage, fmt::format("`{}` has no command \"{}\"", name, word), "one of " + known);
}

void add_help(CLI::App& app, Chosen& chosen) {
  CLI::App* sub = app.add_subcommand("help", "what a command does and takes");
  auto words = std::make_shared<std::vector<std::string>>();
  sub->add_option("COMMAND", *words, "the command, such as: place, or: generate rail");
  sub->callback([words, &app, &chosen] {
    chosen = [words, &app]() -> Result<int> {
      const CLI::App* about = &app;
      std::string name = app.get_name();
      for (const std::string& word : *words) {
        const CLI::App* next = nullptr;
        for (const CLI::App* each : commands_of(*about)) {
          if (each->get_name() == word) next = each;
        }
        if (next == nullptr) {
          return fail(no_command(*about, name, word));
        }
        name += ' ' + word;
        about = next;
      }
      const auto written = deliver(help_text(*about, name));
      if (!written) return fail(written.error());
      return kExitDone;
    };
  });
}

// What CLI11 throws, as the house says it: help and version are results, all else is a usage error.
int finish_parse(const CLI::App& app, const CLI::ParseError& e) {
  const CLI::App* deepest = &app;
  std::string command = app.get_name();
  while (!deepest->get_subcommands().empty()) {
    deepest = deepest->get_subcommands().front();
    command += ' ' + deepest->get_name();
  }
  if (e.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    const bool version = dynamic_cast<const CLI::CallForVersion*>(&e) != nullptr;
    const auto written = deliver(version ? std::string(e.what()) + '\n' : help_text(*deepest, command));
    if (written) return kExitDone;
    say(written.error().to_string());
    return kExitUsage;
  }
  Error shown = error(ErrorCode::usage, e.what());
  const std::vector<std::string> rest = app.remaining(true);
  const bool wants_command = deepest->get_require_subcommand_min() > 0;
  if (wants_command && !rest.empty() && !rest.front().starts_with('-')) {
    shown = no_command(*deepest, command, rest.front());
  } else if (dynamic_cast<const CLI::ConversionError*>(&e) != nullptr) {
    shown.expected = "a whole number that is not too large";
  }
  shown.file = command;
  say(shown.to_string());
  say(fmt::format("`{} --help` says more", command));
  return kExitUsage;
}

}  // namespace

int exit_code(const Error& error) { return error.code == ErrorCode::infeasible ? kExitInfeasible : kExitUsage; }

int run(int argc, const char* const* argv) {
  Chosen chosen;
  CLI::App app("Weft places AI training jobs into a network fabric.", "weft");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", "weft " WEFT_VERSION);
  app.require_subcommand(1);
  app.footer(kOverview);
  add_place(app, chosen);
  add_score(app, chosen);
  add_compare(app, chosen);
  add_traffic(app, chosen);
  add_check(app, chosen);
  add_show(app, chosen);
  add_import(app, chosen);
  add_generate(app, chosen);
  add_affinity(app, chosen);
  add_replay(app, chosen);
  add_stats(app, chosen);
  add_help(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return finish_parse(app, e);
  }
  const auto code = chosen();
  if (code) return *code;
  say(code.error().to_string());
  return exit_code(code.error());
}

}  // namespace weft::cli
