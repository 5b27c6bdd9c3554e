// SPDX-License-Identifier: BSD-3-Clause
#include "help_format.hpp"

#include <sstream>

namespace weft::cli {
namespace {

constexpr std::size_t kColumn = 28;  // where descriptions begin
constexpr std::size_t kWidth = 100;  // of the whole

}  // namespace

HelpFormatter::HelpFormatter() { column_width(kColumn); }

std::string HelpFormatter::make_option_name(const CLI::Option* option, bool positional) const {
  if (positional) return option->get_name(true, false);
  std::string out;
  for (const std::string& name : option->get_snames()) out += (out.empty() ? "-" : ", -") + name;
  for (const std::string& name : option->get_lnames()) out += (out.empty() ? "--" : ", --") + name;
  return out;
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0 || !option->nonpositional()) return {};
  // The list of choices after the colon is in the type's name already.
  const std::string type = option->get_type_name();
  return ' ' + type.substr(0, type.find(':'));
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  std::istringstream in(option->get_description() + (option->get_required() ? " (required)" : ""));
  std::string out;
  std::size_t column = kColumn;
  for (std::string word; in >> word;) {
    if (column > kColumn && column + 1 + word.size() > kWidth) {
      out += '\n';
      column = kColumn;
    } else if (column > kColumn) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string help_text(const CLI::App& app, const std::string& full_name) {
  return app.get_formatter()->make_help(&app, full_name, CLI::AppFormatMode::Normal);
}

}  // namespace weft::cli
