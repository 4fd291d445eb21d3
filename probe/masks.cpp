// Which keys a query sees: diagonals, windows, and the first tokens of a window.
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "probe/experiments.hpp"
#include "probe/hypothesis.hpp"

namespace attest::probe {
namespace {

enum class Corner { top_left, bottom_right, bottom_right_of_the_longest };

std::optional<Index> offset_of(const Problem& problem, Corner corner) {
  if (corner == Corner::top_left) return 0;
  if (corner == Corner::bottom_right_of_the_longest) return problem.seq_kv - problem.seq_q;
  return std::nullopt;
}

Causal diagonal(const Problem& problem, Corner corner, Index shift) {
  if (const auto offset = offset_of(problem, corner))
    return {Causal::Alignment::explicit_offset, *offset + shift};
  if (shift == 0) return {Causal::Alignment::bottom_right, 0};
  // Shifted ones are asked of problems without lengths only.
  return {Causal::Alignment::explicit_offset, problem.seq_kv - problem.seq_q + shift};
}

/// Windows stand in the middle of the keys.
constexpr std::array kForWindows{"1x2:6x13:8", "1x1:14x10:8"};

std::string by_keys(Index shift) {
  const Index count = shift < 0 ? -shift : shift;
  return std::to_string(count) + (count == 1 ? " key " : " keys ") + (shift < 0 ? "fewer" : "more");
}

Hypothesis causal(Corner corner, Index shift, std::string value, std::string words) {
  if (shift != 0) {
    value += ", " + by_keys(shift);
    words.clear();
  }
  return {std::move(value), std::move(words),
          solves(
              [corner, shift](Case& of) {
                of.problem.mask.causal = diagonal(of.problem, corner, shift);
                return true;
              },
              EmptyRows::ignored)};
}

Hypotheses causal_hypotheses() {
  Hypotheses all;
  for (Index shift = -2; shift <= 2; ++shift) {
    all.push_back(causal(Corner::top_left, shift, "top-left", "mask=causal:tl"));
    all.push_back(causal(Corner::bottom_right, shift, "bottom-right", "mask=causal:br"));
  }
  all.push_back({"no mask at all", "", solves([](Case& of) {
                   of.problem.mask.causal.reset();
                   return true;
                 })});
  return all;
}

std::vector<std::string> shapes(const std::string& words, const std::array<const char*, 2>& both = {
                                                              "1x2:4x13:8", "1x1:13x4:8"}) {
  std::vector<std::string> lines;
  for (const char* const shape : both)
    for (const char* const seed : {"1", "2"})
      lines.push_back(std::string(shape) + " TYPE LSE " + words + " vals=normal:" + seed);
  return lines;
}

void probe_lengths(const Subject& subject, Found& found) {
  const std::vector<std::string> lines{"2x1:4x{12,7}:8 TYPE LSE mask=causal:br vals=normal:1",
                                       "3x1:5x{6,13,9}:8 TYPE LSE mask=causal:br vals=normal:2"};
  found.push_back(
      decide(subject, "causal, bottom-right asked, key lengths", lines,
             {causal(Corner::bottom_right, 0, "corner of each member's own length", ""),
              causal(Corner::bottom_right_of_the_longest, 0, "corner of the longest length", ""),
              causal(Corner::top_left, 0, "top-left", "")}));
}

struct WindowChange {
  Index left = 0, right = 0;
  std::optional<Corner> corner;
};

std::string side(const char* name, Index change) {
  if (change == 0) return {};
  if (change == -1) return std::string(name) + " limit counts the query itself";
  return std::string(name) + " limit one key too wide";
}

std::string value_of(const WindowChange& change) {
  std::string value = side("left", change.left);
  const std::string right = side("right", change.right);
  if (!value.empty() && !right.empty()) value += ", ";
  value += right;
  if (value.empty()) value = "inclusive, self not counted";
  if (change.corner) value += ", from the top-left corner";
  return value;
}

Hypothesis window(const WindowChange& change, const std::string& words) {
  return {value_of(change), words,
          solves(
              [change](Case& of) {
                Mask& mask = of.problem.mask;
                if (mask.window.left) *mask.window.left += change.left;
                if (mask.window.right) *mask.window.right += change.right;
                if (change.corner && mask.causal) return false;
                if (change.corner) mask.alignment = diagonal(of.problem, *change.corner, 0);
                return true;
              },
              EmptyRows::ignored)};
}

Hypothesis without_window() {
  return {"no window at all", "",
          solves(
              [](Case& of) {
                of.problem.mask.window = {};
                of.problem.mask.alignment.reset();
                return true;
              },
              EmptyRows::ignored)};
}

void probe_window(const Subject& subject, Found& found) {
  Hypotheses both_sides{without_window()};
  for (const std::optional<Corner> corner : {std::optional<Corner>(), {Corner::top_left}})
    for (Index left = -1; left <= 1; ++left)
      for (Index right = -1; right <= 1; ++right)
        both_sides.push_back(window({left, right, corner}, ""));
  found.push_back(decide(subject, "window", shapes("align=br win=3:2", kForWindows), both_sides));

  Hypotheses left_side{without_window()};
  for (Index left = -1; left <= 1; ++left) left_side.push_back(window({left, 0, {}}, ""));
  found.push_back(decide(subject, "window in a causal mask",
                         shapes("mask=causal:br win=3:*", kForWindows), left_side));
}

Hypothesis first_tokens(std::string value, Index more) {
  return {std::move(value), "",
          solves(
              [more](Case& of) {
                of.problem.mask.keep_first += more;
                return true;
              },
              EmptyRows::ignored)};
}

void probe_first_tokens(const Subject& subject, Found& found) {
  found.push_back(decide(
      subject, "first tokens of a window", shapes("align=br win=1:2 keep=first:2", kForWindows),
      {first_tokens("kept where the left limit drops them", 0),
       first_tokens("dropped", -2),
       first_tokens("one fewer kept", -1),
       first_tokens("one more kept", 1),
       {"kept beyond the right limit, too", "",
        sees([](const Problem& problem, Index query, Index key) {
          return key < problem.mask.keep_first || visible(problem, 0, query, key);
        })}}));
}

}  // namespace

void probe_masks(const Subject& subject, Found& found) {
  found.push_back(
      decide(subject, "causal, bottom-right asked", shapes("mask=causal:br"), causal_hypotheses()));
  found.push_back(
      decide(subject, "causal, top-left asked", shapes("mask=causal:tl"), causal_hypotheses()));
  probe_lengths(subject, found);
  probe_window(subject, found);
  probe_first_tokens(subject, found);
}

}  // namespace attest::probe
