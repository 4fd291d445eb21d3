// Whether what excluded keys hold matters, and whether their scores are finite numbers.
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "probe/experiments.hpp"
#include "probe/hypothesis.hpp"
#include "properties/stored.hpp"

namespace attest::probe {
namespace {

using properties::Outputs;
using properties::StoredInputs;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One way to exclude keys, and the rows that see none of `keys` under any alignment.
struct Way {
  const char* name;
  const char* line;
  std::vector<Index> keys;
  Index seen = 0;  ///< a key that all of these rows see
  Index batch = 0;
  Index rows = 0;  ///< the first ones
};

const std::vector<Way>& ways() {
  static const std::vector<Way> all{
      {"by bits",
       "1x1:3x6:4/3 TYPE LSE scale=0.5 mask=bits:110100/110001/010100 vals=normal:1",
       {2, 4},
       1,
       0,
       3},
      {"by a causal mask",
       "1x1:6x6:4/3 TYPE LSE scale=0.5 mask=causal:tl vals=normal:1",
       {4, 5},
       0,
       0,
       3},
      {"by key lengths", "2x1:3x{6,4}:4/3 TYPE LSE scale=0.5 vals=normal:1", {4, 5}, 0, 1, 3}};
  return all;
}

enum class Where { k, v };

/// Excluded keys hold `number`, padding of a member, too.
Outputs with_excluded(const Subject& subject, const Case& on, const Way& way, Where where,
                      double number) {
  StoredInputs inputs = properties::store(on);
  // Padding is poison in storage, which must not count in the runs without NaN.
  const auto fill = [&](Tensor& tensor, double value) {
    for (const Index key : way.keys)
      for (Index c = 0; c < tensor.extents()[3]; ++c) tensor.set(way.batch, 0, key, c, value);
  };
  fill(inputs.k, where == Where::k ? number : 0.5);
  fill(inputs.v, where == Where::v ? number : 0.5);
  return properties::run_kernel(subject.kernel(), on, inputs);
}

/// The same with another value of a key that the rows do see.
Outputs with_other_value(const Subject& subject, Case on, const Way& way) {
  for (Index c = 0; c < on.v.extents()[3]; ++c)
    on.v.set(way.batch, 0, way.seen, c, on.v.get(way.batch, 0, way.seen, c) + 2);
  return with_excluded(subject, on, way, Where::v, 0.5);
}

bool all_finite(const Way& way, const Outputs& outputs) {
  for (Index query = 0; query < way.rows; ++query)
    for (Index c = 0; c < outputs.out.extents()[3]; ++c)
      if (!std::isfinite(outputs.at({way.batch, 0, query}, c))) return false;
  return true;
}

/// The same number of the same sign, or NaN both.
bool same_bits(double left, double right) {
  if (std::isnan(left) || std::isnan(right)) return std::isnan(left) && std::isnan(right);
  return left == right && std::signbit(left) == std::signbit(right);
}

bool same_rows(const Way& way, const Outputs& left, const Outputs& right) {
  for (Index query = 0; query < way.rows; ++query) {
    const RowIndex row{way.batch, 0, query};
    for (Index c = 0; c < left.out.extents()[3]; ++c)
      if (!same_bits(left.at(row, c), right.at(row, c))) return false;
    if (left.has_lse() && !same_bits(left.lse_at(row), right.lse_at(row))) return false;
  }
  return true;
}

/// A case whose excluded keys hold NaN, as a line; padding holds it anyway.
std::string line_with_nan(Case on, const Way& way, Where where) {
  if (!on.problem.key_lengths.empty()) return line_of(on);
  Tensor& tensor = where == Where::k ? on.k : on.v;
  for (const Index key : way.keys)
    for (Index c = 0; c < tensor.extents()[3]; ++c) tensor.set(way.batch, 0, key, c, kNan);
  properties::becomes_literal(on);
  return line_of(on);
}

Finding leak(const Subject& subject, const Way& way, Where where, const std::string& name) {
  const Result<Case> made = subject.made(way.line);
  if (!made.ok()) return cannot_tell(name, made.status());
  const Case& on = made.value();
  const auto with = [&](double number) { return with_excluded(subject, on, way, where, number); };
  const Outputs base = with(0.5);
  const Outputs again = with(0.5);
  const Outputs other = with(-2);
  const Outputs nan = with(kNan);
  const Outputs infinite = with(kInfinity);
  const Outputs seen = with_other_value(subject, on, way);
  Finding finding = cannot_tell(name, "");
  for (const Outputs* one : {&base, &again, &other, &nan, &infinite, &seen})
    if (!one->status.ok()) finding = cannot_tell(name, one->status);
  finding.experiments = {line_with_nan(on, way, where)};
  if (!finding.reason.empty()) return finding;
  if (!same_rows(way, base, again)) {
    finding.reason = "two runs of one input differ";
    return finding;
  }
  if (!all_finite(way, base) || same_rows(way, base, seen)) {
    finding.reason = "outputs beside finite numbers do not depend on keys that are seen";
    return finding;
  }
  if (!same_rows(way, base, other)) {
    finding.reason = "finite numbers of excluded keys matter as well";
    return finding;
  }
  const bool leaks_nan = !same_rows(way, base, nan);
  const bool leaks_infinity = !same_rows(way, base, infinite);
  finding.sureness = Sureness::certain;
  finding.reason = "the bits of rows that do not see these keys, beside finite numbers in them";
  finding.value = "does not leak";
  if (leaks_nan && leaks_infinity) finding.value = "NaN and inf LEAK";
  if (leaks_nan && !leaks_infinity) finding.value = "NaN LEAKS";
  if (!leaks_nan && leaks_infinity) finding.value = "inf LEAKS";
  return finding;
}

void probe_leaks(const Subject& subject, Where where, const std::string& name, Found& found) {
  std::vector<std::string> names;
  std::vector<Finding> parts;
  for (const Way& way : ways()) {
    names.emplace_back(way.name);
    parts.push_back(leak(subject, way, where, name));
  }
  for (Finding& one : in_one(names, std::move(parts))) found.push_back(std::move(one));
}

/// Mean of v over the keys of a row that `takes` names, in one column.
template <class Takes>
double mean(const Case& on, Index query, Index column, Takes&& takes) {
  double sum = 0;
  Index count = 0;
  for (Index key = 0; key < on.problem.seq_kv; ++key)
    if (takes(on.problem.mask.bits->at(query, key))) sum += on.v.get(0, 0, key, column), ++count;
  return sum / static_cast<double>(count);
}

/// Outputs of all rows are these means, up to the coarsest weights.
template <class Takes>
bool are_means(const Case& on, const Outputs& got, Takes&& takes) {
  for (Index query = 0; query < on.problem.seq_q; ++query)
    for (Index c = 0; c < on.problem.head_dim_v; ++c)
      if (!(std::abs(got.at({0, 0, query}, c) - mean(on, query, c, takes)) < 0x1p-4)) return false;
  return true;
}

/// All visible scores are hugely negative, so that any usual number in their place wins.
void probe_finite_scores(const Subject& subject, Found& found) {
  const std::string name = "score of an excluded key";
  const Result<Case> made = subject.made("1x1:2x6:1/2 TYPE LSE scale=1 mask=bits:110100/010110");
  if (!made.ok()) return found.push_back(cannot_tell(name, made.status()));
  Case on = made.value();
  // f16 holds no larger power of two.
  const double size = subject.dtype() == Dtype::f16 ? 0x1p14
                      : is_fp8(subject.dtype())     ? 64
                                                    : 0x1p60;
  on.q = properties::filled(on.q.dtype(), on.q.extents(),
                            [&](Index, Index, Index, Index) { return -size; });
  on.k = properties::filled(on.k.dtype(), on.k.extents(),
                            [&](Index, Index, Index, Index) { return size; });
  on.v = properties::filled(on.v.dtype(), on.v.extents(), [](Index, Index, Index key, Index c) {
    return c == 0 ? static_cast<double>(key * key) / 8 : key % 2 == 0 ? 1.0 : -2.0;
  });
  properties::becomes_literal(on);
  Finding finding = cannot_tell(name, "the outputs are no mean of visible or excluded keys");
  finding.experiments = {line_of(on)};
  const Outputs got = subject.outputs(on);
  if (!got.status.ok()) {
    Finding stopped = cannot_tell(name, got.status);
    stopped.experiments = finding.experiments;
    return found.push_back(std::move(stopped));
  }
  const std::string below = "-" + number_text(size * size, Dtype::f32);
  const auto tell = [&](std::string value) {
    finding.value = std::move(value);
    finding.sureness = Sureness::certain;
    finding.reason = "visible scores are all " + below;
  };
  if (are_means(on, got, [](bool visible) { return visible; }))
    tell("none, or below " + below);
  else if (are_means(on, got, [](bool visible) { return !visible; }))
    tell("a finite number above " + below);
  else if (are_means(on, got, [](bool) { return true; }))
    tell("its own plus a finite number");
  found.push_back(std::move(finding));
}

}  // namespace

void probe_excluded_keys(const Subject& subject, Found& found) {
  probe_finite_scores(subject, found);
  probe_leaks(subject, Where::k, "excluded k = NaN or inf", found);
  probe_leaks(subject, Where::v, "excluded v = NaN or inf", found);
}

}  // namespace attest::probe
