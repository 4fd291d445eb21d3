// Any bytes as the saved state of `attest world` and of `attest bench --exhaustive`. What is read
// must be written and read again without a change.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "cli/exhaustive_state.hpp"
#include "cli/world_state.hpp"

using namespace attest;

namespace {

/// A state is only read by the build that wrote it, and no corpus knows that of tomorrow: this
/// stands for it.
constexpr std::string_view kThisBuild = "@build@";

std::string this_build() {
  constexpr std::string_view kBefore = "\"build\": \"";
  const std::string text = cli::world_text({});
  const std::size_t begin = text.find(kBefore) + kBefore.size();
  return text.substr(begin, text.find('"', begin) - begin);
}

std::string of_this_build(std::string text) {
  static const std::string build = this_build();
  const std::size_t at = text.find(kThisBuild);
  return at == std::string::npos ? text : text.replace(at, kThisBuild.size(), build);
}

template <class Parse, class Write>
void check_round_trip(const std::string& text, Parse&& parse, Write&& write) {
  const auto state = parse(text, "input");
  if (!state.ok()) return;
  const std::string written = write(state.value());
  const auto again = parse(written, "input");
  if (again.ok() && write(again.value()) == written) return;
  std::cerr << "a written state reads as something else:\n" << written << "\n";
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = of_this_build(std::string(data, data + size));
  check_round_trip(text, cli::parse_world, cli::world_text);
  check_round_trip(text, cli::parse_exhaustive, cli::exhaustive_text);
  return 0;
}
