#include "reports/measured_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/escape.hpp"
#include "reports/numbers.hpp"

namespace attest::reports {
namespace {

std::string kind_text(const BitEquality& sum) {
  const std::string kind = plain_text(sum.kind);
  if (sum.equal + sum.differ == 0) return kind + " -";
  if (sum.differ == 0) return kind + " equal";
  return fmt::format("{} {} of {} differ ({})", kind, sum.differ,
                     count_text(sum.equal + sum.differ, "case"),
                     sum.required ? "must be equal" : "not required");
}

}  // namespace

std::string power_line(const std::vector<PowerCount>& counts) {
  std::int64_t trials = 0;
  std::int64_t accepted = 0;
  for (const PowerCount& count : counts) {
    trials += count.trials;
    accepted += count.accepted;
  }
  if (trials == 0) return {};
  // Rounded down: 100 % is none.
  const double refused = static_cast<double>(trials - accepted) / static_cast<double>(trials);
  return fmt::format("power {:.1f} %: {} of {} accept/reject {} would have let a stand-in pass\n",
                     std::floor(1000 * refused) / 10, accepted, trials,
                     trials == 1 ? "trial" : "trials");
}

std::string accepted_lines(const std::vector<PowerCount>& counts) {
  std::vector<PowerCount> accepted;
  for (const PowerCount& count : counts)
    if (count.accepted > 0) accepted.push_back(count);
  const auto share = [](const PowerCount& count) {
    return static_cast<double>(count.accepted) / static_cast<double>(count.trials);
  };
  std::stable_sort(
      accepted.begin(), accepted.end(),
      [&](const PowerCount& left, const PowerCount& right) { return share(left) > share(right); });
  std::string lines;
  for (const PowerCount& count : accepted)
    lines +=
        fmt::format("  {:<10} would accept {:<30} in {} of {}\n", plain_text(count.law),
                    plain_text(count.stand_in), count.accepted, count_text(count.trials, "case"));
  return lines;
}

std::string bits_line(const std::vector<BitEquality>& rows) {
  std::vector<BitEquality> sums;
  for (const BitEquality& row : rows) {
    auto found = std::find_if(sums.begin(), sums.end(),
                              [&](const BitEquality& sum) { return sum.kind == row.kind; });
    if (found == sums.end()) found = sums.insert(found, {{}, {}, row.kind, 0, 0, false, {}});
    found->equal += row.equal;
    found->differ += row.differ;
    found->required = found->required || row.required;
  }
  std::string line;
  for (const BitEquality& sum : sums) line += (line.empty() ? "bits  " : " | ") + kind_text(sum);
  return line.empty() ? line : line + '\n';
}

}  // namespace attest::reports
