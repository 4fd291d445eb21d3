#include "cli/case_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "cli/linked_program.hpp"

namespace attest::cli {
namespace {

/// Longer replay lines name the saved folder instead.
constexpr std::size_t kMaxReplayLine = 8192;
constexpr Index kMaxShownNumbers = 64;

std::string numbers_text(const Tensor& tensor) {
  std::string decimal;
  std::string hex;
  Index shown = 0;
  for_each_index(tensor.extents(), [&](Index b, Index h, Index row, Index column) {
    if (++shown > kMaxShownNumbers) return;
    const double value = tensor.get(b, h, row, column);
    decimal += " " + number_text(value, tensor.dtype());
    hex += fmt::format(" {:a}", value);
  });
  if (shown > kMaxShownNumbers) {
    decimal += fmt::format(" ... ({} numbers)", shown);
    hex += " ...";
  }
  return fmt::format("{}   ({})", decimal, hex.empty() ? hex : hex.substr(1));
}

/// Q, K and V stand out; the others have the names of the problem text.
std::string shown_name(std::string_view name) {
  return name.size() == 1 ? std::string(1, static_cast<char>(name.front() - 'a' + 'A'))
                          : std::string(name);
}

}  // namespace

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

namespace {

/// Quoted only where a shell would not take it as it is: names of kernels are words most often.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:+/=@%,";
  const bool is_plain = !text.empty() && text.find_first_not_of(kPlain) == std::string::npos;
  return is_plain ? text : shell_quoted(text);
}

}  // namespace

std::string replay_command_line(const Kernel& kernel, const properties::Case& of,
                                std::string_view law, const std::filesystem::path& saved) {
  const std::string line = minimal_text(properties::to_text(of, law));
  const std::string command = shell_word(linked_program().command);
  if (line.size() > kMaxReplayLine && !saved.empty())
    return fmt::format("{} replay {}", command, shell_quoted(saved.string()));
  return fmt::format("{} replay {} {}", command, shell_word(kernel.description().name),
                     shell_quoted(line));
}

std::string problem_text(const properties::Case& of) {
  const bool is_literal = of.values.kind == ValueRecipe::Kind::literal;
  return minimal_text({of.problem, of.tiling, is_literal ? ValueRecipe{} : of.values, {}});
}

std::string mask_word(const Mask& mask) {
  std::string word;
  const auto append = [&](bool present, std::string_view part) {
    if (present) word += (word.empty() ? "" : "+") + std::string(part);
  };
  append(mask.causal.has_value(), "causal");
  append(!mask.window.none(), "win");
  append(mask.keep_first > 0, "keep");
  append(mask.prefix.has_value(), "prefix");
  append(mask.chunk.has_value(), "chunk");
  append(mask.segments.has_value(), "doc");
  append(mask.bits.has_value(), "bits");
  append(mask.blocks.has_value(), "block");
  append(mask.additive.has_value(), "add");
  return word.empty() ? "none" : word;
}

std::string variant_word(const Problem& problem) {
  constexpr std::array kOfMask{Feature::window,       Feature::keep_first, Feature::prefix,
                               Feature::chunk,        Feature::segments,   Feature::block_mask,
                               Feature::additive_mask};
  std::vector<Feature> others = features_of(problem);
  std::erase_if(others, [&](Feature feature) {
    return std::find(kOfMask.begin(), kOfMask.end(), feature) != kOfMask.end();
  });
  const std::string mask = mask_word(problem.mask);
  if (others.empty()) return mask == "none" ? "plain" : "mask " + mask;
  if (others.size() > 1 || mask != "none") return "combined";
  return std::string(to_string(others.front()));
}

std::string values_text(const properties::Case& of) {
  std::string text;
  for (const properties::CaseTensor& tensor : properties::case_tensors()) {
    if (tensor.extents(of.problem) == Extents{}) continue;
    const bool is_view = properties::is_view(of.problem, tensor.tensor);
    text += fmt::format("{} ={}\n", shown_name(tensor.name),
                        is_view ? " leading columns of K" : numbers_text(of.*tensor.tensor));
  }
  return text;
}

}  // namespace attest::cli
