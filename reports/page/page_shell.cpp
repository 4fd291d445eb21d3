#include "reports/page/page_shell.hpp"

// Each file ends with a zero, so that its length needs no second symbol.
asm(".pushsection .rodata\n"
    ".global attest_page_before_data_text\n"
    "attest_page_before_data_text:\n"
    ".incbin \"" ATTEST_PAGE_DIR
    "/page_before_data.html\"\n"
    ".byte 0\n"
    ".global attest_page_after_data_text\n"
    "attest_page_after_data_text:\n"
    ".incbin \"" ATTEST_PAGE_DIR
    "/page_after_data.html\"\n"
    ".byte 0\n"
    ".popsection\n");

extern "C" {
extern const char attest_page_before_data_text[];
extern const char attest_page_after_data_text[];
}

namespace attest::reports {

std::string_view page_before_data() {
  return attest_page_before_data_text;
}

std::string_view page_after_data() {
  return attest_page_after_data_text;
}

}  // namespace attest::reports
