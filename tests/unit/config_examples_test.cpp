// SPDX-License-Identifier: BSD-3-Clause
//
// Every file of config/examples is read; every file of config/invalid is refused with exactly the text beside it.
// WEFT_REGENERATE=1 writes those texts anew, for a person to read through the diff.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "weft/config.hpp"

namespace weft::config {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> yaml_files(const fs::path& directory) {
  std::vector<fs::path> out;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() == ".yaml") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// The file under its bare name, so that messages do not depend on where the tree stands.
Source load(const fs::path& path) { return std::make_shared<const SourceText>(path.filename().string(), slurp(path)); }

enum class Format { fabric, health, job, slurm };

Format format_of(const std::string& text) {
  if (looks_like_slurm_config(text)) return Format::slurm;
  if (text.find("\nnodes: ") != std::string::npos && text.find("\nlinks:") == std::string::npos) return Format::job;
  const bool health_only = text.find("\nhealth:") != std::string::npos && text.find("\nswitches:") == std::string::npos;
  return health_only ? Format::health : Format::fabric;
}

std::optional<Error> read(const Source& source, Format format) {
  switch (format) {
    case Format::fabric: {
      const auto got = parse_fabric_yaml(source);
      return got ? std::nullopt : std::optional(got.error());
    }
    case Format::health: {
      const auto got = parse_health_yaml(source);
      return got ? std::nullopt : std::optional(got.error());
    }
    case Format::job: {
      const auto got = parse_job_yaml(source);
      return got ? std::nullopt : std::optional(got.error());
    }
    case Format::slurm: {
      const auto got = parse_slurm_config(source);
      return got ? std::nullopt : std::optional(got.error());
    }
  }
  return std::nullopt;
}

TEST(Examples, AreAllRead) {
  std::size_t count = 0;
  for (const fs::path& path : yaml_files(fs::path(WEFT_SOURCE_DIR) / "config/examples")) {
    const Source source = load(path);
    const std::optional<Error> fault = read(source, format_of(std::string(source->text())));
    EXPECT_FALSE(fault.has_value()) << fault->to_string();
    ++count;
  }
  EXPECT_GE(count, 6U);
}

TEST(Examples, FabricsComeBackFromTheirOwnWriting) {
  for (const char* name : {"su-demo.yaml", "multi-plane.yaml", "nvl72.yaml"}) {
    const auto spec = parse_fabric_yaml(load(fs::path(WEFT_SOURCE_DIR) / "config/examples" / name));
    ASSERT_TRUE(spec) << spec.error().to_string();
    const std::string text = write_fabric_yaml(*spec);
    const auto again = parse_fabric_yaml(std::make_shared<const SourceText>("again", text));
    ASSERT_TRUE(again) << again.error().to_string() << '\n' << text;
    EXPECT_EQ(write_fabric_yaml(*again), text);
  }
}

// "job-NAME.yaml" is read as a job, "slurm-NAME.yaml" as a weft.yaml, "health-NAME.yaml" as a health file,
// "fabric-NAME.yaml" as a fabric.
std::optional<Format> format_by_name(const std::string& name) {
  if (name.starts_with("fabric-")) return Format::fabric;
  if (name.starts_with("health-")) return Format::health;
  if (name.starts_with("job-")) return Format::job;
  if (name.starts_with("slurm-")) return Format::slurm;
  return std::nullopt;
}

TEST(Invalid, EachIsRefusedInTheWordsBesideIt) {
  const bool regenerate = std::getenv("WEFT_REGENERATE") != nullptr;
  std::size_t count = 0;
  for (const fs::path& path : yaml_files(fs::path(WEFT_SOURCE_DIR) / "config/invalid")) {
    const std::optional<Format> format = format_by_name(path.filename().string());
    ASSERT_TRUE(format) << path;
    const std::optional<Error> fault = read(load(path), *format);
    ASSERT_TRUE(fault.has_value()) << path.filename() << " was accepted";
    const std::string got = "[" + std::string(to_string(fault->code)) + "]\n" + fault->to_string() + "\n";
    fs::path expected = path;
    expected.replace_extension(".txt");
    if (regenerate) std::ofstream(expected, std::ios::binary) << got;
    EXPECT_EQ(got, slurp(expected)) << path.filename();
    EXPECT_GT(fault->at.line, 0U) << path.filename() << " is refused without a place";
    ++count;
  }
  EXPECT_GE(count, 40U);
}

}  // namespace
}  // namespace weft::config
