// SPDX-License-Identifier: BSD-3-Clause
#include "app.hpp"
#include "commands.hpp"
#include "fabric_report.hpp"
#include "output.hpp"

namespace weft::cli {

Result<int> run_show(const ShowArgs& args) {
  const auto loaded = load_fabric(args.fabric);
  if (!loaded) return fail(loaded.error());
  const FabricReport report = report_fabric(loaded->fabric);
  // Assumptions and warnings are part of the picture, so they are not said on stderr again.
  const auto written = deliver(args.format == "json" ? fabric_json(*loaded, report) : fabric_text(*loaded, report));
  if (!written) return fail(written.error());
  return kExitDone;
}

}  // namespace weft::cli
