#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "reports/report.hpp"
#include "reports/test_models.hpp"

namespace attest::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CheckMarkdown, PassedRun) {
  CheckReport report = test::failed_check();
  report.laws = {test::row("bound.out", 600)};
  report.violations.clear();
  EXPECT_EQ(render_check_markdown(report), R"(# attest check `builtin:tiled`

declares `f32 | causal br | lse ln`

**PASSED** `600 cases  48 s  2 jobs  seed 0x5EED1A77  attest-out/one`

| property | cases | ok | weak | unproven | skipped | fail | worst err/bound | at |
| --- | --: | --: | --: | --: | --- | --: | --: | --- | --- |
| `bound.out` | 600 | 600 | 0 | 0 | 0 | 0 | - |  |

`mask causal 38 %, Lq=1 17 %`

## Environment

| name | value |
| --- | --- |
| `cpu` | `a \| b` |
| `compiler` | `g++ 12` |
)");
}

TEST(CheckMarkdown, FailureIsFolded) {
  const std::string text = render_check_markdown(test::failed_check());
  EXPECT_THAT(text, HasSubstr("<details><summary><code>law.window</code> case 57: "
                              "<code>2x8/2:97x1025:64 f32 mask=causal:br</code></summary>\n\n"
                              "```\nFAIL law.window  case 57  seed 0x5EED1A77\n"));
  EXPECT_THAT(text, HasSubstr("cases/9f3c1d\n```\n\n</details>\n"));
}

TEST(CheckMarkdown, ListIsCutAtFifty) {
  CheckReport report = test::failed_check();
  report.violations.assign(50, test::violation());
  EXPECT_THAT(render_check_markdown(report), Not(HasSubstr(" more\n")));
  report.violations.assign(53, test::violation());
  const std::string text = render_check_markdown(report);
  EXPECT_THAT(text, HasSubstr("</details>\n\n3 more\n"));
  std::size_t blocks = 0;
  for (std::size_t at = text.find("<details>"); at != std::string::npos;
       at = text.find("<details>", at + 1)) {
    ++blocks;
  }
  EXPECT_EQ(blocks, 50U);
}

TEST(CheckMarkdown, HostileStringsStayInside) {
  CheckReport report = test::failed_check();
  report.kernel = test::kHostile;
  report.laws[1].law = test::kHostile;
  report.violations[0].found.law = test::kHostile;
  report.violations[0].found.problem = "```\n# not a title";
  const std::string text = render_check_markdown(report);
  EXPECT_THAT(text, HasSubstr("# attest check ``a|b<c>&\"\\n`\\x01\\xFF``\n"));
  EXPECT_THAT(text, HasSubstr("\n| ``a\\|b<c>&\"\\n`\\x01\\xFF`` | 120 |"));
  EXPECT_THAT(text, HasSubstr("<summary><code>a|b&lt;c&gt;&amp;&quot;\\n`\\x01\\xFF</code>"));
  EXPECT_THAT(text, HasSubstr("\n````\nFAIL a|b<c>"));
  EXPECT_THAT(text, Not(HasSubstr("\n# not a title")));
}

TEST(AccuracyMarkdown, SummaryTensorsEnvironment) {
  EXPECT_EQ(render_accuracy_markdown(test::accuracy()),
            R"(# Accuracy on real tensors

| kernel | dtype | worst error | err/bound | lse error | lse err/bound | ulp median | ulp p99 | ulp max | twin ratio | outputs | violations | worst tensor |
| --- | --- | --- | --- | --- | --- | --: | --: | --: | --- | --: | --: | --- |
| `plain` | `f32` | 1.2e-7 | 0.75 | 6.0e-8 | 0.25 | 0.20 | 0.49 | 230 | 1.25 | 128 | 0 | `layer1` |
| `tiled` | `f32` | 1.2e-7 | 0.125 | 6.0e-8 | 0.25 | 0.20 | 0.49 | 1.50 | - | 64 | 0 | `layer0` |

ulp: units in the last place of the correctly rounded result; twin ratio: largest error over that of the plain evaluation in the same dtype; each the largest over tensors and tilings

2 kernels  2 tensors  192 outputs  0 violations  3.2 s

## `layer0`

| kernel | problem | worst error | err/bound | lse error | lse err/bound | ulp median | ulp p99 | ulp max | twin ratio | outputs | violations | worst element |
| --- | --- | --- | --- | --- | --- | --: | --: | --: | --- | --: | --: | --- |
| `plain` | `1x2:8x8:4 f32 tile=4x4` | 1.2e-7 | 0.5 | 6.0e-8 | 0.25 | 0.20 | 0.49 | 1.50 | 0.5 | 64 | 0 | `out[0,1,7,3]` |
| `tiled` | `1x2:8x8:4 f32 tile=4x4` | 1.2e-7 | 0.125 | 6.0e-8 | 0.25 | 0.20 | 0.49 | 1.50 | - | 64 | 0 | `out[0,1,7,3]` |

## `layer1`

| kernel | problem | worst error | err/bound | lse error | lse err/bound | ulp median | ulp p99 | ulp max | twin ratio | outputs | violations | worst element |
| --- | --- | --- | --- | --- | --- | --: | --: | --: | --- | --: | --: | --- |
| `plain` | `1x2:8x8:4 f32 tile=4x4` | 1.2e-7 | 0.75 | 6.0e-8 | 0.25 | 0.20 | 0.49 | 230 | 1.25 | 64 | 0 | `out[0,1,7,3]` |

## Environment

| name | value |
| --- | --- |
| `cpu` | `a \| b` |
)");
}

TEST(AccuracyMarkdown, ChecksComeLast) {
  AccuracyReport report = test::accuracy();
  report.checks = {test::failed_check()};
  EXPECT_THAT(render_accuracy_markdown(report),
              HasSubstr("\n## Checks on generated cases\n\n### `builtin:tiled`\n\n**FAILED** "
                        "`1 violation in 820 cases"));
}

}  // namespace
}  // namespace attest::reports
