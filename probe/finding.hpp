// What a probe says about a kernel.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attest::probe {

enum class Sureness {
  certain,     ///< one candidate fits two inputs, every other one is refused by a clear margin
  likely,      ///< a pattern of last bits, which other arithmetic could leave as well
  cannot_tell  ///< none fits, several do, or the experiment could not be made
};

constexpr std::string_view to_string(Sureness sureness) {
  switch (sureness) {
    case Sureness::certain:
      return "certain";
    case Sureness::likely:
      return "likely";
    case Sureness::cannot_tell:
      break;
  }
  return "cannot tell";
}

struct Finding {
  std::string name;   ///< what was asked: "lse base"
  std::string value;  ///< empty where it cannot be told
  Sureness sureness = Sureness::cannot_tell;
  std::string reason = {};  ///< one line
  std::string words = {};   ///< of the problem text that says it, where there are some
  std::vector<std::string> experiments = {};  ///< problem lines that were run
  bool not_declared = false;                  ///< the kernel declares that it cannot be called so
};

struct Findings {
  std::string kernel;
  std::vector<Finding> findings;
  std::string suggested;  ///< a problem line in the kernel's own conventions
};

}  // namespace attest::probe
