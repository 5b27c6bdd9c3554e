// SPDX-License-Identifier: BSD-3-Clause
#include "app.hpp"
#include "commands.hpp"
#include "job_input.hpp"
#include "output.hpp"
#include "weft/placement/traffic_report.hpp"

namespace weft::cli {
namespace {

Result<placement::ResolvedJob> resolved(const TrafficArgs& args, const config::JobSpec& job) {
  if (args.common.fabric.path.empty()) return placement::resolve_job(job);
  const auto loaded = load_fabric(args.common.fabric);
  if (!loaded) return fail(loaded.error());
  say_notes(loaded->notes, args.common.quiet, kNotesSaid);
  return placement::resolve_job(loaded->fabric, job);
}

}  // namespace

Result<int> run_traffic(const TrafficArgs& args) {
  const auto source = read_source(args.common.job);
  if (!source) return fail(source.error());
  const auto job = config::parse_job_yaml(*source);
  if (!job) return fail(job.error());
  const auto known = resolved(args, *job);
  if (!known) return fail(known.error());
  const auto report = placement::describe_traffic(*job, known->layout);
  if (!report) return fail(report.error());
  const auto written =
      deliver(args.format == "json" ? placement::write_traffic_json(*report) : placement::write_traffic_text(*report),
              args.output);
  if (!written) return fail(written.error());
  return kExitDone;
}

}  // namespace weft::cli
