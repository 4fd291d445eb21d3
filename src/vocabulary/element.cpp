#include "attest/element.hpp"

#include <cstring>

#include "attest/narrow_float.hpp"

namespace attest {
namespace {

template <class Stored>
Stored load(const void* at) {
  Stored value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class Narrow>
double load_narrow(const void* at) {
  return static_cast<double>(Narrow{load<typename Narrow::Bits>(at)});
}

template <class Narrow>
void store_narrow(void* at, double value) {
  const Narrow code = Narrow::nearest(value, false);
  std::memcpy(at, &code.bits, sizeof code.bits);
}

}  // namespace

double load_element(Dtype dtype, const void* at) {
  switch (dtype) {
    case Dtype::f32:
      return static_cast<double>(load<float>(at));
    case Dtype::f64:
      return load<double>(at);
    case Dtype::bf16:
      return load_narrow<Bf16>(at);
    case Dtype::f16:
      return load_narrow<F16>(at);
    case Dtype::e4m3:
      return load_narrow<E4m3>(at);
    case Dtype::e5m2:
      break;
  }
  return load_narrow<E5m2>(at);
}

void store_element(Dtype dtype, void* at, double value) {
  switch (dtype) {
    case Dtype::f32: {
      const auto rounded = static_cast<float>(value);
      std::memcpy(at, &rounded, sizeof rounded);
      return;
    }
    case Dtype::f64:
      std::memcpy(at, &value, sizeof value);
      return;
    case Dtype::bf16:
      return store_narrow<Bf16>(at, value);
    case Dtype::f16:
      return store_narrow<F16>(at, value);
    case Dtype::e4m3:
      return store_narrow<E4m3>(at, value);
    case Dtype::e5m2:
      return store_narrow<E5m2>(at, value);
  }
}

double rounded_to(Dtype dtype, double value) {
  double stored = 0;
  store_element(dtype, &stored, value);
  return load_element(dtype, &stored);
}

}  // namespace attest
