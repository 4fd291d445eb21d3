#include "cli/dump_case.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "attest/storage.hpp"
#include "cli/dump_shape.hpp"
#include "properties/stored.hpp"

namespace attest::cli {
namespace {

class DumpMaker {
 public:
  DumpMaker(const DumpFiles& files, const ProblemText& text)
      : files_(files), problem_(text.problem), tiling_(text.tiling) {}

  Result<Dump> make() {
    settle_problem();
    if (status_.ok()) status_ = properties::check_size(problem_);
    if (!status_.ok()) return status_;
    dump_.value.problem = problem_;
    dump_.value.tiling = tiling_;
    properties::becomes_literal(dump_.value);
    read_inputs();
    read_outputs();
    if (problem_.backward) read_gradients();
    if (!status_.ok()) return status_;
    properties::share_values(dump_.value);
    return std::move(dump_);
  }

 private:
  bool has(std::string_view name) const { return files_.find(name) != nullptr; }
  void fail(const std::string& what) {
    if (status_.ok()) status_ = invalid_argument(files_.label + ": " + what);
  }
  void expect(std::string_view name, bool wanted, const std::string& words) {
    if (has(name) != wanted)
      fail(wanted ? "the problem text asks for '" + std::string(name) + "', the dump has none"
                  : "the dump has '" + std::string(name) + "', the problem text does not say " +
                        words);
  }

  /// What the dump does not have is not asked for; what the text does not say is refused.
  void settle_problem() {
    for (const char* const name : {"q", "k"}) expect(name, true, "");
    expect("v", !problem_.v_is_k_view, "that v is anything but a view of k");
    expect("bias", problem_.bias.has_value(), "bias=");
    expect("sink", problem_.sink && !problem_.sink->zero, "sink=head");
    expect("qv", problem_.qv, "qv=yes");
    const bool gradients = has("dq") || has("dk") || has("dv") || has("dbias") || has("dsink");
    if (!problem_.backward && gradients)
      fail("the dump has gradients; add bwd=dq,dk,dv to the problem text");
    if (problem_.backward) {
      expect("dout", true, "");
      expect("dlse", problem_.backward->dlse, "dlse in bwd=");
    }
    if (has("dbias") && problem_.backward && !problem_.backward->dbias)
      fail("the dump has 'dbias', the problem text does not say dbias in bwd=");
    if (has("dsink") && problem_.backward && !problem_.backward->dsink)
      fail("the dump has 'dsink', the problem text does not say dsink in bwd=");
    if (has("lse") && problem_.lse == LseForm::none)
      fail("the dump has 'lse'; say lse=ln, lse=log2 or lse=max_sum in the problem text");
    if (!has("lse") && problem_.lse != LseForm::none) {
      dump_.notes.push_back("no lse in the dump: it is not checked");
      problem_.lse = LseForm::none;
    }
    if (!has("out") && !has("lse") && !gradients)
      fail("nothing to check: the dump has none of out, lse and gradients");
    if (problem_.layout.row_padding != 0 || problem_.layout.column_stride != 1)
      fail("an array of a dump is dense: leave pad= and col= out of the layout");
  }

  /// Rows in the storage of the problem.
  ExpectedTensor rows(Index columns, Dtype dtype) const {
    return {stored_q_extents(problem_, columns), dtype, {row_order(problem_.layout.order)}};
  }
  ExpectedTensor keys(Index columns, Dtype dtype) const {
    return {stored_kv_extents(problem_, columns), dtype, {row_order(problem_.layout.order)}};
  }
  ExpectedTensor row_numbers(Index columns) const {
    return {stored_q_extents(problem_, columns),
            problem_.compute_dtype(),
            {kHeadsFirst, row_order(problem_.layout.order)}};
  }
  ExpectedTensor whole(const Extents& extents, Dtype dtype) const {
    return {extents, dtype, {kHeadsFirst}};
  }
  ExpectedTensor sink() const {
    return {problem_.sink_extents(), problem_.compute_dtype(), {{0, 2, 3, 1}, kHeadsFirst}};
  }

  /// As the array has it; without elements where there is none.
  Tensor read(std::string_view name, const ExpectedTensor& expected) {
    const DumpedTensor* const array = files_.find(name);
    if (array == nullptr || !status_.ok()) return {};
    Result<Tensor> tensor = to_tensor(*array, expected);
    if (!tensor.ok()) {
      status_ = tensor.status();
      if (name == "out" && array->dtype() && *array->dtype() != expected.dtype)
        status_ = invalid_argument(status_.message() +
                                   " (out=" + std::string(to_string(*array->dtype())) + "?)");
      return {};
    }
    if (is_ambiguous(*array, expected))
      dump_.notes.push_back(std::string(name) + " is read as (batch, head, row)");
    return std::move(tensor).value();
  }
  Tensor read_rows(std::string_view name, const ExpectedTensor& expected) {
    Tensor stored = read(name, expected);
    return stored.bytes().empty() ? Tensor{} : properties::unpack_rows(problem_, std::move(stored));
  }
  Tensor read_keys(std::string_view name, const ExpectedTensor& expected) {
    Tensor stored = read(name, expected);
    return stored.bytes().empty() ? Tensor{} : properties::unpack_keys(problem_, std::move(stored));
  }

