// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace weft::cli {

/// Help as the house prints it: descriptions wrapped beside their options, no choice said twice, "(required)".
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();
  [[nodiscard]] std::string make_option_name(const CLI::Option* option, bool positional) const override;
  [[nodiscard]] std::string make_option_opts(const CLI::Option* option) const override;
  [[nodiscard]] std::string make_option_desc(const CLI::Option* option) const override;
};

/// Help of `app` under its full name ("weft generate rail"), whatever was parsed.
[[nodiscard]] std::string help_text(const CLI::App& app, const std::string& full_name);

}  // namespace weft::cli
