#include "cli/list_vocabulary.hpp"

#include <fmt/core.h>

#include <array>
#include <string>

#include "attest/dtype.hpp"
#include "kernels/registry.hpp"

namespace attest::cli {
namespace {

struct MaskRow {
  const char* text;
  const char* rule;
};

constexpr std::array kMasks{
    MaskRow{"mask=none", "every key below the key length of its batch member"},
    MaskRow{"mask=causal:tl", "j <= i"},
    MaskRow{"mask=causal:br", "j <= i + key_length - query_length"},
    MaskRow{"mask=causal:off=N", "j <= i + N"},
    MaskRow{"mask=prefix:N", "j < N, whatever the causal part says"},
    MaskRow{"mask=chunk:C", "j lies in the chunk of C positions that holds p = i + offset"},
    MaskRow{"mask=doc:LIST", "query and key have the same segment number; LIST/LIST for q/k"},
    MaskRow{"mask=bits:ROWS", "the bit of (i, j) is 1; rows joined by '/', one row serves all"},
    MaskRow{"mask=block:RxC:ROWS", "the bit of the block of R queries and C keys is 1"},
    MaskRow{"mask=add:ROWS", "the number is not -inf; a finite one is added to the score"},
    MaskRow{"mask=A+B", "both"},
    MaskRow{"win=LEFT:RIGHT", "p - LEFT <= j <= p + RIGHT; * is no limit on that side"},
    MaskRow{"keep=first:N", "j < N, whatever the left limit of the window says"},
    MaskRow{"align=tl|br|off=N", "the offset of p for win and chunk, where nothing is causal"},
};

}  // namespace

void list_masks() {
  fmt::print("query i sees key j iff every part lets it through; p = i + offset of the diagonal\n");
  for (const MaskRow& row : kMasks) fmt::print("{:<21} {}\n", row.text, row.rule);
}

void list_dtypes() {
  fmt::print("{:<6} {:>5} {:>9} {:>12} {:>9}  {}\n", "dtype", "bytes", "half ulp", "min normal",
             "max", "arithmetic");
  for (const Dtype dtype : kDtypes) {
    const Format format = format_of(dtype);
    fmt::print("{:<6} {:>5} {:>9.3g} {:>12.3g} {:>9.4g}  {}{}\n", to_string(dtype), size_of(dtype),
               format.unit_roundoff, format.min_normal, format.max_finite,
               to_string(compute_dtype(dtype)),
               is_fp8(dtype) ? ", with descale=; inputs only" : "");
  }
}

void list_features() {
  for (const Feature feature : all_features()) {
    std::string kernels;
    for (const auto& kernel : kernels::builtin_kernels()) {
      if (kernel->description().capabilities.has(feature))
        kernels += " " + kernel->description().name;
    }
    fmt::print("{:<18}{}\n", to_string(feature), kernels.empty() ? " (none)" : kernels);
  }
}

}  // namespace attest::cli
