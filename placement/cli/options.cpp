// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"

namespace weft::cli {
namespace {

const std::vector<std::string> kPolicies{"weft", "tree", "block", "first-fit", "random"};

void add_job_options(CLI::App& app, JobArgs& args, bool needs_fabric = true) {
  app.add_option("-f,--fabric", args.fabric.path,
                 needs_fabric ? "the fabric, of any kind"
                              : "the fabric, of any kind: says the ranks of a node (its GPUs) where the job does not")
      ->required(needs_fabric)
      ->type_name("FILE");
  app.add_option("-j,--job", args.job, "the job.yaml")->required()->type_name("FILE");
  add_fabric_options(app, args.fabric);
  add_quiet(app, args.quiet);
}

void add_free_options(CLI::App& app, FreeArgs& args) {
  CLI::Option* free =
      app.add_option("--free", args.free,
                     "only these nodes are free: a hostlist, or a file of hostlists, one a line (FILE or "
                     "@FILE, # starts a comment, @- is standard input); default: every healthy node");
  CLI::Option* busy = app.add_option("--busy", args.busy, "these nodes are not free, all others are; as --free");
  free->type_name("HOSTS")->excludes(busy);
  busy->type_name("HOSTS")->excludes(free);
  app.add_option("--state", args.state,
                 "what Slurm says of its nodes: the output of `scontrol show nodes -d` or --json; only nodes that take "
                 "jobs and have GPUs free are free")
      ->type_name("FILE");
  app.parse_complete_callback([free, busy, &args] {
    args.has_free = free->count() > 0;
    args.has_busy = busy->count() > 0;
  });
}

void add_link_options(CLI::App& app, LinkArgs& args) {
  app.add_option("--routing", args.routing,
                 "spray: every flow over all shortest paths; ecmp: hashed, one path a flow (8 draws); static: along "
                 "InfiniBand's forwarding tables; default spray")
      ->check(CLI::IsMember({"spray", "ecmp", "static"}))
      ->type_name("spray|ecmp|static")
      ->group("Links");
  app.add_option("--tables", args.tables,
                 "for static: opensm.fdbs, opensm-lfts.dump or dump_fts output, a file for each subnet; a guid2lid "
                 "file goes behind the tables that it belongs to (opensm.fdbs needs it)")
      ->type_name("FILE...")
      ->group("Links");
  app.add_option("--time-model", args.time_model, "latencies, efficiencies and overlap other than the default ones")
      ->type_name("FILE")
      ->group("Links");
  app.add_option("--overlap", args.overlap,
                 "part of a dimension's time that computing hides, such as dp=0.5,pp=0.9; default: none")
      ->type_name("DIM=PART")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("Links");
  app.add_option("--running", args.running,
                 "a job that runs already: its nodes are taken, its bytes are on the links; a placement.json as weft "
                 "place writes it, or PLACEMENT:JOB.yaml; may be given several times")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("Links");
}

void add_choice_options(CLI::App& app, ChoiceArgs& args) {
  app.add_option(
         "--objective", args.objective,
         "traffic: bytes over the highest tier, then each lower one, then hop-bytes, then fragmentation; time: the "
         "modelled communication time of a step first; spread: first the most pods that a group touches, summed over "
         "the "
         "dimensions by weight of their bytes; default traffic")
      ->check(CLI::IsMember({"traffic", "time", "spread"}))
      ->type_name("traffic|time|spread");
  app.add_option("--node-weight", args.node_weight,
                 "strict: a node of higher weight only where those of lower weight do not do, as in Slurm; tie: where "
                 "nothing else tells nodes apart; ignore: not at all; default tie")
      ->check(CLI::IsMember({"strict", "tie", "ignore"}))
      ->type_name("strict|tie|ignore");
  app.add_option("--budget-steps", args.budget_steps,
                 "steps of the search for a rank map (pairs of nodes looked at); default by the job's size, 100000 to "
                 "8000000")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  app.add_option("--seed", args.seed, "for whatever draws lots; the same seed gives the same bytes out; default 1")
      ->type_name("N");
}

}  // namespace

void add_fabric_options(CLI::App& app, FabricArgs& args) {
  app.add_option(
         "--node-type", args.node_type,
         "GPUs, NICs and NVLink of a node where the file does not say: a preset (h100, h200, b200, gb200, ...) or "
         "gpus=8,nics=8,nvlink=450GB/s")
      ->type_name("TYPE")
      ->group("Fabric");
  app.add_option("--bandwidth", args.bandwidth,
                 "of each cable, one direction, where the file does not say, such as 400Gb/s")
      ->type_name("RATE")
      ->group("Fabric");
  app.add_option("--names", args.names, "map of GUIDs to host names, for dumps whose HCAs carry none")
      ->type_name("FILE")
      ->group("Fabric");
  app.add_option("--node-file", args.node_file,
                 "the inside of a node, as `weft affinity` reads it; NICs are found by GUID where both files have them")
      ->type_name("FILE")
      ->group("Fabric");
  app.add_option("--topology", args.topology, "which topology of a topology.yaml; default: its cluster_default")
      ->type_name("NAME")
      ->group("Fabric");
  app.add_option("--health", args.health,
                 "links, ports, switches and nodes that are down or slow, added to the fabric's")
      ->type_name("FILE")
      ->group("Fabric");
}

void add_format(CLI::App& app, std::string& format, const std::vector<std::string>& formats) {
  format = formats.front();
  app.add_option("--format", format, fmt::format("of the result; default {}", formats.front()))
      ->check(CLI::IsMember(formats))
      ->type_name(fmt::format("{}", fmt::join(formats, "|")));
}

void add_output(CLI::App& app, std::string& output) {
  app.add_option("-o,--output", output, "write here, atomically; default: standard output")->type_name("FILE");
}

void add_quiet(CLI::App& app, bool& quiet) { app.add_flag("-q,--quiet", quiet, "say no assumptions and warnings"); }

void add_place(CLI::App& app, Chosen& chosen) {
  CLI::App* sub = app.add_subcommand("place", "choose the nodes of a job and lay its ranks out");
  auto args = std::make_shared<PlaceArgs>();
  add_job_options(*sub, args->common);
  add_free_options(*sub, args->nodes);
  add_link_options(*sub, args->links);
  sub->add_option("--policy", args->policy, "who chooses; default weft")
      ->check(CLI::IsMember(kPolicies))
      ->type_name(fmt::format("{}", fmt::join(kPolicies, "|")));
  add_choice_options(*sub, args->choice);
  add_format(*sub, args->format, {"text", "json", "hostfile", "rankfile", "env"});
  add_output(*sub, args->output);
  sub->footer(
      "Formats: text and json carry the score too; json is a placement.json for `weft score`; hostfile has a node a "
      "line\n"
      "in rank order; rankfile is Open MPI's, the ranks of a node on its slots 0, 1, ...; env is shell assignments\n"
      "(WEFT_JOB, WEFT_NNODES, WEFT_NTASKS, WEFT_NODELIST).\n"
      "Example:\n"
      "  weft place --fabric fabric.yaml --job job.yaml --busy 'gpu[033-070]' --format json -o placement.json");
  sub->callback([args, &chosen] { chosen = [args] { return run_place(*args); }; });
}

void add_score(CLI::App& app, Chosen& chosen) {
  CLI::App* sub = app.add_subcommand("score", "what a placement costs");
  auto args = std::make_shared<ScoreArgs>();
  add_job_options(*sub, args->common);
  sub->add_option("-p,--placement", args->placement, "a placement.json, or a hostfile: a node a line, in rank order")
      ->required()
      ->type_name("FILE");
  add_free_options(*sub, args->nodes);
  add_link_options(*sub, args->links);
  add_format(*sub, args->format, {"text", "json"});
  add_output(*sub, args->output);
  sub->footer(
      "--free and --busy say which nodes were free before the job came; only the fragmentation asks for them.\n"
      "Example:\n"
      "  weft score --fabric fabric.yaml --job job.yaml --placement hosts.txt");
  sub->callback([args, &chosen] { chosen = [args] { return run_score(*args); }; });
}

void add_compare(CLI::App& app, Chosen& chosen) {
  CLI::App* sub = app.add_subcommand("compare", "every policy's placement and score, side by side");
  auto args = std::make_shared<CompareArgs>();
  add_job_options(*sub, args->common);
  add_free_options(*sub, args->nodes);
  add_link_options(*sub, args->links);
  sub->add_option("--policy", args->policies, "only this policy; may be given several times")
      ->check(CLI::IsMember(kPolicies))
      ->type_name("POLICY")
      ->allow_extra_args(false);
  add_choice_options(*sub, args->choice);
  add_format(*sub, args->format, {"text", "json"});
  add_output(*sub, args->output);
  sub->footer(
      "Example:\n"
      "  weft compare --fabric fabric.yaml --job job.yaml --busy @busy.txt");
  sub->callback([args, &chosen] { chosen = [args] { return run_compare(*args); }; });
}

void add_traffic(CLI::App& app, Chosen& chosen) {
  CLI::App* sub = app.add_subcommand("traffic", "what a job moves in a step, and how that is known");
  auto args = std::make_shared<TrafficArgs>();
  add_job_options(*sub, args->common, false);
  add_format(*sub, args->format, {"text", "json"});
  add_output(*sub, args->output);
  sub->footer(
      "Each number stands with its formula, the numbers filled in, and the paper, program or file that it is from. "
      "Bytes\n"
      "of a term are what one rank puts into the collective in a step; bytes on the wire are the directed sum over "
      "all\n"
      "groups, inside NVLink domains too.\n"
      "Example:\n"
      "  weft traffic --job job.yaml");
  sub->callback([args, &chosen] { chosen = [args] { return run_traffic(*args); }; });
}

}  // namespace weft::cli
