// The exact rows of a choice, computed on several threads.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "properties/in_parallel.hpp"
#include "properties/judge.hpp"

namespace attest::properties {

/// A few rows at a time, handed out in order. All arguments are kept by reference.
class ExactRows {
 public:
  ExactRows(const Truth& truth, const Outputs& outputs, const RowChoice& choice)
      : truth_(truth), outputs_(outputs), choice_(choice), audits_(choice.audits) {}

  std::optional<reference::CertifiedRow> at(std::size_t place) {
    if (place >= begin_ + block_.size()) compute(place);
    std::optional<reference::CertifiedRow> exact = std::move(block_[place - begin_]);
    const RowIndex& row = choice_.rows[place];
    if (audits_ == 0 || !exact || share_of_bound(*exact, row, outputs_) < kNearBound) return exact;
    --audits_;
    return truth_.row(row, outputs_);
  }

 private:
  void compute(std::size_t begin) {
    const std::size_t most = choice_.jobs > 1 ? 4 * static_cast<std::size_t>(choice_.jobs) : 1;
    begin_ = begin;
    block_.assign(std::min(most, choice_.rows.size() - begin), std::nullopt);
    in_parallel(static_cast<Index>(block_.size()), choice_.jobs, [&](Index i) {
      const auto at = static_cast<std::size_t>(i);
      block_[at] = truth_.row(choice_.rows[begin + at]);
    });
  }

  const Truth& truth_;
  const Outputs& outputs_;
  const RowChoice& choice_;
  Index audits_;
  std::size_t begin_ = 0;
  std::vector<std::optional<reference::CertifiedRow>> block_;
};

}  // namespace attest::properties
