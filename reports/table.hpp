// A table before it has a format: titles and cells, with foreign strings still as they came.
#pragma once

#include <string>
#include <vector>

namespace attest::reports {

struct Column {
  enum class Kind {
    text,    ///< foreign text, to be escaped
    number,  ///< made here; set to the right
    ratio,   ///< made here; set to the left, so that the leading digits line up
  };
  std::string title;
  Kind kind = Kind::number;
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< one cell a column
};

/// Columns padded with spaces, two between them, none at the end of a line.
std::string text_of(const Table& table);

std::string markdown_of(const Table& table);

}  // namespace attest::reports
