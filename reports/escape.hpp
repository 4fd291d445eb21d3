// Foreign strings made safe for one format each. Kernel names, problem texts and paths may hold
// any bytes; none of them may end a table cell, a tag or a line, or steer a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attest::reports {

/// One line of valid UTF-8 for a terminal: what is not printable is written \n, \x1B, \u202E. A
/// backslash stays as it is, so that a command line can be copied.
std::string plain_text(std::string_view text);

/// The same of several lines: line breaks stay.
std::string plain_lines(std::string_view text);

/// A cell of a CSV file (RFC 4180). A cell that a spreadsheet would take for a formula begins with
/// a single quote, so that it is text.
std::string csv_cell(std::string_view text);

/// Characters of valid UTF-8, for padding.
std::size_t character_count(std::string_view text);

/// At most `width` characters, the last one an ellipsis if something was cut off.
std::string cut(std::string_view text, std::size_t width);

/// An inline code span on one line; empty text gives empty text.
std::string markdown_code(std::string_view text);

/// The same inside a table cell, where a bar would end the cell even in code.
std::string markdown_code_cell(std::string_view text);

/// A fenced block; line breaks stay.
std::string markdown_block(std::string_view text);

/// Content of an element; line breaks stay. Characters that XML cannot hold are written as in
/// plain_text.
std::string xml_text(std::string_view text);

/// Value of an attribute in double quotes.
std::string xml_attribute(std::string_view text);

}  // namespace attest::reports
