#pragma once

#include <string>
#include <vector>

namespace drift {

/// A cell of a table. `colour` is an ANSI code such as "31", or empty.
struct Cell {
  std::string text;
  std::string colour = "";
};

/// Rows of cells, aligned by display width, two spaces between columns: the first column to the
/// left, and those named in `left`; the others to the right. No spaces at the ends of lines.
class Columns {
 public:
  explicit Columns(std::vector<bool> left) : left_(std::move(left)) {}

  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  std::size_t width_of(std::size_t column) const;
  /// Lines, each with its newline. `colour`: whether cells' colours are shown.
  std::string text(bool colour) const;

 private:
  std::vector<bool> left_;
  std::vector<std::vector<Cell>> rows_;
};

/// Text in an ANSI colour, or as it is.
std::string coloured(const std::string& text, const std::string& colour, bool show);

/// Text broken at spaces into lines of `width` columns: the first after `first`, the others after
/// `rest`.
std::string wrapped(const std::string& text, const std::string& first, const std::string& rest,
                    std::size_t width);

}  // namespace drift
