#include "report/columns.hpp"

#include <algorithm>
#include <sstream>

#include "report/utf8.hpp"

namespace drift {

std::size_t Columns::width_of(std::size_t column) const {
  std::size_t width = 0;
  for (const std::vector<Cell>& row : rows_) {
    if (column < row.size()) {
      width = std::max(width, display_width(row[column].text));
    }
  }
  return width;
}

std::string Columns::text(bool colour) const {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < left_.size(); ++column) {
    widths.push_back(width_of(column));
  }
  std::string text;
  for (const std::vector<Cell>& row : rows_) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      const Cell& cell = row[column];
      const std::string space(widths[column] - display_width(cell.text), ' ');
      const std::string shown = coloured(cell.text, cell.colour, colour);
      line += column > 0 ? "  " : "";
      line += left_[column] ? shown + space : space + shown;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string coloured(const std::string& text, const std::string& colour, bool show) {
  return show && !colour.empty() ? "\x1b[" + colour + "m" + text + "\x1b[0m" : text;
}

std::string wrapped(const std::string& text, const std::string& first, const std::string& rest,
                    std::size_t width) {
  std::istringstream words(text);
  std::string lines;
  std::string line = first;
  bool empty = true;
  for (std::string word; words >> word;) {
    if (!empty && display_width(line) + 1 + display_width(word) > width) {
      lines += line + "\n";
      line = rest;
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
  }
  return lines + line + "\n";
}

}  // namespace drift
