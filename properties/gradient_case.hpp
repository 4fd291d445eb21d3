// Cases for the laws on gradients: every case is given a backward pass, if the kernel has one.
#pragma once

#include <optional>

#include "attest/kernel.hpp"
#include "attest/verdict.hpp"
#include "properties/case.hpp"

namespace attest::properties {

bool offers(const Kernel& kernel, Feature feature);

/// `skipped` where the kernel has no backward pass, or not these further parts of one.
std::optional<Verdict> lacks_gradients(const Kernel& kernel,
                                       std::initializer_list<Feature> beside = {});

/// The case with a backward pass: the one that it has, or another one with gradients drawn from its
/// seed. What has no backward pass is changed: fp8 inputs become bf16 or f32 of the same value, the
/// qv term goes, empty rows are zero with lse -inf, the lse counts a sink, and keys that batch
/// members share become keys of each.
Case backward_case(const Kernel& kernel, const Case& given);

/// Precondition of these: a backward pass.
/// With a bias whose gradient is asked for.
Case with_bias_gradient(Case from);
/// With a bias of one number a score, added after the softcap, whose gradient is asked for.
Case with_score_gradients(Case from);
/// With a sink of one logit a head whose gradient is asked for.
Case with_sink_gradient(Case from);
/// Without a gradient that arrives at the lse.
Case without_lse_gradient(Case from);

/// The same query with a twin whose q is turned around: two query heads read each kv head, or more.
Case with_grouped_heads(Case from);
/// Every query head with a kv head of its own, of the same values.
Case with_repeated_heads(Case from);

/// The first batch member twice, the second time with q turned around; both read the same pages of
/// `page_size` slots. Precondition: the batch has members.
Case with_shared_pages(const Case& from, Index page_size);

}  // namespace attest::properties
