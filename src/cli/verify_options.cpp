#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

namespace attest::cli {

void add_verify(CLI::App& app, VerifyOptions& options) {
  CLI::App* const verify =
      app.add_subcommand("verify", "check tensors that somebody dumped; no kernel is needed");
  verify
      ->add_option("DUMP", options.dump,
                   "a .safetensors file, .npy files (q.npy, out.npy ...), or a folder of such")
      ->required();
  verify->add_option("--problem", options.problem,
                     "problem text, instead of that of the metadata or of problem.txt");
  verify->add_option("--acc", options.accumulators, "type of the kernel's accumulators (f32)");
  verify->add_option("--p", options.weights,
                     "type of P before it multiplies v (that of v, if it is narrow)");
  verify->add_option("--exp-ulp", options.exp_ulp, "largest error of the kernel's exp, in ulp (2)")
      ->check(CLI::Range(0.0, 1e6));
  verify->add_option("--rows", options.rows, "rows to judge, drawn at random; 0 = all (0)")
      ->check(CLI::NonNegativeNumber);
  verify->add_option("--save", options.save,
                     "folder to save the case of a violation in (cases in that of --out)");
  verify->add_option("--out", options.out,
                     "folder for run.jsonl, report.html and summary.md (none; attest-out/TIME with "
                     "--format)");
  verify->add_option(
      "--format", options.formats,
      "text, jsonl, md, accuracy, json, junit, sarif, csv or html, to standard output or as "
      "NAME=FILE; may be repeated");
  verify->add_option("-j,--jobs", options.jobs, "threads; 0 = one a core; they change no result")
      ->check(CLI::Range(0, 1024));
}

}  // namespace attest::cli
