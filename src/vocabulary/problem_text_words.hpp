// The writers of the values of a problem text.
#pragma once

#include <string>
#include <vector>

#include "attest/problem_text.hpp"

namespace attest {

std::string mask_text(const Mask& mask, Dtype compute);
std::string align_text(const Mask& mask);
std::string window_text(const Window& window);

std::string bias_text(const Problem& problem);
std::string alibi_text(const Problem& problem);
std::string order_text(const ScoreOrder& order);
std::string sink_text(const Problem& problem);
std::string descale_text(const Problem& problem);

std::string layout_text(const Layout& layout);
std::string kv_text(const Problem& problem);

std::string joined(const std::vector<Index>& numbers);
std::string numbers_text(const std::vector<double>& values, Dtype dtype);

}  // namespace attest
