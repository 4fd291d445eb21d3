#include "reports/table.hpp"

#include <algorithm>
#include <cstddef>

#include "reports/escape.hpp"

namespace attest::reports {
namespace {

void append_text_line(std::string& text, const std::vector<std::string>& cells,
                      const std::vector<std::size_t>& widths, const std::vector<Column>& columns) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths[i] - character_count(cells[i]), ' ');
    if (i > 0) line += "  ";
    line += columns[i].kind == Column::Kind::number ? padding + cells[i] : cells[i] + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + '\n';
}

void append_markdown_line(std::string& text, const std::vector<std::string>& cells) {
  text += '|';
  for (const std::string& cell : cells) text += ' ' + cell + " |";
  text += '\n';
}

}  // namespace

std::string text_of(const Table& table) {
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : table.columns) lines.front().push_back(column.title);
  for (const std::vector<std::string>& row : table.rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const std::string& cell : row) line.push_back(plain_text(cell));
  }

  std::vector<std::size_t> widths(table.columns.size(), 0);
  for (const std::vector<std::string>& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], character_count(line[i]));
    }
  }

  std::string text;
  for (const std::vector<std::string>& line : lines) {
    append_text_line(text, line, widths, table.columns);
  }
  return text;
}

std::string markdown_of(const Table& table) {
  std::vector<std::string> titles;
  std::vector<std::string> rules;
  for (const Column& column : table.columns) {
    titles.push_back(column.title);
    rules.emplace_back(column.kind == Column::Kind::number ? "--:" : "---");
  }

  std::string text;
  append_markdown_line(text, titles);
  append_markdown_line(text, rules);
  for (const std::vector<std::string>& row : table.rows) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool foreign = table.columns[i].kind == Column::Kind::text;
      cells.push_back(foreign ? markdown_code_cell(row[i]) : row[i]);
    }
    append_markdown_line(text, cells);
  }
  return text;
}

}  // namespace attest::reports
