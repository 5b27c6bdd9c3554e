// SPDX-License-Identifier: BSD-3-Clause
#include "job_input.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "output.hpp"
#include "weft/config/hostlist.hpp"
#include "weft/placement/slurm_state.hpp"

namespace weft::cli {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// Marks the nodes of one hostlist. `refuse` makes an Error of code, byte offset and length in the list, message,
// expected.
template <typename Refuse>
Result<void> mark(const topology::Fabric& fabric, std::string_view list, bool value, placement::NodeMask& mask,
                  Refuse refuse) {
  const auto names = config::expand_hostlist(list);
  if (!names) {
    const config::HostlistError& e = names.error();
    return fail(refuse(e.code, e.offset, e.length, e.message, e.expected));
  }
  for (const std::string& name : *names) {
    const auto node = fabric.find_node(name);
    if (!node) {
      return fail(refuse(ErrorCode::dangling, 0, list.size(), fmt::format("the fabric has no node \"{}\"", name),
                         "names of its nodes"));
    }
    mask[topology::index(*node)] = value;
  }
  return {};
}

Result<void> mark_file(const topology::Fabric& fabric, const std::string& path, bool value, placement::NodeMask& mask) {
  const auto source = read_source(path);
  if (!source) return fail(source.error());
  std::string_view rest = (*source)->text();
  for (std::uint32_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    const std::string_view list = trimmed(line.substr(0, line.find('#')));
    if (list.empty()) continue;
    const auto begin = static_cast<std::size_t>(list.data() - line.data());
    auto marked =
        mark(fabric, list, value, mask,
             [&](ErrorCode code, std::size_t offset, std::size_t length, std::string message, std::string expected) {
               return error_at(code, *source, {number, static_cast<std::uint32_t>(begin + offset + 1)},
                               static_cast<std::uint32_t>(length), std::move(message), std::move(expected));
             });
    if (!marked) return marked;
  }
  return {};
}

// "@FILE" always names a file. Otherwise a file of that name wins, but for text that is a node's name: a file that
// happens to be called gpu01 must not hide the node.
bool names_file(const topology::Fabric& fabric, const std::string& value) {
  std::error_code ignored;
  return !fabric.find_node(value) && std::filesystem::exists(value, ignored) &&
         !std::filesystem::is_directory(value, ignored);
}

Result<void> mark_option(const topology::Fabric& fabric, const std::string& option, const std::string& value, bool flag,
                         placement::NodeMask& mask) {
  if (trimmed(value).empty()) return {};  // --busy "" from a script: nothing runs
  if (value.front() == '@') return mark_file(fabric, value.substr(1), flag, mask);
  if (names_file(fabric, value)) return mark_file(fabric, value, flag, mask);
  return mark(fabric, value, flag, mask,
              [&](ErrorCode code, std::size_t offset, std::size_t length, std::string message, std::string expected) {
                return option_error(code, option, value, std::move(message), std::move(expected), offset, length);
              });
}

}  // namespace

placement::Request Prepared::request() const {
  placement::Request out;
  out.job = &job;
  out.layout = resolved.layout;
  out.ranks_per_node = resolved.ranks_per_node;
  out.traffic = &traffic;
  out.free = free;
  out.free_gpus = free_gpus;
  return out;
}

Result<placement::FreeState> read_state(const topology::Fabric& fabric, const std::string& path) {
  const auto source = read_source(path);
  if (!source) return fail(source.error());
  const auto state = placement::parse_slurm_state(*source);
  if (!state) return fail(state.error());
  return placement::free_state(fabric, *state, path);
}

Result<placement::NodeMask> free_mask(const topology::Fabric& fabric, const FreeArgs& nodes) {
  placement::NodeMask mask(fabric.node_count(), !nodes.has_free);
  if (nodes.has_free) {
    const auto marked = mark_option(fabric, "--free", nodes.free, true, mask);
    if (!marked) return fail(marked.error());
  }
  if (nodes.has_busy) {
    const auto marked = mark_option(fabric, "--busy", nodes.busy, false, mask);
    if (!marked) return fail(marked.error());
  }
  return mask;
}

Result<Prepared> prepare(const JobArgs& common, const FreeArgs& nodes, const LinkArgs& links) {
  auto loaded = load_fabric(common.fabric);
  if (!loaded) return fail(std::move(loaded.error()));
  say_notes(loaded->notes, common.quiet, kNotesSaid);
  const auto source = read_source(common.job);
  if (!source) return fail(source.error());
  auto job = config::parse_job_yaml(*source);
  if (!job) return fail(std::move(job.error()));
  auto resolved = placement::resolve_job(loaded->fabric, *job);
  if (!resolved) return fail(std::move(resolved.error()));
  auto traffic = placement::build_traffic(*job, resolved->layout);
  if (!traffic) return fail(std::move(traffic.error()));
  auto mask = free_mask(loaded->fabric, nodes);
  if (!mask) return fail(std::move(mask.error()));
  std::vector<std::vector<bool>> free_gpus;
  if (!nodes.state.empty()) {
    auto state = read_state(loaded->fabric, nodes.state);
    if (!state) return fail(std::move(state.error()));
    say_notes(state->notes, common.quiet, kNotesSaid);
    for (std::size_t n = 0; n < mask->size(); ++n) (*mask)[n] = (*mask)[n] && state->nodes[n];
    free_gpus = std::move(state->gpus);
  }
  auto read = read_links(*loaded, links);
  if (!read) return fail(std::move(read.error()));
  take_running(*read, *mask);
  return Prepared{std::move(*loaded), std::move(*job),      *resolved,       std::move(*traffic),
                  std::move(*mask),   std::move(free_gpus), std::move(*read)};
}

Result<placement::Score> score_of(const Prepared& prepared, const placement::Placement& placement) {
  if (auto ok = check_apart(prepared.loaded.fabric, prepared.links, placement); !ok) return fail(ok.error());
  placement::ScoreOptions options;
  options.cross_rail = prepared.job.cross_rail;
  options.free_before = &prepared.free;
  options.links = prepared.links.options();
  options.inside = true;
  return placement::score(prepared.loaded.fabric, placement, prepared.traffic, options);
}

}  // namespace weft::cli
