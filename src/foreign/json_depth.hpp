// A look at JSON text before it is parsed.
#pragma once

#include <string_view>

namespace attest::foreign {

/// Whether brackets nest deeper than any file or message of attest does: what a parser keeps of
/// such a text is much larger than the text.
inline bool nests_too_deeply(std::string_view text) {
  constexpr int kDeepest = 8;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') in_string = !in_string;
    if (in_string && text[i] == '\\') ++i;
    if (in_string) continue;
    if (text[i] == '[' || text[i] == '{') ++depth;
    if (text[i] == ']' || text[i] == '}') --depth;
    if (depth > kDeepest) return true;
  }
  return false;
}

}  // namespace attest::foreign
