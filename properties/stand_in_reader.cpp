#include "properties/stand_in_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "properties/judge.hpp"

namespace attest::properties {

double capped(double score, double softcap) {
  return softcap == 0 ? score : softcap * std::tanh(score / softcap);
}

StandInReader::StandInReader(const Case& of, const RowIndex& row)
    : StandInReader(of, row, of.problem.kv_head(row.head)) {}

StandInReader::StandInReader(const Case& of, const RowIndex& row, Index kv_head)
    : of_(of), row_(row), kv_head_(kv_head), inputs_(inputs_of(of)), reader_(inputs_) {
  reader_.append_query(row, query_);
}

double StandInReader::product(Index key) const {
  std::vector<double> numbers;
  reader_.append_key(row_.batch, kv_head_, key, numbers);
  double dot = 0;
  for (std::size_t c = 0; c < query_.size(); ++c) dot += query_[c] * numbers[c];
  return dot * scale_value(of_.problem);
}

std::vector<double> StandInReader::value(Index key) const {
  std::vector<double> numbers;
  reader_.append_value(row_.batch, kv_head_, key, numbers);
  return numbers;
}

double StandInReader::score(Index key) const {
  double before = product(key);
  double after = 0;
  for (const ScoreAddend& addend : reader_.addends(row_, {key}))
    (addend.before_softcap ? before : after) += addend.value[0];
  return capped(before, of_.problem.softcap) + after;
}

std::optional<std::vector<double>> StandInReader::output(const std::vector<Index>& keys) const {
  std::vector<double> output(static_cast<std::size_t>(of_.problem.head_dim_v), 0.0);
  if (keys.empty()) return output;
  std::vector<double> scores;
  for (const Index key : keys) scores.push_back(score(key));
  const auto sink = reader_.sink(row_.head);
  double largest = sink.value_or(-std::numeric_limits<double>::infinity());
  for (const double one : scores) {
    if (!std::isfinite(one)) return std::nullopt;
    largest = std::max(largest, one);
  }
  double sum = sink ? std::exp(*sink - largest) : 0;
  for (std::size_t j = 0; j < keys.size(); ++j) {
    const double weight = std::exp(scores[j] - largest);
    const std::vector<double> v = value(keys[j]);
    sum += weight;
    for (std::size_t c = 0; c < output.size(); ++c) {
      if (!std::isfinite(v[c])) return std::nullopt;
      output[c] += weight * v[c];
    }
  }
  for (double& number : output) number /= sum;
  return output;
}

}  // namespace attest::properties
