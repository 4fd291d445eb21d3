// Prefix, chunk and segments: which keys they add or take away.
#include <algorithm>
#include <string>
#include <utility>

#include "probe/experiments.hpp"
#include "probe/hypothesis.hpp"

namespace attest::probe {
namespace {

Hypothesis seen(std::string value, SeenBy rule, EmptyRows empty = EmptyRows::ignored) {
  return {std::move(value), "", sees(std::move(rule), empty)};
}

Hypothesis changed_mask(std::string value, void (*change)(Mask&)) {
  return {std::move(value), "",
          solves(
              [change](Case& of) {
                change(of.problem.mask);
                return true;
              },
              EmptyRows::ignored)};
}

/// Both lines with the values of two seeds.
std::vector<std::string> twice(const std::vector<std::string>& lines) {
  std::vector<std::string> all;
  for (const std::string& line : lines)
    for (const char* const seed : {"1", "2"}) all.push_back(line + " vals=normal:" + seed);
  return all;
}

void nothing(Mask&) {}

void probe_prefix(const Subject& subject, Found& found) {
  const Hypotheses hypotheses{
      changed_mask("seen by every query, whatever causal says", nothing),
      changed_mask("left out", [](Mask& mask) { mask.prefix.reset(); }),
      changed_mask("one token more", [](Mask& mask) { ++*mask.prefix; }),
      changed_mask("one token fewer", [](Mask& mask) { --*mask.prefix; }),
      seen("seen by the first queries alone, as many as it has tokens",
           [](const Problem& problem, Index query, Index key) {
             Problem plain = problem;
             if (query >= *problem.mask.prefix) plain.mask.prefix.reset();
             return visible(plain, 0, query, key);
           }),
      seen("counted from the first query",
           [](const Problem& problem, Index query, Index key) {
             Problem plain = problem;
             plain.mask.prefix.reset();
             return key < *problem.mask.prefix + causal_offset(problem, 0) ||
                    visible(plain, 0, query, key);
           }),
      seen("the last keys instead of the first",
           [](const Problem& problem, Index query, Index key) {
             Problem plain = problem;
             plain.mask.prefix.reset();
             return key >= problem.seq_kv - *problem.mask.prefix || visible(plain, 0, query, key);
           }),
      seen("the prefix alone, no causal part",
           [](const Problem& problem, Index, Index key) { return key < *problem.mask.prefix; }),
      changed_mask("with it every key is seen", [](Mask& mask) { mask = {}; })};
  found.push_back(decide(subject, "prefix",
                         twice({"1x2:6x9:8 TYPE LSE mask=causal:br+prefix:5",
                                "1x1:9x6:8 TYPE LSE mask=causal:br+prefix:2"}),
                         hypotheses));
}

Index chunk_of(Index position, Index size) {
  return position >= 0 ? position / size : -((-position - 1) / size) - 1;
}

/// Beside a causal part, where there is one.
bool below_diagonal(const Problem& problem, Index query, Index key) {
  return !problem.mask.causal || key <= query + causal_offset(problem, 0);
}

Hypotheses chunk_hypotheses(bool causal) {
  Hypotheses all{
      changed_mask("of the key axis: floor(p / C) = floor(j / C)", nothing),
      changed_mask("left out", [](Mask& mask) { mask.chunk.reset(), mask.alignment.reset(); }),
      changed_mask("one key more", [](Mask& mask) { ++*mask.chunk; }),
      changed_mask("one key fewer", [](Mask& mask) { --*mask.chunk; }),
      seen("of the query axis: p from top-left",
           [](const Problem& problem, Index query, Index key) {
             const Index size = *problem.mask.chunk;
             return below_diagonal(problem, query, key) &&
                    chunk_of(query, size) == chunk_of(key, size);
           }),
      seen("counted from the last key",
           [](const Problem& problem, Index query, Index key) {
             const Index size = *problem.mask.chunk;
             const Index last = problem.seq_kv - 1;
             return below_diagonal(problem, query, key) &&
                    chunk_of(last - query - mask_offset(problem, 0), size) ==
                        chunk_of(last - key, size);
           }),
      seen("earlier chunks are seen, too",
           [](const Problem& problem, Index query, Index key) {
             const Index size = *problem.mask.chunk;
             return below_diagonal(problem, query, key) &&
                    chunk_of(query + mask_offset(problem, 0), size) >= chunk_of(key, size);
           }),
      seen("a window: keys less than C away", [](const Problem& problem, Index query, Index key) {
        const Index away = query + mask_offset(problem, 0) - key;
        return below_diagonal(problem, query, key) && std::max(away, -away) < *problem.mask.chunk;
      })};
  // Under a causal part this is the same as without a chunk.
  if (causal) {
    std::erase_if(
        all, [](const Hypothesis& one) { return one.value == "earlier chunks are seen, too"; });
    all.push_back(changed_mask("the whole chunk, no causal part", [](Mask& mask) {
      mask.alignment = std::exchange(mask.causal, std::nullopt);
    }));
  }
  return all;
}

Hypothesis chunk_of_lengths(std::string value, std::optional<Index> (*offset)(const Problem&)) {
  return {std::move(value), "",
          solves(
              [offset](Case& of) {
                const std::optional<Index> other = offset(of.problem);
                if (other)
                  of.problem.mask.alignment = Causal{Causal::Alignment::explicit_offset, *other};
                return true;
              },
              EmptyRows::ignored)};
}

void probe_chunk(const Subject& subject, Found& found) {
  const auto lines = [](const std::string& words) {
    return twice({"1x2:6x13:8 TYPE LSE " + words, "1x1:14x10:8 TYPE LSE " + words});
  };
  found.push_back(
      decide(subject, "chunk", lines("align=br mask=chunk:3"), chunk_hypotheses(false)));
  found.push_back(decide(subject, "chunk in a causal mask", lines("mask=causal:br+chunk:3"),
                         chunk_hypotheses(true)));
  const std::vector<std::string> ragged{
      "2x1:4x{12,7}:8 TYPE LSE align=br mask=chunk:3 vals=normal:1",
      "3x1:5x{6,13,9}:8 TYPE LSE align=br mask=chunk:3 vals=normal:2"};
  found.push_back(
      decide(subject, "chunk, key lengths", ragged,
             {chunk_of_lengths("p from the corner of each member's own length",
                               [](const Problem&) { return std::optional<Index>(); }),
              chunk_of_lengths("p from the corner of the longest length",
                               [](const Problem& problem) {
                                 return std::optional<Index>(problem.seq_kv - problem.seq_q);
                               }),
              chunk_of_lengths("p from top-left",
                               [](const Problem&) { return std::optional<Index>(0); })}));
}

/// Segments as if they were moved along their axis, in a ring.
void moved(std::vector<Index>& segments, std::ptrdiff_t by) {
  const auto first = by > 0 ? segments.begin() + by : segments.end() + by;
  std::rotate(segments.begin(), first, segments.end());
}

void probe_segments(const Subject& subject, Found& found) {
  const auto compared = [](std::string value, bool (*alike)(Index, Index),
                           EmptyRows empty = EmptyRows::ignored) {
    return seen(
        std::move(value),
        [alike](const Problem& problem, Index query, Index key) {
          const Segments& segments = *problem.mask.segments;
          return alike(segments.q[static_cast<std::size_t>(query)],
                       segments.k[static_cast<std::size_t>(key)]);
        },
        empty);
  };
  const Hypotheses hypotheses{
      changed_mask("q_segment = k_segment", nothing),
      changed_mask("left out", [](Mask& mask) { mask.segments.reset(); }),
      compared("k_segment <= q_segment", [](Index q, Index k) { return k <= q; }),
      compared("k_segment >= q_segment", [](Index q, Index k) { return k >= q; }),
      // Only in rows that have no key then it is another one.
      compared(
          "q_segment = k_segment, 0 stands for padding",
          [](Index q, Index k) { return q == k && k != 0; }, EmptyRows::as_asked),
      changed_mask("that of the next key", [](Mask& mask) { moved(mask.segments->k, 1); }),
      changed_mask("that of the key before", [](Mask& mask) { moved(mask.segments->k, -1); }),
      changed_mask("that of the next query", [](Mask& mask) { moved(mask.segments->q, 1); }),
      changed_mask("that of the query before", [](Mask& mask) { moved(mask.segments->q, -1); }),
      changed_mask("segments of the keys for the queries, too", [](Mask& mask) {
        std::copy_n(mask.segments->k.begin(), mask.segments->q.size(), mask.segments->q.begin());
      })};
  found.push_back(decide(subject, "segments",
                         twice({"1x2:6x9:8 TYPE LSE mask=doc:0,1,1,2,3,3/2,0,1,1,3,2,0,3,1",
                                "1x1:5x5:8 TYPE LSE mask=doc:1,0,2,2,0/0,1,2,0,2"}),
                         hypotheses));
}

}  // namespace

void probe_parts_of_masks(const Subject& subject, Found& found) {
  probe_prefix(subject, found);
  probe_chunk(subject, found);
  probe_segments(subject, found);
}

}  // namespace attest::probe
