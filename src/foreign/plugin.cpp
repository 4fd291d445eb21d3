#include "foreign/plugin.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "foreign/declared.hpp"
#include "foreign/plugin_calls.hpp"
#include "foreign/plugin_parts.hpp"

namespace attest::foreign {
namespace {

constexpr std::string_view kEnding = ".so";

struct PathAndSymbol {
  std::string path;
  std::string symbol = ATTEST_KERNEL_SYMBOL;
};

PathAndSymbol split(const std::string& text) {
  // A path may have colons, a symbol has none.
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || text.find('/', colon) != std::string::npos) return {text};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

using Library = std::shared_ptr<void>;

Status unsupported(const std::string& what) {
  return {StatusCode::unsupported, "kernel does not declare " + what};
}

template <class View>
bool columns_are_adjacent(const View& view) {
  return view.data == nullptr || view.extents[3] <= 1 || view.strides[3] == 1;
}

template <class... Views>
bool all_columns_are_adjacent(const Views&... views) {
  return (columns_are_adjacent(views) && ...);
}

class PluginKernel : public Kernel {
 public:
  PluginKernel(std::string name, std::unique_ptr<ForeignCalls> calls, Described described)
      : described_(std::move(described)),
        calls_(std::move(calls)),
        parts_f32_(*calls_, described_),
        parts_f64_(*calls_, described_),
        description_{std::move(name), described_.version, summary_of(described_),
                     described_.capabilities} {}

  const KernelDescription& description() const override { return description_; }

  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return declared_accuracy(stated(problem), problem, works_by_call());
  }
  DeclaredGradientAccuracy gradient_accuracy(const Problem& problem) const override {
    return declared_gradient_accuracy(stated(problem), problem);
  }

  Tiling preferred_tiling(const Problem&) const override {
    Tiling tiling;
    if (described_.tile_q > 0) tiling.tile_q = described_.tile_q;
    if (described_.tile_kv > 0) tiling.tile_kv = described_.tile_kv;
    if (described_.splits > 0) tiling.splits.count = described_.splits;
    return tiling;
  }

  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
      return status;
    const bool adjacent = all_columns_are_adjacent(views.q, views.k, views.v, views.out, views.lse,
                                                   views.bias, views.qv);
    if (Status status = check_more(problem, adjacent); !status.ok()) return status;
    return calls_->forward(problem, tiling, views, with_tiles());
  }

  Status backward(const Problem& problem, const Tiling& tiling,
                  const BackwardViews& views) const override {
    if (Status status = check_backward_call(description_.capabilities, problem, tiling, views);
        !status.ok())
      return status;
    const bool adjacent = all_columns_are_adjacent(views.q, views.k, views.v, views.out, views.dout,
                                                   views.bias, views.dq, views.dk, views.dv);
    if (Status status = check_more(problem, adjacent); !status.ok()) return status;
    return calls_->backward(problem, tiling, views, with_tiles());
  }

  const SummaryOps<float>* summary_ops_f32() const override {
    return calls_->has_merge() ? &parts_f32_ : nullptr;
  }
  const SummaryOps<double>* summary_ops_f64() const override {
    return calls_->has_merge() ? &parts_f64_ : nullptr;
  }

 private:
  static std::string summary_of(const Described& described) {
    return described.summary.empty() ? described.name : described.name + ": " + described.summary;
  }

  bool works_by_call() const {
    return described_.capabilities.tiles && described_.capabilities.kv_splits;
  }
  bool with_tiles() const { return described_.accuracy.scope == ATTEST_SCOPE_TILE; }

  /// What it states for this problem. Where that is nonsense, forward and backward say so, and
  /// absence stands for it.
  attest_accuracy stated(const Problem& problem) const {
    attest_accuracy accuracy = described_.accuracy;
    if (calls_->accuracy(problem, accuracy).ok()) return accuracy;
    attest_accuracy unsaid{};
    unsaid.size = sizeof unsaid;
    return unsaid;
  }

