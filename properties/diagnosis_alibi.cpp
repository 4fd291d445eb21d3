// Mistakes in attention with linear biases: form, corner, slopes.
#include <cmath>
#include <utility>

#include "attest/element.hpp"
#include "properties/diagnosis_alternatives.hpp"

namespace attest::properties {
namespace {

bool no_alibi(Case& of, Index) {
  const bool had = of.problem.alibi.has_value();
  of.problem.alibi.reset();
  of.problem.order.alibi_before_softcap = false;
  return had;
}
bool alibi_from_top_left(Case& of, Index) {
  auto& alibi = of.problem.alibi;
  return alibi && std::exchange(alibi->alignment, Causal::Alignment::top_left) !=
                      Causal::Alignment::top_left;
}
bool alibi_from_bottom_right(Case& of, Index) {
  auto& alibi = of.problem.alibi;
  return alibi && std::exchange(alibi->alignment, Causal::Alignment::bottom_right) !=
                      Causal::Alignment::bottom_right;
}
bool relative_alibi_by_column(Case& of, Index) {
  auto& alibi = of.problem.alibi;
  if (!alibi || alibi->form != Alibi::Form::relative) return false;
  alibi->form = Alibi::Form::column;
  return true;
}
template <Alibi::Form form>
bool alibi_of_form(Case& of, Index) {
  auto& alibi = of.problem.alibi;
  return alibi && std::exchange(alibi->form, form) != form;
}
/// Gives every head the slope slope_of(problem, head).
template <class Slope>
bool with_slopes(Case& of, const Slope& slope_of) {
  auto& alibi = of.problem.alibi;
  if (!alibi) return false;
  std::vector<double> slopes;
  bool differs = false;
  for (Index h = 0; h < of.problem.heads_q; ++h) {
    slopes.push_back(rounded_to(Dtype::f32, slope_of(of.problem, h)));
    differs = differs || slopes.back() != alibi_slope(of.problem, h);
  }
  alibi->slopes = std::move(slopes);
  return differs;
}
bool alibi_sign(Case& of, Index) {
  return with_slopes(of, [](const Problem& problem, Index h) { return -alibi_slope(problem, h); });
}
bool alibi_of_first_head(Case& of, Index) {
  return with_slopes(of, [](const Problem& problem, Index) { return alibi_slope(problem, 0); });
}
bool alibi_half(Case& of, Index) {
  return with_slopes(of, [](const Problem&, Index) { return 0.5; });
}
bool alibi_of_one_sequence(Case& of, Index) {
  return with_slopes(of, [](const Problem& problem, Index h) {
    return std::exp2(-8 * static_cast<double>(h + 1) / static_cast<double>(problem.heads_q));
  });
}

}  // namespace

void append_alibi_alternatives(Alternatives& to) {
  to.push_back(other_problem("ALiBi forgotten", "ALiBi adds nothing", {no_alibi}));
  to.push_back(other_problem("ALiBi from top left",
                             "distances are measured from the top left corner",
                             {alibi_from_top_left}));
  to.push_back(other_problem("ALiBi from bottom right",
                             "distances are measured from the bottom right corner",
                             {alibi_from_bottom_right}));
  to.push_back(other_problem("ALiBi by column", "ALiBi adds slope * key",
                             {alibi_of_form<Alibi::Form::column>, relative_alibi_by_column}));
  to.push_back(other_problem("ALiBi without sign of distance", "ALiBi adds -slope * |distance|",
                             {alibi_of_form<Alibi::Form::absolute>}));
  to.push_back(other_problem("ALiBi with sign of distance", "ALiBi adds -slope * distance",
                             {alibi_of_form<Alibi::Form::relative>}));
  to.push_back(other_problem("ALiBi sign", "slopes have the other sign", {alibi_sign}));
  to.push_back(other_problem("one ALiBi slope", "every head has the same slope",
                             {alibi_of_first_head, alibi_half}));
  to.push_back(other_problem("ALiBi slopes of one sequence",
                             "slopes are 2^(-8 (h + 1) / H), though H is no power of two",
                             {alibi_of_one_sequence}));
}

}  // namespace attest::properties
