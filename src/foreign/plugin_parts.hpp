// Merges of a plug-in as the laws of partial results call them.
#pragma once

#include "foreign/calls.hpp"
#include "foreign/description.hpp"

namespace attest::foreign {

/// Parts (out, lse): join_parts, and merge_normalised where the lse is natural, are the plug-in's.
/// Parts (numerator, max, row_sum): absorb and merge are. The rest stays as in SummaryOps. A call
/// that fails gives NaN where there is no status.
template <class Real>
class PluginParts : public SummaryOps<Real> {
 public:
  using Summary = RowSummary<Real>;
  using Row = NormalisedRow<Real>;

  /// Both arguments are kept by reference.
  PluginParts(const ForeignCalls& calls, const Described& described)
      : calls_(calls), described_(described) {}

  void absorb(Summary& summary, Real score, std::span<const Real> value) const override;
  Summary merge(const Summary& left, const Summary& right) const override;
  Row merge_normalised(const Row& left, const Row& right) const override;
  PartForm part_form() const override;
  Result<Row> join_parts(const Row& left, const Row& right) const override;

 private:
  const ForeignCalls& calls_;
  const Described& described_;
};

extern template class PluginParts<float>;
extern template class PluginParts<double>;

}  // namespace attest::foreign