  /// What Capabilities do not say.
  Status check_more(const Problem& problem, bool adjacent) const {
    if (problem.mask.causal && !described_.causal) return unsupported("causal");
    if (!adjacent && !described_.strides) return unsupported("columns apart from each other");
    attest_accuracy accuracy = described_.accuracy;
    const Status status = calls_->accuracy(problem, accuracy);
    // Only a statement that makes no sense is an error of the statement.
    if (status.code() != StatusCode::invalid_argument && status.code() != StatusCode::kernel_failed)
      return status;
    return {StatusCode::kernel_failed, "what it states for this problem: " + status.message()};
  }

  Described described_;
  std::unique_ptr<ForeignCalls> calls_;
  PluginParts<float> parts_f32_;
  PluginParts<double> parts_f64_;
  KernelDescription description_;
};

Status cannot_open(std::string why) {
  return {StatusCode::io_error, std::move(why)};
}

Result<Library> open_library(const std::string& given) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(given, ignored)) return cannot_open("no such file");
  // Without a '/' dlopen would look elsewhere.
  const std::string path = given.find('/') == std::string::npos ? "./" + given : given;
  if (void* const opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
    return Library(opened, [](void* library) { dlclose(library); });
  const char* const error = dlerror();
  const std::string why = error == nullptr ? "dlopen failed" : error;
  return cannot_open(one_line(why.c_str(), why.size() + 1, why.size()));
}

Result<attest_kernel_table> table_of(const Library& library, const PathAndSymbol& where) {
  void* const address = dlsym(library.get(), where.symbol.c_str());
  if (address == nullptr)
    return cannot_open("it has no symbol '" + where.symbol + "' (attest/kernel_abi.h)");
  const auto function = reinterpret_cast<attest_kernel_function*>(address);
  try {
    return read_table(function());
  } catch (...) {
    return cannot_open(where.symbol + " threw an exception");
  }
}

Result<Described> description_of(const attest_kernel_table& table) {
  try {
    return read_description(table.describe());
  } catch (...) {
    return invalid_argument("describe threw an exception");
  }
}

}  // namespace

Status cannot_use(std::string_view name, const Status& why) {
  return {why.code(), "cannot use " + std::string(name) + " as a kernel: " + why.message()};
}

bool names_plugin(std::string_view name) {
  const std::string_view before_colon = name.substr(0, name.find(':'));
  return before_colon.find('/') != std::string_view::npos || name.ends_with(kEnding) ||
         name.find(std::string(kEnding) + ":") != std::string_view::npos;
}

std::unique_ptr<Kernel> make_foreign_kernel(std::string name, std::unique_ptr<ForeignCalls> calls,
                                            Described described) {
  return std::make_unique<PluginKernel>(std::move(name), std::move(calls), std::move(described));
}

Result<LoadedPlugin> load_plugin(const std::string& path_and_symbol) {
  const PathAndSymbol where = split(path_and_symbol);
  Result<Library> library = open_library(where.path);
  if (!library.ok()) return library.status();
  const Result<attest_kernel_table> table = table_of(library.value(), where);
  if (!table.ok()) return table.status();
  Result<Described> described = description_of(table.value());
  if (!described.ok()) return described.status();
  if (described.value().capabilities.has(Feature::backward) && table.value().backward == nullptr)
    return invalid_argument("ATTEST_HAS_BACKWARD without a function `backward`");
  return LoadedPlugin{std::move(library).value(), table.value(), std::move(described).value()};
}

Result<std::unique_ptr<Kernel>> open_plugin(const std::string& path_and_symbol) {
  Result<LoadedPlugin> plugin = load_plugin(path_and_symbol);
  if (!plugin.ok()) return cannot_use(path_and_symbol, plugin.status());
  auto calls = std::make_unique<PluginCalls>(plugin.value());
  return make_foreign_kernel(path_and_symbol, std::move(calls),
                             std::move(plugin.value().described));
}

}  // namespace attest::foreign
