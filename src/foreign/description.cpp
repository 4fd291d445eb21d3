#include "foreign/description.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "foreign/marshal.hpp"

namespace attest::foreign {
namespace {

/// Structs are read up to their own size; what a larger one has is for readers of later versions.
constexpr std::uint64_t kLargestStruct = 1 << 20;
constexpr Index kLargestTile = Index{1} << 40;
constexpr double kLargestUlp = 1 << 24;
constexpr int kFirstFlag = 40;

constexpr std::uint64_t kFeatureBits = ATTEST_BIT(static_cast<int>(Feature::dlse) + 1) - 1;
constexpr std::uint64_t kFlagBits =
    ATTEST_HAS_CAUSAL | ATTEST_HAS_LSE | ATTEST_HAS_GROUPED_HEADS | ATTEST_HAS_KEY_LENGTHS |
    ATTEST_HAS_MASK_BITS | ATTEST_HAS_REJECT | ATTEST_HAS_TILES | ATTEST_HAS_KV_SPLITS |
    ATTEST_HAS_THREADS | ATTEST_HAS_STRIDES | ATTEST_HAS_PARALLEL_CALLS;
static_assert(ATTEST_HAS_CAUSAL == ATTEST_BIT(kFirstFlag));
// The bits of features are the numbers of the enumeration.
static_assert(ATTEST_HAS_BIAS == ATTEST_BIT(static_cast<int>(Feature::bias)));
static_assert(ATTEST_HAS_PAGED == ATTEST_BIT(static_cast<int>(Feature::paged)));
static_assert(ATTEST_HAS_EMPTY_LSE == ATTEST_BIT(static_cast<int>(Feature::empty_lse)));
static_assert(ATTEST_HAS_DLSE == ATTEST_BIT(static_cast<int>(Feature::dlse)));

Status wrong(std::string_view what, const std::string& why) {
  return invalid_argument(std::string(what) + " " + why);
}

std::string hexadecimal(std::uint64_t number) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  do text.insert(text.begin(), kDigits[number % 16]);
  while ((number /= 16) != 0);
  return "0x" + text;
}

/// Copies the members that the writer of *from knows; `least` bytes must be there.
template <class Struct>
Result<Struct> copied(const Struct* from, std::size_t least, std::string_view what) {
  if (from == nullptr) return wrong(what, "is a null pointer");
  Struct copy{};
  std::uint64_t size = 0;
  std::memcpy(&size, from, sizeof size);
  if (size < least || size > kLargestStruct || size % 8 != 0)
    return wrong(what, "says that it has " + std::to_string(size) + " bytes; it has " +
                           std::to_string(sizeof(Struct)) + " in this version, and at least " +
                           std::to_string(least));
  std::memcpy(&copy, from, std::min<std::size_t>(static_cast<std::size_t>(size), sizeof copy));
  copy.size = sizeof copy;
  return copy;
}

template <std::size_t Capacity>
Result<std::string> text_in(const char (&array)[Capacity], std::string_view what) {
  if (std::memchr(array, 0, Capacity) == nullptr)
    return wrong(what, "does not end with 0 within its " + std::to_string(Capacity) + " bytes");
  return one_line(array, Capacity, Capacity);
}

bool is_name(std::string_view name) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:+/";
  return !name.empty() && name.find_first_not_of(kLetters) == std::string_view::npos;
}

Status in_range(std::string_view what, Index value, Index most) {
  if (value >= 0 && value <= most) return {};
  return wrong(what, "is " + std::to_string(value) + ", not one of 0 .. " + std::to_string(most));
}

Status ulp_in_range(std::string_view what, double value) {
  if (value >= 0 && value <= kLargestUlp) return {};  // NaN is not
  return wrong(what, "is " + std::to_string(value) + ", not a number of 0 .. 2^24");
}

/// The first status that is not ok.
template <std::size_t Count>
Status first_wrong(const std::array<Status, Count>& statuses) {
  const auto found = std::find_if(statuses.begin(), statuses.end(),
                                  [](const Status& status) { return !status.ok(); });
  return found == statuses.end() ? Status{} : *found;
}

