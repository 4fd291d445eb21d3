// The part of the C API of ONNX Runtime that the adapter calls, found at run time.
//
// The table of functions only ever grows at its end, so that a place once given stays; the places
// here are all of version 1 of the API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "attest/status.hpp"

namespace attest::bench {

class OnnxruntimeApi {
 public:
  /// Loads the library, once for the process. The result is never null and never freed.
  static Result<const OnnxruntimeApi*> load();

  const std::string& version() const { return version_; }

  /// Function number `place` of the table, as a function of the given type.
  template <class Function>
  Function* function(std::size_t place) const {
    return reinterpret_cast<Function*>(table_[place]);
  }
  /// Calls a function that returns an OrtStatus*.
  template <class... Arguments>
  Status call(std::size_t place, Arguments... arguments) const {
    return checked(function<void*(Arguments...)>(place)(arguments...));
  }

 private:
  OnnxruntimeApi(void* const* table, std::string version)
      : table_(table), version_(std::move(version)) {}
  Status checked(void* status) const;

  void* const* table_;
  std::string version_;
};

/// Places in the table.
struct OrtPlace {
  static constexpr std::size_t get_error_message = 2, create_env = 3, create_session_from_array = 8,
                               run = 9, create_session_options = 10, set_intra_op_num_threads = 24,
                               create_tensor_with_data = 49, create_cpu_memory_info = 69,
                               release_status = 93, release_session = 95, release_value = 96,
                               release_session_options = 100;
};

}  // namespace attest::bench
