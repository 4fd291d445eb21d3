// One-line messages about files, of which neither name nor content is to be trusted.
#pragma once

#include <string>
#include <string_view>

#include "attest/status.hpp"

namespace attest::tensors {

/// Replaces control bytes by \xNN, and with `ascii_only` the bytes from 0x80 as well.
inline std::string escape(std::string_view text, bool ascii_only) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string escaped;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte == 0x7f || (ascii_only && byte > 0x7f)) {
      escaped += "\\x";
      escaped += kDigits[byte >> 4];
      escaped += kDigits[byte & 15];
    } else {
      escaped += character;
    }
  }
  return escaped;
}

/// Text out of a file as ASCII of bounded length: a header may hold a name of megabytes, and a cut
/// inside a UTF-8 sequence would make the message unusable in a JSON report.
inline std::string printable(std::string_view text) {
  constexpr std::size_t kLimit = 120;
  if (text.size() <= kLimit) return escape(text, true);
  return escape(text.substr(0, kLimit), true) + "...";
}

inline std::string in_quotes(std::string_view text) {
  return "'" + printable(text) + "'";
}

/// A file name as it is, as long as it fits into one line.
inline std::string file_label(std::string_view file_name) {
  return escape(file_name, false);
}

/// "<file>: byte <offset>: <what>"; the offset counts from the start of the file.
inline Status located(std::string_view file_name, Index offset, std::string_view what) {
  return {StatusCode::io_error,
          file_label(file_name) + ": byte " + std::to_string(offset) + ": " + std::string(what)};
}

}  // namespace attest::tensors