Status read_texts(const attest_description& c, Described& into) {
  const Result<std::string> name = text_in(c.name, "description.name");
  if (!name.ok()) return name.status();
  if (!is_name(name.value()))
    return wrong("description.name",
                 "is '" + name.value() + "'; letters, digits and _-.:+/ make a name");
  const Result<std::string> version = text_in(c.version, "description.version");
  if (!version.ok()) return version.status();
  const Result<std::string> summary = text_in(c.summary, "description.summary");
  if (!summary.ok()) return summary.status();
  into.name = name.value();
  into.version = version.value();
  into.summary = summary.value();
  return {};
}

Status read_dtypes(std::uint64_t bits, Capabilities& into) {
  std::uint64_t known = 0;
  for (const Dtype dtype : kDtypes) {
    const std::uint64_t bit = ATTEST_BIT(dtype_number(dtype));
    known |= bit;
    if ((bits & bit) != 0) into.dtypes.push_back(dtype);
  }
  if ((bits & ~known) != 0)
    return wrong("description.dtypes", "has unknown bits " + hexadecimal(bits & ~known));
  if (into.dtypes.empty()) return wrong("description.dtypes", "names no type");
  return {};
}

Status read_features(std::uint64_t bits, Described& into) {
  const std::uint64_t unknown = bits & ~(kFeatureBits | kFlagBits);
  if (unknown != 0)
    return wrong("description.features", "has unknown bits " + hexadecimal(unknown));
  const auto has = [&](std::uint64_t bit) { return (bits & bit) != 0; };
  Capabilities& can = into.capabilities;
  for (const Feature feature : all_features())
    if (has(ATTEST_BIT(static_cast<int>(feature)))) can.features.push_back(feature);
  can.lse = has(ATTEST_HAS_LSE);
  can.tiles = has(ATTEST_HAS_TILES);
  can.kv_splits = has(ATTEST_HAS_KV_SPLITS);
  can.grouped_heads = has(ATTEST_HAS_GROUPED_HEADS);
  can.key_lengths = has(ATTEST_HAS_KEY_LENGTHS);
  can.mask_bits = has(ATTEST_HAS_MASK_BITS);
  can.reject = has(ATTEST_HAS_REJECT);
  can.threads = has(ATTEST_HAS_THREADS);
  into.causal = has(ATTEST_HAS_CAUSAL);
  into.strides = has(ATTEST_HAS_STRIDES);
  into.parallel_calls = has(ATTEST_HAS_PARALLEL_CALLS);
  return {};
}

Status read_numbers(const attest_description& c, Described& into) {
  if (const Status status = first_wrong(std::array{
          in_range("description.lse_base", c.lse_base, ATTEST_BASE_TWO),
          in_range("description.empty_lse", c.empty_lse, ATTEST_EMPTY_LSE_PLUS_INFINITY),
          in_range("description.reproducible", c.reproducible, ATTEST_REPRODUCIBLE_ANY_ORDER),
          in_range("description.part_form", c.part_form, ATTEST_PART_SUMMARY),
          in_range("description.leaf", c.leaf, kLargestTile),
          in_range("description.tile_q", c.tile_q, kLargestTile),
          in_range("description.tile_kv", c.tile_kv, kLargestTile),
          in_range("description.splits", c.splits, KvSplits::max_count)});
      !status.ok())
    return status;
  Capabilities& can = into.capabilities;
  if (c.lse_base == ATTEST_BASE_TWO) can.conventions.lse_base = Conventions::LogBase::two;
  if (c.empty_lse == ATTEST_EMPTY_LSE_PLUS_INFINITY)
    can.conventions.empty_lse = Conventions::EmptyLse::plus_infinity;
  if (c.reproducible == ATTEST_REPRODUCIBLE_SPLITS) can.reproducible = Reproducible::splits;
  if (c.reproducible == ATTEST_REPRODUCIBLE_ANY_ORDER) can.reproducible = Reproducible::any_order;
  can.leaf = std::max<Index>(1, c.leaf);
  into.summary_parts = c.part_form == ATTEST_PART_SUMMARY;
  into.tile_q = c.tile_q;
  into.tile_kv = c.tile_kv;
  into.splits = c.splits;
  return {};
}

}  // namespace

