#include "tensors/library.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <exception>
#include <system_error>
#include <utility>

#include "attest/element.hpp"
#include "tensors/message.hpp"
#include "tensors/safetensors_header.hpp"

namespace attest::tensors {
namespace {

namespace fs = std::filesystem;

/// Bound on each tensor, in elements with every extent 0 counted as 1: so strides fit, too.
constexpr Index kMaxElements = Index{1} << 56;

constexpr double kExclusionBelow = -1e8;

/// (head, row, column) of a tensor of rank 2 or 3.
using HeadExtents = std::array<Index, 3>;

Status check_tensors(const SafetensorsFile& file) {
  for (const std::string_view needed : {"q", "k", "v"})
    if (file.find(needed) == nullptr)
      return invalid_argument("tensor " + in_quotes(needed) + " is missing");
  const Entry& q = *file.find("q");
  if (q.shape.size() != 2 && q.shape.size() != 3)
    return invalid_argument("tensor 'q' has shape " + shape_text(q.shape) +
                            ", expected rank 2 or 3");
  for (const Entry& entry : file.entries) {
    const std::string label = "tensor " + in_quotes(entry.name);
    // A file that was read never fails this; one that a caller put together may.
    if (byte_size(entry.dtype, entry.shape) != static_cast<Index>(entry.bytes.size()))
      return invalid_argument(label + ": " + std::to_string(entry.bytes.size()) +
                              " bytes do not fit the shape " + shape_text(entry.shape));
    if (entry.name == "bias") continue;
    if (entry.name != "q" && entry.name != "k" && entry.name != "v" && entry.name != "o")
      return invalid_argument(label + " has no known meaning; known are q, k, v, o and bias");
    if (entry.dtype != q.dtype)
      return invalid_argument(label + " is " + std::string(to_string(entry.dtype)) + ", q is " +
                              std::string(to_string(q.dtype)));
    if (entry.shape.size() != q.shape.size())
      return invalid_argument(label + " has shape " + shape_text(entry.shape) + ", q has rank " +
                              std::to_string(q.shape.size()));
    Index room = kMaxElements;
    for (const Index extent : entry.shape) room /= std::max<Index>(extent, 1);
    if (room == 0) return invalid_argument(label + " is too large: " + shape_text(entry.shape));
  }
  return {};
}

HeadExtents head_extents(const Entry& entry) {
  const std::vector<Index>& shape = entry.shape;
  if (shape.size() == 2) return {1, shape[0], shape[1]};
  return {shape[0], shape[1], shape[2]};
}

Status expect_extents(const Entry& entry, const HeadExtents& expected) {
  if (head_extents(entry) == expected) return {};
  const std::size_t dropped = 3 - entry.shape.size();
  return invalid_argument("tensor " + in_quotes(entry.name) + " has shape " +
                          shape_text(entry.shape) + ", expected " +
                          shape_text(std::span(expected).subspan(dropped)));
}

Result<Problem> shape_problem(const SafetensorsFile& file) {
  const HeadExtents q = head_extents(*file.find("q"));
  const HeadExtents k = head_extents(*file.find("k"));
  const HeadExtents v = head_extents(*file.find("v"));
  if (Status status = expect_extents(*file.find("k"), {k[0], k[1], q[2]}); !status.ok())
    return status;
  if (Status status = expect_extents(*file.find("v"), {k[0], k[1], v[2]}); !status.ok())
    return status;
  if (const Entry* o = file.find("o"))
    if (Status status = expect_extents(*o, {q[0], q[1], v[2]}); !status.ok()) return status;
  Problem problem;
  problem.heads_q = q[0];
  problem.heads_kv = k[0];
  problem.seq_q = q[1];
  problem.seq_kv = k[1];
  problem.head_dim = q[2];
  problem.head_dim_v = v[2];
  problem.dtype = file.find("q")->dtype;
  problem.lse = LseForm::natural;
  return problem;
}

Status read_metadata(const std::map<std::string, std::string>& metadata, Problem& problem) {
  if (const auto scale = metadata.find("scale"); scale != metadata.end()) {
    const std::string& text = scale->second;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
      return invalid_argument("metadata scale " + in_quotes(text) + " is not a finite number");
    problem.scale = {false, value};
  }
  if (const auto causal = metadata.find("causal"); causal != metadata.end()) {
    if (causal->second != "true" && causal->second != "false")
      return invalid_argument("metadata causal " + in_quotes(causal->second) +
                              " is neither true nor false");
    if (causal->second == "true")
      problem.mask.causal =
          Causal{problem.seq_q == problem.seq_kv ? Causal::Alignment::top_left
                                                 : Causal::Alignment::bottom_right,
                 0};
  }
  return {};
}

double element(const Entry& entry, Index at) {
  return load_element(entry.dtype,
                      entry.bytes.data() + static_cast<std::size_t>(at) * size_of(entry.dtype));
}

/// The shortest decimal that reads back as the same double.
std::string number_text(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

Status read_bias(const Entry& bias, Problem& problem) {
  const std::array<Index, 2> expected = {1, problem.seq_kv};
  if (!std::ranges::equal(bias.shape, expected))
    return invalid_argument("tensor 'bias' has shape " + shape_text(bias.shape) + ", expected " +
                            shape_text(expected));
  MaskBits bits{1, problem.seq_kv, {}};
  for (Index key = 0; key < problem.seq_kv; ++key) {
    const double value = element(bias, key);
    const bool excluded = value < kExclusionBelow;
    if (!excluded && value != 0)
      return invalid_argument("tensor 'bias' is " + number_text(value) + " at key " +
                              std::to_string(key) + "; only 0 and values below -1e8 are supported");
    bits.visible.push_back(!excluded);
  }
  problem.mask.bits = std::move(bits);
  return {};
}

/// From (head, row, column) order to Tensor's own order (row, head, column).
Tensor to_tensor(const Entry& entry) {
  const auto [heads, rows, columns] = head_extents(entry);
  Tensor tensor(entry.dtype, {1, heads, rows, columns});
  if (entry.bytes.empty()) return tensor;  // an extent of 0 says nothing about the others
  const auto row_bytes = static_cast<std::ptrdiff_t>(size_of(entry.dtype)) * columns;
  for (Index head = 0; head < heads; ++head)
    for (Index row = 0; row < rows; ++row)
      std::copy_n(entry.bytes.begin() + (head * rows + row) * row_bytes, row_bytes,
                  tensor.bytes().begin() + (row * heads + head) * row_bytes);
  return tensor;
}

Result<RealAttention> convert(const SafetensorsFile& file) {
  if (Status status = check_tensors(file); !status.ok()) return status;
  Result<Problem> shaped = shape_problem(file);
  if (!shaped.ok()) return shaped.status();
  Problem problem = std::move(shaped).value();
  if (Status status = read_metadata(file.metadata, problem); !status.ok()) return status;
  if (const Entry* bias = file.find("bias"))
    if (Status status = read_bias(*bias, problem); !status.ok()) return status;
  if (Status status = validate(problem); !status.ok()) return status;

  RealAttention attention;
  attention.problem = std::move(problem);
  attention.q = to_tensor(*file.find("q"));
  attention.k = to_tensor(*file.find("k"));
  attention.v = to_tensor(*file.find("v"));
  if (const Entry* o = file.find("o")) attention.model_output = to_tensor(*o);
  attention.metadata = file.metadata;
  return attention;
}

Result<std::vector<fs::path>> safetensors_in(const fs::path& folder) {
  const auto failed = [&folder](const std::string& what) {
    return Status{StatusCode::io_error, file_label(folder.native()) + ": " + what};
  };
  std::vector<fs::path> paths;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
    if (at->path().extension() == ".safetensors") paths.push_back(at->path());
  if (code) return failed("cannot list the folder: " + code.message());
  if (paths.empty()) return failed("the folder has no *.safetensors file");
  return paths;
}

Result<RealAttention> read_recording(const fs::path& path) {
  const Result<SafetensorsFile> file = read_safetensors(path);
  if (!file.ok()) return file.status();
  Result<RealAttention> attention = convert(file.value());
  if (!attention.ok())
    return invalid_argument(file_label(path.native()) + ": " + attention.status().message());
  attention.value().name = path.stem().native();
  return attention;
}

}  // namespace

Result<RealAttention> to_attention(const SafetensorsFile& file, std::string name) try {
  Result<RealAttention> attention = convert(file);
  if (!attention.ok())
    return invalid_argument(file_label(name) + ": " + attention.status().message());
  attention.value().name = std::move(name);
  return attention;
} catch (const std::exception& error) {
  return invalid_argument(file_label(name) + ": " + printable(error.what()));
}

Result<TensorLibrary> TensorLibrary::open(const std::vector<fs::path>& folders) try {
  std::vector<fs::path> paths;
  for (const fs::path& folder : folders) {
    const Result<std::vector<fs::path>> found = safetensors_in(folder);
    if (!found.ok()) return found.status();
    paths.insert(paths.end(), found.value().begin(), found.value().end());
  }
  std::ranges::sort(paths, {}, [](const fs::path& path) {
    return std::pair(path.stem().native(), path.native());
  });
  const auto same = std::ranges::adjacent_find(
      paths, {}, [](const fs::path& path) { return path.stem().native(); });
  if (same != paths.end())
    return Status{StatusCode::io_error, file_label(same->native()) + " and " +
                                            file_label(std::next(same)->native()) +
                                            " have the same name"};
  std::vector<RealAttention> recordings;
  for (const fs::path& path : paths) {
    Result<RealAttention> recording = read_recording(path);
    if (!recording.ok()) return recording.status();
    recordings.push_back(std::move(recording).value());
  }
  return TensorLibrary(std::move(recordings));
} catch (const std::exception& error) {
  return Status{StatusCode::io_error, "tensor library: " + printable(error.what())};
}

const RealAttention* TensorLibrary::find(std::string_view name) const {
  const auto at = std::ranges::lower_bound(recordings_, name, {}, &RealAttention::name);
  return at == recordings_.end() || at->name != name ? nullptr : &*at;
}

}  // namespace attest::tensors
