// What is assumed of the arithmetic of a kernel that declares nothing.
#pragma once

#include "attest/accuracy.hpp"
#include "attest/problem.hpp"

namespace attest::harness {

/// An online softmax in the compute dtype of the problem (f32, or f64 for f64): products and sums
/// rounded one by one in any order; exp, log and tanh within two units in the last place; keys in
/// tiles of at least 16, whatever their order, joined by any merge tree; the output rounded once
/// more where its type is narrower. Weights are not rounded to a narrower type: a kernel that
/// does, or that has smaller tiles, says so with an accuracy of its own.
DeclaredAccuracy usual_accuracy(const Problem& problem);

}  // namespace attest::harness
