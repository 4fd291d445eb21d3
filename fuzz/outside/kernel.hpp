// A kernel of another project.
#pragma once

#include <memory>

#include "attest/kernel.hpp"

namespace mine {

std::unique_ptr<attest::Kernel> make_kernel();

}  // namespace mine
