#include "reports/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace attest::reports {
namespace {

struct Character {
  char32_t code = 0;  ///< the byte itself if not valid
  std::size_t length = 1;
  bool valid = false;
};

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// The first character of a non-empty text. Overlong forms, surrogates and stray bytes are not
/// valid, and then stand for one byte.
Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (lead < 0xC0 || lead > 0xF7 || text.size() < length) return {lead, 1, false};
  char32_t code = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return {lead, 1, false};
    code = (code << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kSmallest[length] || code > 0x10FFFF || surrogate) return {lead, 1, false};
  return {code, length, true};
}

/// Controls, line separators and the marks that reorder or hide the text around them.
bool is_printable(const Character& character) {
  const char32_t code = character.code;
  if (!character.valid || code < 0x20 || (code >= 0x7F && code < 0xA0)) return false;
  if (code >= 0x200B && code <= 0x200F) return false;
  if (code >= 0x2028 && code <= 0x202E) return false;
  return !(code >= 0x2060 && code <= 0x206F) && code != 0xFEFF && code != 0xFFFE && code != 0xFFFF;
}

std::string visible_escape(const Character& character) {
  switch (character.code) {
    case U'\n':
      return "\\n";
    case U'\r':
      return "\\r";
    case U'\t':
      return "\\t";
    default:
      break;
  }
  const auto code = static_cast<std::uint32_t>(character.code);
  return code < 0x80 || !character.valid ? fmt::format("\\x{:02X}", code)
                                         : fmt::format("\\u{:04X}", code);
}

/// Calls write(character, bytes) for every character in turn.
template <class Write>
void for_each_character(std::string_view text, Write&& write) {
  while (!text.empty()) {
    const Character character = first_character(text);
    write(character, text.substr(0, character.length));
    text.remove_prefix(character.length);
  }
}

/// Backticks that enclose `text` without being ended by it.
std::string backticks(std::string_view text, std::size_t at_least) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char byte : text) {
    run = byte == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(std::max(longest + 1, at_least), '`');
}

std::string xml_escape(std::string_view text, bool keep_lines) {
  std::string result;
  for_each_character(text, [&](const Character& character, std::string_view bytes) {
    switch (character.code) {
      case U'&':
        result += "&amp;";
        return;
      case U'<':
        result += "&lt;";
        return;
      case U'>':
        result += "&gt;";
        return;
      case U'"':
        result += "&quot;";
        return;
      case U'\r':
        result += "&#13;";
        return;
      case U'\n':
        result += keep_lines ? "\n" : "&#10;";
        return;
      case U'\t':
        result += keep_lines ? "\t" : "&#9;";
        return;
      default:
        break;
    }
    result += is_printable(character) ? std::string(bytes) : visible_escape(character);
  });
  return result;
}

}  // namespace

std::string plain_text(std::string_view text) {
  std::string result;
  for_each_character(text, [&](const Character& character, std::string_view bytes) {
    result += is_printable(character) ? std::string(bytes) : visible_escape(character);
  });
  return result;
}

std::string plain_lines(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    result += plain_text(text.substr(0, end));
    if (end < text.size()) result += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string csv_cell(std::string_view text) {
  std::string line = plain_text(text);
  // A leading blank does not stop a spreadsheet from reading a formula.
  const std::size_t first = line.find_first_not_of(' ');
  if (first != std::string::npos &&
      std::string_view("=+-@|%").find(line[first]) != std::string_view::npos)
    line.insert(0, 1, '\'');
  if (line.find_first_of(",\"") == std::string::npos) return line;
  std::string quoted = "\"";
  for (const char c : line) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::size_t character_count(std::string_view text) {
  std::size_t count = 0;
  for_each_character(text, [&](const Character&, std::string_view) { ++count; });
  return count;
}

std::string cut(std::string_view text, std::size_t width) {
  std::string kept;
  std::size_t count = 0;
  std::size_t fits = 0;
  for_each_character(text, [&](const Character&, std::string_view bytes) {
    if (++count < width) fits += bytes.size();
  });
  if (count <= width) return std::string(text);
  kept = text.substr(0, fits);
  return kept + "…";
}

std::string markdown_code(std::string_view text) {
  const std::string line = plain_text(text);
  if (line.empty()) return {};
  const std::string fence = backticks(line, 1);
  // A span loses one space at each end if it has both, and a backtick there would join the fence.
  const bool ambiguous =
      line.front() == '`' || line.back() == '`' || (line.front() == ' ' && line.back() == ' ');
  const std::string_view pad = ambiguous ? " " : "";
  return fmt::format("{}{}{}{}{}", fence, pad, line, pad, fence);
}

std::string markdown_code_cell(std::string_view text) {
  std::string result;
  for (const char byte : markdown_code(text)) {
    if (byte == '|') result += '\\';
    result += byte;
  }
  return result;
}

std::string markdown_block(std::string_view text) {
  const std::string fence = backticks(text, 3);
  const std::string_view end = text.empty() || text.back() != '\n' ? "\n" : "";
  return fmt::format("{}\n{}{}{}\n", fence, text, end, fence);
}

std::string xml_text(std::string_view text) {
  return xml_escape(text, true);
}

std::string xml_attribute(std::string_view text) {
  return xml_escape(text, false);
}

}  // namespace attest::reports
