#include <fmt/core.h>

#include <cmath>

#include "cli/bound_render.hpp"
#include "cli/commands.hpp"
#include "cli/inputs.hpp"

namespace attest::cli {
namespace {

/// What people write when nobody tells them what is normal.
const std::vector<Tolerance> kUsualTolerances{{1e-2, 0}, {1e-3, 0}, {1e-5, 0}};

std::vector<Tolerance> tolerances(const BoundOptions& options) {
  if (!options.atol && !options.rtol) return kUsualTolerances;
  return {{options.atol.value_or(0), options.rtol.value_or(0)}};
}

/// The case of the line, with other values of the same family if a seed is given.
Result<properties::Case> make_problem(const BoundOptions& options,
                                      const tensors::TensorLibrary* library) {
  auto given = parse_given(options.problem, library);
  if (!given.ok()) return given.status();
  properties::Case made = std::move(given).value().value;
  if (options.seed.empty()) return made;
  if (made.values.kind == ValueRecipe::Kind::literal)
    return invalid_argument("--seed has no meaning beside the numbers of vals=lit:");
  const auto seed = parse_seed(options.seed);
  if (!seed.ok()) return seed.status();
  ProblemText text = properties::to_text(made);
  text.values.seed = seed.value();
  return properties::make_case(text, library);
}

}  // namespace

int bound_command(const BoundOptions& options) {
  if (options.format != "text" && options.format != "json")
    return usage("unknown format '" + options.format + "'; known: text, json");
  for (const auto& [name, value] : {std::pair{"--atol", options.atol}, {"--rtol", options.rtol}})
    if (value && !std::isfinite(*value)) return usage(std::string(name) + " must be finite");
  const auto library = open_tensors(options.tensors);
  if (!library.ok()) return usage(library.status().message());
  const Result<const Kernel*> kernel = find_kernel(options.kernel);
  if (!kernel.ok()) return usage(kernel.status().message());
  auto made = make_problem(options, library.value().get());
  if (!made.ok()) return usage(made.status().message());
  properties::Case& on = made.value();
  // The lse is looked at even where the line does not ask for it.
  if (on.problem.lse == LseForm::none && kernel.value()->description().capabilities.lse)
    on.problem.lse = LseForm::natural;

  const auto findings = run_bound(
      {kernel.value(), &on, tolerances(options), options.rows, resolve_jobs(options.jobs)});
  if (!findings.ok()) {
    const int code = usage(findings.status().message());
    if (findings.status().code() == StatusCode::kernel_failed) return kernel_crashed;
    return findings.status().code() == StatusCode::undecided ? undecided : code;
  }
  const BoundTitle title{kernel.value()->description().name, minimal_text(properties::to_text(on)),
                         std::string(to_string(on.problem.out_dtype()))};
  const auto render = options.format == "json" ? render_bound_json : render_bound_text;
  fmt::print("{}", render(title, findings.value()));
  const BoundFindings& found = findings.value();
  if (found.violated)
    fmt::print(stderr, "attest: {} is beyond its bound: attest check {} '{}'\n", title.kernel,
               title.kernel, title.problem);
  return found.violated ? violation : all_good;
}

}  // namespace attest::cli
