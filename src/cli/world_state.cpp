#include "cli/world_state.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <exception>

#include "cli/file_output.hpp"
#include "cli/git_id.hpp"
#include "cli/saved_json.hpp"

namespace attest::cli {
namespace {

using Json = SavedJson;
using properties::Part;
using properties::WorldElement;
using properties::WorldTally;

constexpr std::string_view kFormat = "attest-world";
constexpr int kFormatVersion = 1;

/// More than any kernel has: a file says their number, which is then allocated.
constexpr Index kMaxTilings = 1000;

/// As text, for JSON has neither infinities nor NaN, and a reader of hex floats gets every bit.
Json number_json(double value) {
  return fmt::format("{:a}", value);
}

double number_of(const Json& json) {
  return std::strtod(json.get<std::string>().c_str(), nullptr);
}

Json element_json(const std::optional<WorldElement>& element) {
  if (!element) return nullptr;
  const Witness& witness = element->witness;
  return {{"part", element->part == Part::out ? "out" : "lse"},
          {"pair", element->pair},
          {"column", element->column},
          {"tiling", element->tiling},
          {"ratio", number_json(element->ratio)},
          {"got", number_json(witness.got)},
          {"want", number_json(witness.want.high)},
          {"want_low", number_json(witness.want.low)},
          {"want_radius", number_json(witness.want.radius)},
          {"error", number_json(witness.error)},
          {"bound", number_json(witness.bound)}};
}

std::optional<WorldElement> element_of(const Json& json) {
  if (json.is_null()) return std::nullopt;
  WorldElement element;
  element.part = json.at("part") == "out" ? Part::out : Part::lse;
  element.pair = count_member(json, "pair");
  element.column = count_member(json, "column");
  element.tiling = static_cast<std::size_t>(count_member(json, "tiling", kMaxTilings));
  element.ratio = number_of(json.at("ratio"));
  element.witness = {json.at("part").get<std::string>(),
                     {0, 0, 0},
                     0,
                     number_of(json.at("got")),
                     {number_of(json.at("want")), number_of(json.at("want_low")),
                      number_of(json.at("want_radius"))},
                     number_of(json.at("error")),
                     number_of(json.at("bound"))};
  return element;
}

Json kernel_json(const WorldKernel& kernel) {
  const WorldTally& found = kernel.found;
  return {{"kernel", kernel.name},
          {"version", kernel.version},
          {"tilings", kernel.tilings.size()},
          {"groups_done", kernel.groups_done},
          {"outputs", found.outputs},
          {"lse_values", found.lse_values},
          {"violations", found.violations},
          {"undecided", found.undecided},
          {"uninformative", found.uninformative},
          {"failure", found.failure},
          {"worst_out", element_json(found.worst_out)},
          {"worst_lse", element_json(found.worst_lse)},
          {"first_violation", element_json(found.first_violation)}};
}

WorldKernel kernel_of(const Json& json) {
  WorldKernel kernel;
  kernel.name = json.at("kernel").get<std::string>();
  kernel.version = json.at("version").get<std::string>();
  kernel.groups_done = count_member(json, "groups_done");
  WorldTally& found = kernel.found;
  found.outputs = count_member(json, "outputs");
  found.lse_values = count_member(json, "lse_values");
  found.violations = count_member(json, "violations");
  found.undecided = count_member(json, "undecided");
  found.uninformative = count_member(json, "uninformative");
  found.failure = json.at("failure").get<std::string>();
  found.worst_out = element_of(json.at("worst_out"));
  found.worst_lse = element_of(json.at("worst_lse"));
  found.first_violation = element_of(json.at("first_violation"));
  return kernel;
}

std::filesystem::path file_in(const std::filesystem::path& folder) {
  return folder / "world.json";
}

}  // namespace

std::string world_text(const WorldState& state) {
  Json kernels = Json::array();
  for (const WorldKernel& kernel : state.kernels) kernels.push_back(kernel_json(kernel));
  const Json json{{"format", kFormat},  {"version", kFormatVersion}, {"build", ATTEST_GIT_ID},
                  {"tier", state.tier}, {"keys", state.keys},        {"seconds", state.seconds},
                  {"kernels", kernels}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status save_world(const std::filesystem::path& folder, const WorldState& state) {
  return write_file(file_in(folder), world_text(state));
}

Result<WorldState> parse_world(std::string_view text, const std::string& name) {
  const auto broken = [&](const std::string& what) {
    return Status{StatusCode::io_error, name + ": " + what};
  };
  const Json json = parse_saved_json(text, kFormat);
  if (json.is_null()) return broken("is not the state of a world");
  return read_members(name, [&]() -> Result<WorldState> {
    if (json.at("version") != kFormatVersion)
      return broken("has another format version than " + std::to_string(kFormatVersion));
    if (json.at("build") != ATTEST_GIT_ID)
      return broken("was written by another build (" + json.at("build").get<std::string>() +
                    "; this is " ATTEST_GIT_ID "); begin again");
    WorldState state;
    state.tier = json.at("tier").get<std::string>();
    state.keys = count_member(json, "keys");
    state.seconds = json.at("seconds").get<double>();
    for (const Json& kernel : json.at("kernels")) {
      state.kernels.push_back(kernel_of(kernel));
      state.kernels.back().tilings.resize(
          static_cast<std::size_t>(count_member(kernel, "tilings", kMaxTilings)));
    }
    return state;
  });
}

Result<WorldState> load_world(const std::filesystem::path& folder) {
  const Result<std::string> text = read_saved_text(file_in(folder), kMaxStateFile);
  return text.ok() ? parse_world(text.value(), file_in(folder).string()) : text.status();
}

}  // namespace attest::cli
