// The experiments, by what they look at. Each appends its findings.
#pragma once

#include <vector>

#include "probe/finding.hpp"
#include "probe/subject.hpp"

namespace attest::probe {

using Found = std::vector<Finding>;

/// How outputs and weights are rounded. What it finds is assumed by the experiments after it.
void probe_arithmetic(Subject& subject, Found& found);

/// The experiments after it read the lse as this one found it.
void probe_lse(Subject& subject, Found& found);
void probe_scale(const Subject& subject, Found& found);
void probe_head_map(const Subject& subject, Found& found);
void probe_masks(const Subject& subject, Found& found);
/// Prefix, chunk and segments.
void probe_parts_of_masks(const Subject& subject, Found& found);
/// Where keys and rows lie: pages, left padding, packed rows.
void probe_storage(const Subject& subject, Found& found);
/// qv, and descales of fp8 numbers.
void probe_inputs(const Subject& subject, Found& found);
void probe_softcap(const Subject& subject, Found& found);
void probe_alibi(const Subject& subject, Found& found);
void probe_sink(const Subject& subject, Found& found);
/// What a backward pass makes of the results of the forward pass before it.
void probe_gradients(const Subject& subject, Found& found);
void probe_empty_rows(const Subject& subject, Found& found);
void probe_excluded_keys(const Subject& subject, Found& found);
void probe_written_rows(const Subject& subject, Found& found);
/// Significant bits of the sums over keys, and their tree.
void probe_sums(Subject& subject, Found& found);
/// Keys of a tile, and whether the maximum lags.
void probe_tiles(const Subject& subject, Found& found);

}  // namespace attest::probe
