// Names with wildcards: of laws, kernels, planted bugs.
#pragma once

#include <cstddef>
#include <string_view>

namespace attest {

/// Whether the whole text is like the glob: `*` stands for any number of characters, none included,
/// `?` for one, every other character for itself. Takes time of at most the product of the sizes.
constexpr bool glob_matches(std::string_view glob, std::string_view text) {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t in_glob = 0;
  std::size_t in_text = 0;
  // Where to go on if the rest does not fit: only the last star can be made longer.
  std::size_t behind_star = kNone;
  std::size_t star_until = 0;
  while (in_text < text.size()) {
    const bool left = in_glob < glob.size();
    if (left && glob[in_glob] == '*') {
      behind_star = ++in_glob;
      star_until = in_text;
    } else if (left && (glob[in_glob] == '?' || glob[in_glob] == text[in_text])) {
      ++in_glob;
      ++in_text;
    } else if (behind_star != kNone) {
      in_glob = behind_star;
      in_text = ++star_until;
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*', in_glob) == kNone;
}

}  // namespace attest