std::string one_line(const char* text, std::size_t capacity, std::size_t longest) {
  const auto* const end = static_cast<const char*>(std::memchr(text, 0, capacity));
  const std::size_t length = end == nullptr ? capacity : static_cast<std::size_t>(end - text);
  std::string line(text, std::min(length, longest));
  for (char& letter : line)
    if (letter == '\n' || letter == '\t' || letter == '\r')
      letter = ' ';
    else if (letter < ' ' || letter > '~')
      letter = '?';
  return line;
}

Status check_accuracy(const attest_accuracy& a) {
  return first_wrong(std::array{
      in_range("accuracy.accumulators", a.accumulators, ATTEST_TF32),
      in_range("accuracy.rounding", a.rounding, ATTEST_ROUNDING_NEAREST),
      in_range("accuracy.dot_accumulators", a.dot_accumulators, ATTEST_TF32),
      in_range("accuracy.scaled_query", a.scaled_query, ATTEST_TF32),
      in_range("accuracy.weights", a.weights, ATTEST_TF32),
      in_range("accuracy.weights_log2", a.weights_log2, 60),
      in_range("accuracy.sums_rounded", a.sums_rounded, 1),
      in_range("accuracy.underflow", a.underflow, ATTEST_UNDERFLOW_FLUSH_ALL),
      in_range("accuracy.exp_form", a.exp_form, ATTEST_EXP_FOLDED_TWO),
      in_range("accuracy.scope", a.scope, ATTEST_SCOPE_TILE),
      in_range("accuracy.ordered_sums", a.ordered_sums, ATTEST_SUMS_ORDERED),
      in_range("accuracy.dot_roundings", a.dot_roundings, kLargestTile),
      in_range("accuracy.own_tile_kv", a.own_tile_kv, kLargestTile),
      a.lag_log2 >= 0 && a.lag_log2 <= 100
          ? Status{}
          : wrong("accuracy.lag_log2", "is " + std::to_string(a.lag_log2) + ", not of 0 .. 100"),
      ulp_in_range("accuracy.exp_ulp", a.exp_ulp),
      ulp_in_range("accuracy.log_ulp", a.log_ulp),
      ulp_in_range("accuracy.tanh_ulp", a.tanh_ulp),
      ulp_in_range("accuracy.division_ulp", a.division_ulp),
      ulp_in_range("accuracy.alibi_ulp", a.alibi_ulp),
      ulp_in_range("accuracy.descale_ulp", a.descale_ulp),
      in_range("accuracy.gradient_weights", a.gradient_weights, ATTEST_TF32),
      in_range("accuracy.score_gradients", a.score_gradients, ATTEST_TF32)});
}

Result<Described> read_description(const attest_description* description) {
  constexpr std::size_t kLeast = offsetof(attest_description, features);
  const Result<attest_description> copy = copied(description, kLeast, "description");
  if (!copy.ok()) return copy.status();
  const attest_description& c = copy.value();
  Described described;
  for (const Status& status :
       {read_texts(c, described), read_dtypes(c.dtypes, described.capabilities),
        read_features(c.features, described), read_numbers(c, described)})
    if (!status.ok()) return status;
  described.accuracy.size = sizeof described.accuracy;
  if (c.accuracy == nullptr) return described;
  const Result<attest_accuracy> accuracy = copied(c.accuracy, sizeof(std::uint64_t), "accuracy");
  if (!accuracy.ok()) return accuracy.status();
  if (const Status status = check_accuracy(accuracy.value()); !status.ok()) return status;
  described.accuracy = accuracy.value();
  return described;
}

Result<attest_kernel_table> read_table(const attest_kernel_table* table) {
  constexpr std::size_t kLeast = offsetof(attest_kernel_table, backward);
  const Result<attest_kernel_table> copy = copied(table, kLeast, "table of functions");
  if (!copy.ok()) return copy.status();
  if (copy.value().abi_version != ATTEST_ABI_VERSION)
    return wrong("table of functions", "has version " + std::to_string(copy.value().abi_version) +
                                           " of attest/kernel_abi.h; this attest knows version " +
                                           std::to_string(ATTEST_ABI_VERSION));
  if (copy.value().describe == nullptr) return wrong("describe", "is a null pointer");
  if (copy.value().forward == nullptr) return wrong("forward", "is a null pointer");
  return copy.value();
}

}  // namespace attest::foreign
