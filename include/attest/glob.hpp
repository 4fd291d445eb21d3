// Names with wildcards: of laws, kernels, planted bugs.
#pragma once

#include <string_view>

namespace attest {

/// Whether the whole text is like the glob: `*` stands for any number of characters, none included,
/// `?` for one, every other character for itself. Takes time exponential in the number of stars.
constexpr bool glob_matches(std::string_view glob, std::string_view text) {
  if (glob.empty()) return text.empty();
  if (glob.front() == '*')
    return glob_matches(glob.substr(1), text) ||
           (!text.empty() && glob_matches(glob, text.substr(1)));
  if (text.empty() || (glob.front() != '?' && glob.front() != text.front())) return false;
  return glob_matches(glob.substr(1), text.substr(1));
}

}  // namespace attest
