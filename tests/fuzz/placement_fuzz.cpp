// SPDX-License-Identifier: BSD-3-Clause
//
// placement.json and hostfiles: what parses must write and read back equal, in both forms.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "weft/placement/io.hpp"

namespace {

void must(bool condition) {
  if (!condition) std::abort();
}

weft::Source source(std::string text) { return std::make_shared<const weft::SourceText>("fuzz", std::move(text)); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weft::placement;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto doc = parse_placement(source(text));
  if (!doc) {
    must(!doc.error().message.empty());
    must(!doc.error().to_string().empty());
    return 0;
  }
  must(!doc->nodes.empty());
  // JSON is UTF-8: bytes that are not come back as U+FFFD, so such names are held to "no crash" alone.
  for (const auto& node : doc->nodes)
    for (const char c : node.value)
      if (static_cast<unsigned char>(c) >= 0x80) return 0;
  const auto json = parse_placement(source(write_placement_json(*doc)));
  must(json.has_value());
  must(json->nodes == doc->nodes && json->ranks == doc->ranks && json->traffic == doc->traffic);
  // A name may start with '#', but not in a hostfile, where that is a comment.
  for (const auto& node : doc->nodes)
    if (node.value.front() == '#') return 0;
  const auto hosts = parse_hostfile(source(write_hostfile(*doc)));
  must(hosts.has_value());
  must(hosts->nodes == doc->nodes);
  (void)write_rankfile(*doc);
  (void)write_env(*doc);
  return 0;
}
