#include "foreign/plugin_parts.hpp"

#include <limits>

#include "foreign/marshal.hpp"

namespace attest::foreign {
namespace {

/// One row with given scores: q = 1 and k(j, 0) is the score.
Problem row_problem(Dtype dtype, Index head_dim_v, LseForm lse) {
  Problem problem;
  problem.dtype = dtype;
  problem.head_dim_v = head_dim_v;
  problem.scale = {false, 1.0};
  problem.lse = lse;
  return problem;
}

/// A part in memory of its own: `lse` has one or two numbers.
template <class Real>
class PartBuffer {
 public:
  PartBuffer(std::vector<Real> output, std::vector<Real> lse)
      : output_(std::move(output)),
        lse_(std::move(lse)),
        out_tensor_(view(output_)),
        lse_tensor_(view(lse_)),
        part_{sizeof part_, out_tensor_.get(), lse_tensor_.get()} {}
  PartBuffer(const PartBuffer&) = delete;
  PartBuffer& operator=(const PartBuffer&) = delete;

  static std::vector<Real> unwritten(std::size_t size) {
    return std::vector<Real>(size, std::numeric_limits<Real>::quiet_NaN());
  }

  const attest_part& part() const { return part_; }
  const std::vector<Real>& output() const { return output_; }
  Real lse(std::size_t column) const { return lse_[column]; }

 private:
  static TensorRef view(std::vector<Real>& numbers) {
    const Extents extents{1, 1, 1, static_cast<Index>(numbers.size())};
    return {numbers.data(), dtype_of<Real>(), extents, bshd_strides(extents)};
  }

  std::vector<Real> output_, lse_;
  CTensor out_tensor_, lse_tensor_;
  attest_part part_;
};

template <class Real>
PartBuffer<Real> unwritten_part(std::size_t head_dim_v, std::size_t lse_columns) {
  return {PartBuffer<Real>::unwritten(head_dim_v), PartBuffer<Real>::unwritten(lse_columns)};
}

template <class Real>
RowSummary<Real> to_summary(const PartBuffer<Real>& part) {
  return {part.lse(0), part.lse(1), part.output()};
}

template <class Real>
RowSummary<Real> nothing_known(std::size_t head_dim_v) {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  return {nan, nan, std::vector<Real>(head_dim_v, nan)};
}

}  // namespace

template <class Real>
RowSummary<Real> PluginParts<Real>::merge(const Summary& left, const Summary& right) const {
  if (!described_.summary_parts) return SummaryOps<Real>::merge(left, right);
  const std::size_t columns = left.numerator.size();
  const PartBuffer<Real> l(left.numerator, {left.row_max, left.row_sum});
  const PartBuffer<Real> r(right.numerator, {right.row_max, right.row_sum});
  const PartBuffer<Real> merged = unwritten_part<Real>(columns, 2);
  const Problem problem =
      row_problem(dtype_of<Real>(), static_cast<Index>(columns), LseForm::max_sum);
  if (!calls_.merge(problem, l.part(), r.part(), merged.part()).ok())
    return nothing_known<Real>(columns);
  return to_summary(merged);
}

template <class Real>
void PluginParts<Real>::absorb(Summary& summary, Real score, std::span<const Real> value) const {
  if (!described_.summary_parts || !calls_.has_partial())
    return SummaryOps<Real>::absorb(summary, score, value);
  const Dtype dtype = dtype_of<Real>();
  const Problem problem = row_problem(dtype, static_cast<Index>(value.size()), LseForm::max_sum);
  const Real one = 1;
  const auto view = [&](const Real* data, const Extents& extents) {
    return ConstTensorRef{data, dtype, extents, bshd_strides(extents)};
  };
  ForwardViews inputs;
  inputs.q = view(&one, problem.q_extents());
  inputs.k = view(&score, problem.k_extents());
  inputs.v = view(value.data(), problem.v_extents());
  const PartBuffer<Real> key = unwritten_part<Real>(value.size(), 2);
  const bool made = calls_.partial(problem, {0, 1}, inputs, key.part()).ok();
  summary = made ? merge(summary, to_summary(key)) : nothing_known<Real>(value.size());
}

template <class Real>
PartForm PluginParts<Real>::part_form() const {
  const Conventions& means = described_.capabilities.conventions;
  PartForm form;
  if (means.empty_lse == Conventions::EmptyLse::plus_infinity)
    form.empty_lse = std::numeric_limits<double>::infinity();
  form.base_two = means.lse_base == Conventions::LogBase::two;
  return form;
}

template <class Real>
Result<NormalisedRow<Real>> PluginParts<Real>::join_parts(const Row& left, const Row& right) const {
  if (described_.summary_parts) return SummaryOps<Real>::join_parts(left, right);
  const std::size_t columns = left.output.size();
  const PartBuffer<Real> l(left.output, {left.lse});
  const PartBuffer<Real> r(right.output, {right.lse});
  const PartBuffer<Real> joined = unwritten_part<Real>(columns, 1);
  const LseForm form = part_form().base_two ? LseForm::base_two : LseForm::natural;
  const Problem problem = row_problem(dtype_of<Real>(), static_cast<Index>(columns), form);
  if (Status status = calls_.merge(problem, l.part(), r.part(), joined.part()); !status.ok())
    return status;
  return Row{joined.lse(0), joined.output()};
}

template <class Real>
NormalisedRow<Real> PluginParts<Real>::merge_normalised(const Row& left, const Row& right) const {
  const PartForm form = part_form();
  // Into base two and back again would round what no bound of a merge counts.
  if (described_.summary_parts || form.base_two)
    return SummaryOps<Real>::merge_normalised(left, right);
  const Result<Row> joined = join_parts(encode_part(left, form), encode_part(right, form));
  const Result<Row> natural = joined.ok() ? decode_part(joined.value(), form) : joined;
  if (natural.ok()) return natural.value();
  const Summary unknown = nothing_known<Real>(left.output.size());
  return {unknown.row_max, unknown.numerator};
}

template class PluginParts<float>;
template class PluginParts<double>;

}  // namespace attest::foreign
