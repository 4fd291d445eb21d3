#include "properties/generate_rapidcheck.hpp"

#include <ostream>

#include "properties/shrink.hpp"

namespace attest::properties {
namespace {

/// Choices from RapidCheck's own random source, so that RC_PARAMS seeds them.
class RapidCheckDraw : public Draw {
 public:
  explicit RapidCheckDraw(const rc::Random& random) : random_(random) {}
  std::uint64_t below(std::uint64_t bound) override {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(random_.next()) * bound) >> 64);
  }

 private:
  rc::Random random_;
};

rc::Seq<Case> simpler_cases(const Case& from) {
  std::vector<Case> simpler;
  visit_simpler_cases(from, [&](Case&& candidate) {
    simpler.push_back(std::move(candidate));
    return false;
  });
  return rc::seq::fromContainer(std::move(simpler));
}

}  // namespace

rc::Gen<Case> arbitrary_case(const CaseLimits& limits) {
  return [limits](const rc::Random& random, int) -> rc::Shrinkable<Case> {
    RapidCheckDraw draw(random);
    return rc::shrinkable::shrinkRecur(draw_case(draw, limits),
                                       [](const Case& from) { return simpler_cases(from); });
  };
}

void showValue(const Case& value, std::ostream& stream) {
  stream << minimal_text(to_text(value));
}

}  // namespace attest::properties
