#include "properties/generate_rapidcheck.hpp"

#include <ostream>

#include "properties/random_parts.hpp"
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

using Keeps = bool (*)(const Case& from, const Case& candidate);

/// A case that is drawn by `draw_one`, and simpler ones that keep what must stay.
template <class DrawOne>
rc::Gen<Case> shrinking(DrawOne draw_one, Keeps keeps) {
  const auto simpler_cases = [keeps](const Case& from) {
    std::vector<Case> simpler;
    visit_simpler_cases(from, [&](Case&& candidate) {
      if (keeps(from, candidate)) simpler.push_back(std::move(candidate));
      return false;
    });
    return rc::seq::fromContainer(std::move(simpler));
  };
  return [draw_one, simpler_cases](const rc::Random& random, int) -> rc::Shrinkable<Case> {
    RapidCheckDraw draw(random);
    return rc::shrinkable::shrinkRecur(draw_one(draw), simpler_cases);
  };
}

}  // namespace

rc::Gen<Case> arbitrary_case(const CaseLimits& limits) {
  return shrinking([limits](Draw& draw) { return draw_case(draw, limits); },
                   [](const Case&, const Case&) { return true; });
}

rc::Gen<Problem> arbitrary_problem(const CaseLimits& limits) {
  return rc::gen::map(
      shrinking([limits](Draw& draw) { return draw_case(draw, limits); },
                [](const Case& from, const Case& to) { return from.problem != to.problem; }),
      [](Case&& of) { return std::move(of.problem); });
}

rc::Gen<Tiling> arbitrary_tiling(Index seq_kv) {
  return [seq_kv](const rc::Random& random, int) -> rc::Shrinkable<Tiling> {
    RapidCheckDraw draw(random);
    return rc::shrinkable::shrinkRecur(draw_tiling(draw, seq_kv), [](const Tiling& from) {
      std::vector<Tiling> simpler;
      const auto without = [&](auto Tiling::*part) {
        Tiling candidate = from;
        candidate.*part = Tiling{}.*part;
        if (candidate != from) simpler.push_back(std::move(candidate));
      };
      without(&Tiling::splits);
      without(&Tiling::merge);
      without(&Tiling::tile_q);
      without(&Tiling::tile_kv);
      return rc::seq::fromContainer(std::move(simpler));
    });
  };
}

rc::Gen<Case> arbitrary_values(const Problem& problem, const Tiling& tiling) {
  return shrinking(
      [problem, tiling](Draw& draw) {
        Case of;
        of.problem = problem;
        of.tiling = tiling;
        draw_values(draw, {}, of);
        return of;
      },
      [](const Case& from, const Case& to) {
        return from.problem == to.problem && from.tiling == to.tiling;
      });
}

void showValue(const Case& value, std::ostream& stream) {
  stream << minimal_text(to_text(value));
}

}  // namespace attest::properties

namespace attest {

void showValue(const Problem& value, std::ostream& stream) {
  ProblemText text;
  text.problem = value;
  stream << minimal_text(text);
}

void showValue(const Tiling& value, std::ostream& stream) {
  const ProblemText without;
  ProblemText with;
  with.tiling = value;
  const std::size_t begin = minimal_text(without).size();
  stream << "tiling:" << minimal_text(with).substr(begin);
}

}  // namespace attest
