// Any bytes as what a plug-in says about itself: its table, its description and its accuracy, one
// behind the other, each filled up with zeros. What is accepted must be usable, and what is refused
// is refused in one line.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <span>
#include <string_view>

#include "foreign/declared.hpp"
#include "foreign/description.hpp"

using namespace attest;

namespace {

[[noreturn]] void fail(std::string_view what) {
  std::cerr << what << "\n";
  std::abort();
}

void expect(bool holds, std::string_view what) {
  if (!holds) fail(what);
}

template <class Struct>
Struct taken(std::span<const std::uint8_t>& bytes) {
  Struct taken{};
  const std::size_t size = std::min(bytes.size(), sizeof taken);
  if (size > 0) std::memcpy(&taken, bytes.data(), size);
  bytes = bytes.subspan(size);
  return taken;
}

bool is_one_line(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char letter) { return letter >= ' ' && letter <= '~'; });
}

void expect_refusal(const Status& status) {
  expect(status.code() == StatusCode::invalid_argument, "another code than invalid_argument");
  expect(!status.message().empty() && status.message().size() < 500, "no message, or a long one");
  expect(is_one_line(status.message()), "a message of more than one line");
}

bool is_error(double value) {
  return std::isfinite(value) && value >= 0;
}

void expect_usable(const foreign::Described& described) {
  expect(!described.name.empty() && is_one_line(described.name), "name");
  expect(is_one_line(described.version) && is_one_line(described.summary), "texts");
  const Capabilities& can = described.capabilities;
  expect(!can.dtypes.empty() && can.leaf >= 1, "capabilities");
  expect(described.tile_q >= 0 && described.tile_kv >= 0 && described.splits >= 0, "tiles");
  for (const Dtype dtype : can.dtypes)
    for (const bool by_call : {false, true}) {
      Problem problem;
      problem.dtype = dtype;
      problem.softcap = 2;
      problem.alibi = Alibi{};
      if (is_fp8(dtype)) problem.descales = Descales{};
      const DeclaredAccuracy says =
          foreign::declared_accuracy(described.accuracy, problem, by_call);
      expect(is_error(says.exp_relative_error) && is_error(says.exp_absolute_error) &&
                 is_error(says.log_relative_error) && is_error(says.tanh_relative_error) &&
                 is_error(says.bias_relative_error) && is_error(says.value_relative_error) &&
                 is_error(says.reciprocal_relative_error) && is_error(says.lag_log2),
             "an error that is no number");
      expect(says.format.unit_roundoff > 0 && says.dot_roundings > 0, "roundings");
      expect(!says.own_tiling || validate(*says.own_tiling, problem.seq_kv).ok(), "own tiling");
      (void)foreign::declared_gradient_accuracy(described.accuracy, problem);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const std::uint8_t> bytes(data, size);
  const auto table = taken<attest_kernel_table>(bytes);
  auto description = taken<attest_description>(bytes);
  // Addresses are believed: this is the only one that is followed.
  const bool has_accuracy = description.accuracy != nullptr;
  const auto accuracy = taken<attest_accuracy>(bytes);
  description.accuracy = has_accuracy ? &accuracy : nullptr;

  const auto read_table = foreign::read_table(&table);
  if (read_table.ok())
    expect(read_table.value().describe != nullptr && read_table.value().forward != nullptr,
           "a function that is missing");
  else
    expect_refusal(read_table.status());
  const auto described = foreign::read_description(&description);
  if (described.ok())
    expect_usable(described.value());
  else
    expect_refusal(described.status());
  return 0;
}
