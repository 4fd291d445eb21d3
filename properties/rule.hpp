// By what bound.out and bound.lse compare: the derived bound, or a rule of a user that replaces it
// for a run. What such a rule would let pass is counted with the same stand-ins.
#pragma once

#include <string>
#include <string_view>

#include "attest/problem_text.hpp"
#include "properties/case.hpp"
#include "reference/oracle.hpp"

namespace attest::properties {

struct ComparisonRule {
  enum class Kind {
    bound,      ///< the derived one
    twin,       ///< error <= factor * the largest error of the twin (properties/twin.hpp)
    tolerance,  ///< error <= absolute + relative * |exact|, as allclose
  };
  Kind kind = Kind::bound;
  double factor = 0;
  double absolute = 0;
  double relative = 0;

  friend bool operator==(const ComparisonRule&, const ComparisonRule&) = default;
};

/// "bound", "twin:2", "abs:1e-2,rel:1e-2" (one of the two, or both). False, and where, otherwise.
bool parse_rule(std::string_view text, ComparisonRule& rule, TextError& error);
std::string to_text(const ComparisonRule& rule);

/// While an object of this class lives, bound.out and bound.lse of the whole process go by its
/// rule. Objects do not nest, and no law may run when one is made or destroyed.
class RuleInForce {
 public:
  explicit RuleInForce(const ComparisonRule& rule);
  RuleInForce(const RuleInForce&) = delete;
  RuleInForce& operator=(const RuleInForce&) = delete;
  ~RuleInForce();
};

/// The limits of the rule in force in the place of a row's own. Rows that see no key keep theirs,
/// and so does the lse under a twin, which has none.
class Limits {
 public:
  /// Under a twin all rows of the case are evaluated.
  explicit Limits(const Case& of);

  reference::CertifiedRow apply(reference::CertifiedRow row) const;
  bool overrides() const { return rule_.kind != ComparisonRule::Kind::bound; }

 private:
  ComparisonRule rule_;
  double twin_error_ = 0;
};

}  // namespace attest::properties
