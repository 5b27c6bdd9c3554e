// SPDX-License-Identifier: BSD-3-Clause
#include "weft/placement/comm_file.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string>

#include "comm_lines.hpp"

namespace weft::placement {
namespace {

using config::Dim;

constexpr std::string_view kExpected =
    "a matrix of bytes (N lines of N numbers), a list \"from,to,bytes\", an AICB workload log or a SimAI workload";

struct Foreign {
  std::string_view start;
  std::string_view what;
  std::string_view expected;
};

// How files of the trade that are no volumes of a step begin.
constexpr auto kForeign = std::to_array<Foreign>({
    {"\x1f\x8b", "a gzip-compressed file", "its text: unpack it first (gunzip)"},
    {"\xfd"
     "7zXZ",
     "an xz-compressed file", "its text: unpack it first (unxz)"},
    {"\x28\xb5\x2f\xfd", "a zstd-compressed file", "its text: unpack it first (unzstd)"},
    {"{", "JSON, such as a Chakra execution trace: events of one rank with their times, not what a step moves",
     kExpected},
    {"Nodes ", "an htsim connection matrix: flows with start times, of one experiment",
     "a list: a line \"from,to,bytes\", then one for each flow"},
    {"# collprof", "an MPI trace of one rank (liballprof): calls with their times",
     "the matrix of bytes between all ranks, which its analysers can make"},
    {"# nThread", "a log of nccl-tests: what a fabric achieved, not what a job moves", kExpected},
    {"benchmark_name:", "a list of node pairs to be benchmarked: it has no bytes", kExpected},
});

Error refuse(const Source& source, std::uint32_t line, std::uint32_t width, std::string message, std::string expected) {
  return error_at(ErrorCode::unsupported, source, {line, 1}, width, std::move(message), std::move(expected));
}

std::optional<Error> foreign(const Source& source) {
  const std::string_view text = source->text();
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  for (const Foreign& f : kForeign) {
    const bool here =
        text.starts_with(f.start) || (first != std::string_view::npos && text.substr(first).starts_with(f.start));
    if (here) return refuse(source, 1, 1, fmt::format("this is {}", f.what), std::string(f.expected));
  }
  for (const char c : text.substr(0, 4096))
    if (static_cast<unsigned char>(c) < 0x20 && std::string_view("\t\r\n\f\v").find(c) == std::string_view::npos)
      return refuse(source, 1, 1, "this is a binary file, such as a Chakra trace (.et), which is of one rank's events",
                    std::string(kExpected));
  return std::nullopt;
}

bool is_list_header(std::string_view line) {
  std::vector<CommField> fields;
  split_fields(line, fields);
  return fields.size() == 3 && fields[0].text == "from" && fields[1].text == "to" && fields[2].text == "bytes";
}

bool numeric(std::string_view line) {
  std::vector<CommField> fields;
  split_fields(line, fields);
  const char c = fields.front().text.empty() ? '0' : fields.front().text.front();
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || fields.front().text == "nan" ||
         fields.front().text == "NaN" || fields.front().text == "inf";
}

// First words of SimAI and ASTRA-sim 1 workloads; which of them are of use is the reader's business.
bool is_simai_header(std::string_view line) {
  std::vector<CommField> words;
  split_blanks(line, words);
  const std::string_view word = words.front().text;
  return word.starts_with("HYBRID_") || (words.size() == 1 && (word == "MICRO" || word == "DATA" || word == "MODEL"));
}

}  // namespace

std::string_view to_string(CommKind kind) {
  switch (kind) {
    case CommKind::matrix: return "matrix";
    case CommKind::list: return "list of flows";
    case CommKind::aicb: return "AICB workload";
    case CommKind::simai: return "SimAI workload";
  }
  return "unknown";
}

Result<CommFile> parse_comm_file(const Source& source) {
  if (auto other = foreign(source)) return fail(std::move(*other));
  CommLines lines(source->text());
  if (!lines.next())
    return fail(error_at(ErrorCode::syntax, source, {1, 1}, 1, "the file says nothing", std::string(kExpected)));
  const std::string_view line = lines.line();
  if (line.find_first_not_of(" \t") != std::string_view::npos && line[line.find_first_not_of(" \t")] == '[')
    return parse_aicb(source);
  if (line.starts_with("comm_type,")) return parse_aicb(source);
  if (is_simai_header(line)) return parse_simai(source);
  if (is_list_header(line)) return parse_flow_list(source);
  if (numeric(line)) return parse_matrix(source);
  std::vector<CommField> words;
  split_blanks(line, words);
  return fail(error_in(ErrorCode::unsupported, source, lines.number(), words.front(),
                       "no file of traffic that Weft knows", std::string(kExpected)));
}

Result<void> check_comm_file(const CommFile& file, const config::JobSpec& job, const config::Layout& layout) {
  const auto wrong = [&](Position at, std::string message, std::string expected) {
    return fail(error_at(ErrorCode::conflict, file.source, at, 1, std::move(message), std::move(expected)));
  };
  const std::uint64_t ranks = layout.ranks();
  const std::string have = job.nodes > 0 && ranks % job.nodes == 0
                               ? fmt::format("{} nodes x {} ranks = {}", job.nodes, ranks / job.nodes, ranks)
                               : fmt::format("{} ranks", ranks);
  if (file.kind == CommKind::list) {
    if (file.ranks > ranks)
      return wrong(file.last_rank, fmt::format("rank {} of a job of {}", file.ranks - 1, have),
                   fmt::format("ranks 0 to {}", ranks - 1));
    return {};
  }
  if (file.ranks != 0 && file.ranks != ranks)
    return wrong({1, 1}, fmt::format("the {} is of {} ranks, the job of {}", to_string(file.kind), file.ranks, have),
                 fmt::format("{} ranks", ranks));
  if (file.kind == CommKind::matrix) return {};
  if (layout[Dim::cp] > 1)
    return wrong(
        {1, 1},
        fmt::format("the {} knows no context parallelism, the layout has cp {}", to_string(file.kind), layout[Dim::cp]),
        "cp 1");
  for (const Dim d : {Dim::tp, Dim::ep, Dim::pp, Dim::dp}) {
    const std::uint32_t size = file.size[static_cast<std::size_t>(d)];
    if (size != 0 && size != layout[d])
      return wrong({1, 1},
                   fmt::format("the {}'s {} groups have {} ranks, the layout's {}", to_string(file.kind), to_string(d),
                               size, layout[d]),
                   fmt::format("{} {} in the layout", to_string(d), size));
  }
  return {};
}

Result<CommFile> load_comm_file(const config::JobSpec& job, const config::Layout& layout) {
  constexpr std::size_t kMaxFile = 1ULL << 30;
  std::filesystem::path path(job.matrix->value);
  if (path.is_relative() && job.source) path = std::filesystem::path(job.source->file()).parent_path() / path;
  auto source = read_source(path.string(), kMaxFile);
  if (!source) return fail(source.error());
  auto file = parse_comm_file(*source);
  if (!file) return fail(file.error());
  if (auto ok = check_comm_file(*file, job, layout); !ok) return fail(ok.error());
  return file;
}

}  // namespace weft::placement
