// Every law of the forward pass, on small cases (fuzz/law_target.hpp).
#include "fuzz/law_target.hpp"
#include "properties/random_case.hpp"

using namespace attest;

const fuzz::LawTarget& fuzz::law_target() {
  static const LawTarget target{
      [](const properties::Law& law) { return !law.name.starts_with("gradient."); },
      [](const Kernel&) { return true; }, properties::draw_case};
  return target;
}
