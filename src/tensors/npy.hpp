// Reading of .npy files, the form in which numpy.save writes one array: "\x93NUMPY", two bytes of
// version (1.0, 2.0 or 3.0), the length of the header (2 bytes in 1.0, else 4, little-endian), the
// header as a Python dict with descr, fortran_order and shape, then the elements.
// Source: numpy/lib/format.py of numpy 1.24, "Format Version".
//
// The input is not trusted, and a call gives what attest/tensors/safetensors.hpp says of its own:
// a value or a one-line status "<file>: byte <offset>: <what>", and memory within a constant
// factor of the size of the input. Nothing of a file is evaluated as Python.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attest/dtype.hpp"
#include "attest/status.hpp"
#include "tensors/safetensors.hpp"

namespace attest::tensors {

/// An array as attest keeps it, whatever the file has: row-major (an array in Fortran order is
/// reordered) and little-endian (f2, f4 and f8 of the other byte order are swapped).
struct NpyArray {
  std::string descr;  ///< the element type as the file names it: "<f4", "|V2"
  Index element_bytes = 0;
  /// f2, f4, f8, and bf16 for V2, the form that ml_dtypes gives a bfloat16 array. Nothing for u1,
  /// V1, f1 and u2: bits without a type.
  std::optional<Dtype> dtype;
  std::vector<Index> shape;
  std::vector<std::byte> bytes;
};

/// `file_name` is only for messages. StatusCode::io_error for everything but an array of
/// f2 f4 f8 (either byte order), u2 (either byte order), V2, u1 V1 f1 whose elements fill the
/// rest of the input.
Result<NpyArray> parse_npy(std::span<const std::byte> bytes, std::string_view file_name);

/// The same for a regular file on disk. The header is checked against the file's size before
/// anything of that size is allocated.
Result<NpyArray> read_npy(const std::filesystem::path& path);

/// The array as a tensor of that name. `dtype` is what somebody says its elements are; it decides
/// where the file only has bits (u1 V1 f1 u2 V2), and is not looked at where the file has a type.
/// StatusCode::invalid_argument, without the file's name, where neither says it or the sizes
/// differ.
Result<Entry> to_entry(NpyArray array, std::string name, std::optional<Dtype> dtype);

}  // namespace attest::tensors
