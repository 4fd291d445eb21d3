// Bytes choose a kernel, a law and a case; a violation aborts with the line that replays it.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <span>

#include "attest/problem_text.hpp"
#include "fuzz/bytes_draw.hpp"
#include "kernels/registry.hpp"
#include "properties/check.hpp"

using namespace attest;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::BytesDraw draw({data, size});
  const auto kernels = kernels::builtin_kernels();
  const Kernel& kernel = *kernels[draw.below(kernels.size())];
  const properties::Law& law = draw.one_of(properties::laws());
  const properties::Case drawn =
      properties::draw_case(draw, properties::limits_for(kernel, nullptr));

  const Verdict verdict = properties::check_case(kernel, law, drawn);
  if (!is_violation(verdict.outcome)) return 0;
  std::cerr << law.name << ": " << to_string(verdict.outcome) << ": " << verdict.reason << "\n"
            << "attest replay " << kernel.description().name << " '"
            << minimal_text(properties::to_text(drawn, law.name)) << "'\n";
  std::abort();
}
