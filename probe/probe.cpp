#include "probe/probe.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "probe/experiments.hpp"
#include "probe/hypothesis.hpp"

namespace attest::probe {
namespace {

/// Findings whose words make the suggested problem.
constexpr std::array<std::string_view, 4> kWordGivers{"lse base", "causal, bottom-right asked",
                                                      "empty row, out", "scale, none asked"};

const Finding* find(const Found& found, std::string_view name) {
  for (const Finding& one : found)
    if (one.name == name) return &one;
  return nullptr;
}

std::string suggested(const Subject& subject, const Found& found) {
  std::string text = "1x4/2:5x9:16 " + std::string(to_string(subject.dtype()));
  for (const std::string_view name : kWordGivers) {
    const Finding* const one = find(found, name);
    if (one == nullptr || one->words.empty()) continue;
    const std::string key = one->words.substr(0, one->words.find('=') + 1);
    if (text.find(" " + key) != std::string::npos) continue;
    text += " " + one->words;
    if (name != "empty row, out" || one->words != "empty=zero") continue;
    const Finding* const lse = find(found, "empty row, lse");
    if (lse != nullptr && !lse->words.empty())
      text.replace(text.size() - one->words.size(), one->words.size(), lse->words);
  }
  return text;
}

}  // namespace

Findings probe_kernel(const Kernel& kernel, std::optional<Dtype> dtype) {
  Subject subject(kernel, dtype);
  Findings all{kernel.description().name, {}, ""};
  if (!subject.status().ok()) {
    all.findings.push_back(cannot_tell("a call at all", subject.status()));
    return all;
  }
  probe_arithmetic(subject, all.findings);
  const Found of_arithmetic = std::move(all.findings);
  all.findings.clear();
  probe_lse(subject, all.findings);
  probe_empty_rows(subject, all.findings);
  probe_masks(subject, all.findings);
  probe_parts_of_masks(subject, all.findings);
  probe_head_map(subject, all.findings);
  probe_scale(subject, all.findings);
  probe_softcap(subject, all.findings);
  probe_alibi(subject, all.findings);
  probe_sink(subject, all.findings);
  probe_inputs(subject, all.findings);
  probe_storage(subject, all.findings);
  probe_gradients(subject, all.findings);
  probe_excluded_keys(subject, all.findings);
  probe_written_rows(subject, all.findings);
  all.findings.insert(all.findings.end(), of_arithmetic.begin(), of_arithmetic.end());
  probe_sums(subject, all.findings);
  probe_tiles(subject, all.findings);
  all.suggested = suggested(subject, all.findings);
  return all;
}

}  // namespace attest::probe
