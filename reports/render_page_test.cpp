#include "reports/render_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace attest::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

/// What stands between the tags of the element that holds the data.
std::string data_of(const std::string& page) {
  constexpr std::string_view kOpening = "<script type=\"application/json\" id=\"page-data\">";
  const std::size_t begin = page.find(kOpening);
  if (begin == std::string::npos) return "no element";
  const std::size_t data = begin + kOpening.size();
  return page.substr(data, page.find("</script>", data) - data);
}

std::string page_of_kernel(const std::string& name) {
  return render_report_page(nlohmann::json{{"format", "attest-page"}, {"title", name}}.dump());
}

TEST(RenderPage, ThePageHoldsTheDataOnceAndIsWhole) {
  const std::string page = page_of_kernel("builtin:simd");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_EQ(count(page, "id=\"page-data\""), 1U);
  EXPECT_THAT(data_of(page), HasSubstr("builtin:simd"));
}

TEST(RenderPage, NoNameEndsTheElementOfTheData) {
  const std::string empty = render_report_page("{}");
  for (const std::string name : {"</script><script>alert(1)</script>", "<!--<script>", "]]>&lt;",
                                 "a\xE2\x80\xA8"
                                 "b\xE2\x80\xA9"}) {
    const std::string page = page_of_kernel(name);
    EXPECT_EQ(count(page, "<script"), count(empty, "<script")) << name;
    EXPECT_EQ(count(page, "</script"), count(empty, "</script")) << name;
    EXPECT_EQ(count(page, "<!--"), count(empty, "<!--")) << name;
    EXPECT_THAT(data_of(page), Not(HasSubstr("\xE2\x80\xA8")));
    EXPECT_THAT(data_of(page), Not(HasSubstr("\xE2\x80\xA9")));
  }
}

TEST(RenderPage, TheDataReadBackAsTheyWere) {
  const std::string name =
      "</script> <!-- &amp; \xE2\x80\xA8 \xE2\x80\xA9 \xE2\x80\x94 \xE2\x82\xAC \" \\ \n";
  EXPECT_EQ(nlohmann::json::parse(data_of(page_of_kernel(name))).at("title"), name);
}

TEST(RenderPage, TextThatIsCutInsideACharacterIsKept) {
  for (const std::string text : {"\xE2", "\xE2\x80"})
    EXPECT_EQ(data_of(render_report_page(text)), text);
}

TEST(RenderPage, ThePageAsksForNothingFromOutside) {
  const std::string page = render_report_page("{}");
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("<script src")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
  EXPECT_THAT(page, Not(HasSubstr("sourceMappingURL")));
  EXPECT_THAT(page, Not(HasSubstr("@style@")));
}

TEST(RenderPage, ThePageNamesTheLicenceOfVega) {
  EXPECT_THAT(render_report_page("{}"), HasSubstr("UW Interactive Data Lab"));
}

TEST(RenderPage, ThePageWithoutDataIsBelowThreeQuartersOfAMebibyte) {
  EXPECT_LT(render_report_page("{}").size(), 768U * 1024);
}

TEST(RenderPage, TheSameDataGiveTheSamePage) {
  EXPECT_EQ(page_of_kernel("simd"), page_of_kernel("simd"));
}

}  // namespace
}  // namespace attest::reports
