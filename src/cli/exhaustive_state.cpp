#include "cli/exhaustive_state.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "cli/file_output.hpp"
#include "cli/git_id.hpp"
#include "cli/saved_json.hpp"

namespace attest::cli {
namespace {

using Json = SavedJson;
using reference::ElementaryTally;
using reference::LargestError;

constexpr std::string_view kFormat = "attest-exhaustive";
constexpr int kFormatVersion = 1;

/// As text, so that every bit comes back.
Json number_json(double value) {
  return fmt::format("{:a}", value);
}

double number_of(const Json& json) {
  return std::strtod(json.get<std::string>().c_str(), nullptr);
}

Json largest_json(const LargestError& largest) {
  return {{"error", number_json(largest.error)}, {"x", number_json(largest.x)}};
}

LargestError largest_of(const Json& json) {
  return {number_of(json.at("error")), static_cast<float>(number_of(json.at("x")))};
}

Json target_json(const ExhaustiveTarget& target) {
  const ElementaryTally& found = target.found;
  return {{"target", target.name},
          {"arguments", found.arguments},
          {"not_rounded", found.not_rounded},
          {"wrong", found.wrong},
          {"first_wrong", found.first_wrong ? number_json(*found.first_wrong) : Json(nullptr)},
          {"ulp", largest_json(found.ulp)},
          {"relative", largest_json(found.relative)},
          {"subnormal", largest_json(found.subnormal)}};
}

ExhaustiveTarget target_of(const Json& json) {
  ExhaustiveTarget target;
  target.name = json.at("target").get<std::string>();
  ElementaryTally& found = target.found;
  found.arguments = count_member(json, "arguments");
  found.not_rounded = count_member(json, "not_rounded");
  found.wrong = count_member(json, "wrong");
  if (!json.at("first_wrong").is_null())
    found.first_wrong = static_cast<float>(number_of(json.at("first_wrong")));
  found.ulp = largest_of(json.at("ulp"));
  found.relative = largest_of(json.at("relative"));
  found.subnormal = largest_of(json.at("subnormal"));
  return target;
}

}  // namespace

std::string exhaustive_text(const ExhaustiveState& state) {
  Json targets = Json::array();
  for (const ExhaustiveTarget& target : state.targets) targets.push_back(target_json(target));
  const Json json{
      {"format", kFormat},          {"version", kFormatVersion},        {"build", ATTEST_GIT_ID},
      {"function", state.function}, {"blocks_done", state.blocks_done}, {"seconds", state.seconds},
      {"targets", targets}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status save_exhaustive(const std::filesystem::path& path, const ExhaustiveState& state) {
  return write_file(path, exhaustive_text(state));
}

Result<ExhaustiveState> parse_exhaustive(std::string_view text, const std::string& name) {
  const auto broken = [&](const std::string& what) {
    return Status{StatusCode::io_error, name + ": " + what};
  };
  const Json json = parse_saved_json(text, kFormat);
  if (json.is_null()) return broken("is not the state of an exhaustive check");
  return read_members(name, [&]() -> Result<ExhaustiveState> {
    if (json.at("version") != kFormatVersion)
      return broken("has another format version than " + std::to_string(kFormatVersion));
    if (json.at("build") != ATTEST_GIT_ID)
      return broken("was written by another build (" + json.at("build").get<std::string>() +
                    "; this is " ATTEST_GIT_ID "); begin again");
    ExhaustiveState state;
    state.function = json.at("function").get<std::string>();
    state.blocks_done = count_member(json, "blocks_done");
    state.seconds = json.at("seconds").get<double>();
    for (const Json& target : json.at("targets")) state.targets.push_back(target_of(target));
    return state;
  });
}

Result<ExhaustiveState> load_exhaustive(const std::filesystem::path& path) {
  const Result<std::string> text = read_saved_text(path, kMaxStateFile);
  return text.ok() ? parse_exhaustive(text.value(), path.string()) : text.status();
}

}  // namespace attest::cli