  void read_inputs() {
    properties::Case& value = dump_.value;
    value.q = read_rows("q", rows(problem_.head_dim, problem_.dtype));
    value.k = read_keys("k", keys(problem_.head_dim, problem_.k_dtype()));
    value.v = read_keys("v", keys(problem_.head_dim_v, problem_.v_dtype()));
    value.bias = read("bias", whole(problem_.bias_extents(), problem_.bias_dtype()));
    value.sink = read("sink", sink());
    value.qv = read_rows("qv", rows(problem_.head_dim_v, problem_.dtype));
    if (!problem_.backward) return;
    value.dout = read_rows("dout", rows(problem_.head_dim_v, problem_.out_dtype()));
    value.dlse = read_rows("dlse", row_numbers(1));
  }

  void read_outputs() {
    properties::Outputs& outputs = dump_.outputs;
    outputs.asked = {problem_.lse, problem_.all_masked, problem_.empty_lse};
    outputs.out = read_rows("out", rows(problem_.head_dim_v, problem_.out_dtype()));
    if (problem_.lse != LseForm::none)
      outputs.lse = read_rows("lse", row_numbers(problem_.lse_extents()[3]));
  }

  void read_gradients() {
    properties::GradientOutputs& gradients = dump_.gradients;
    gradients.dq = read_rows("dq", rows(problem_.head_dim, problem_.dtype));
    gradients.dk = read_keys("dk", keys(problem_.head_dim, problem_.k_dtype()));
    gradients.dv = read_keys("dv", keys(problem_.head_dim_v, problem_.v_dtype()));
    gradients.dbias = read("dbias", whole(problem_.bias_extents(), problem_.compute_dtype()));
    gradients.dsink = read("dsink", sink());
  }

  const DumpFiles& files_;
  Problem problem_;
  Tiling tiling_;
  Dump dump_;
  Status status_;
};

std::optional<Extents> four_axes(const DumpedTensor* array, const AxisOrder& order) {
  if (array == nullptr || array->shape().size() > 4) return std::nullopt;
  std::vector<Index> shape = array->shape();
  shape.insert(shape.begin(), 4 - shape.size(), 1);
  Extents extents{};
  for (std::size_t place = 0; place < 4; ++place) extents[order[place]] = shape[place];
  return extents;
}

/// The plain problem of these shapes in a layout; nothing where they contradict each other.
std::optional<Problem> plain_problem(const DumpFiles& files, Layout::Order layout) {
  const AxisOrder order = row_order(layout);
  const auto q = four_axes(files.find("q"), order);
  const auto k = four_axes(files.find("k"), order);
  const auto v = four_axes(files.find("v"), order);
  if (!q || !k || !v) return std::nullopt;
  Problem problem;
  problem.batch = (*q)[0];
  problem.heads_q = (*q)[1];
  problem.heads_kv = (*k)[1];
  problem.seq_q = (*q)[2];
  problem.seq_kv = (*k)[2];
  problem.head_dim = (*q)[3];
  problem.head_dim_v = (*v)[3];
  problem.layout.order = layout;
  const auto dtype_of = [&](const char* name) {
    const DumpedTensor* const tensor = files.find(name);
    return tensor == nullptr ? std::nullopt : tensor->dtype();
  };
  problem.dtype = dtype_of("q").value_or(Dtype::bf16);
  if (const auto dtype = dtype_of("out"); dtype && *dtype != problem.out_dtype())
    problem.out_storage = dtype;
  if (files.find("lse") != nullptr) problem.lse = LseForm::natural;
  if (files.find("dq") != nullptr) problem.backward = Backward{};
  const bool agree = *k == problem.k_extents() && *v == problem.v_extents() &&
                     (files.find("out") == nullptr ||
                      four_axes(files.find("out"), order) == problem.out_extents());
  return agree && validate(problem).ok() ? std::optional(problem) : std::nullopt;
}

}  // namespace

Result<Dump> make_dump(const DumpFiles& files, const ProblemText& text) {
  return DumpMaker(files, text).make();
}

std::vector<std::string> possible_problems(const DumpFiles& files) {
  std::vector<std::string> texts;
  for (const Layout::Order layout : {Layout::Order::bshd, Layout::Order::bhsd})
    if (const auto problem = plain_problem(files, layout)) {
      ProblemText text;
      text.problem = *problem;
      texts.push_back(minimal_text(text));
    }
  return texts;
}

}  // namespace attest::cli
