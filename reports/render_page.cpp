#include "reports/render_page.hpp"

#include "reports/page/page_shell.hpp"

namespace attest::reports {
namespace {

/// The same JSON without what could end a script element or a line of one. In JSON these
/// characters stand only inside strings, where an escape means the same.
void append_escaped(std::string& page, std::string_view json) {
  // U+2028 and U+2029 in UTF-8, without the last bit of the last byte.
  constexpr std::string_view kSeparator = "\xE2\x80";
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i);
    if (json[i] == '<') {
      page += "\\u003c";
    } else if (json[i] == '>') {
      page += "\\u003e";
    } else if (json[i] == '&') {
      page += "\\u0026";
    } else if (rest.starts_with(kSeparator) &&
               (rest.substr(2, 1) == "\xA8" || rest.substr(2, 1) == "\xA9")) {
      page += rest[2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      page += json[i];
    }
  }
}

}  // namespace

std::string render_report_page(std::string_view page_json) {
  std::string page{page_before_data()};
  page.reserve(page.size() + page_after_data().size() + page_json.size() + page_json.size() / 8);
  append_escaped(page, page_json);
  page += page_after_data();
  return page;
}

}  // namespace attest::reports
