// The HTML report: one file that works from disk, without a network.
#pragma once

#include <string>
#include <string_view>

namespace attest::reports {

/// The page with the JSON of a run inside. No text in the JSON can end the element that holds it;
/// the scripts of the page put every text of it into the document as text.
std::string render_report_page(std::string_view page_json);

}  // namespace attest::reports
