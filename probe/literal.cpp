#include "probe/literal.hpp"

#include <utility>

namespace attest::probe {

Result<Case> literal(const Subject& subject, const std::string& line, const Numbers& numbers) {
  Result<Case> made = subject.made(line);
  if (!made.ok()) return made;
  Case on = std::move(made).value();
  const auto fill = [](Tensor& tensor, const ElementRule& rule) {
    tensor = properties::filled(
        tensor.dtype(), tensor.extents(),
        rule ? rule : [](Index, Index, Index, Index) { return 0.0; });
  };
  fill(on.q, numbers.q);
  fill(on.k, numbers.k);
  fill(on.v, numbers.v);
  properties::becomes_literal(on);
  return on;
}

}  // namespace attest::probe
