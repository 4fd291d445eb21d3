// Saved cases: every tensor of a case comes back bit for bit.
#include "cli/case_store.hpp"

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/test_program.hpp"
#include "properties/test_case_of.hpp"

namespace attest::cli {
namespace {

class SavedCase : public ProgramTest {
 protected:
  properties::Case read_back(const properties::Case& value) const {
    const auto path =
        save_case(folder() / "cases", {"builtin:textbook", "bound.out", 1, Verdict{}, value});
    EXPECT_TRUE(path.ok()) << path.status().message();
    const auto stored = load_case(path.value());
    EXPECT_TRUE(stored.ok()) << stored.status().message();
    return stored.value().value;
  }
};

TEST_F(SavedCase, KeepsEveryTensorOfEveryType) {
  for (const std::string line :
       {"1x2:2x3:2 f32 vals=normal:3", "1x2:2x3:2 f64 bias=bh2d sink=head qv=yes vals=normal:3",
        "*x2:{1,2}x{3,2}:4/2 bf16 mask=causal:br win=1:0 bias=2d:f16 sink=head lse=ln "
        "bwd=dq,dk,dv,dbias,dsink,dlse layout=thd vals=normal:3",
        "1x1:2x3:2 f16 v=view(k) kv=paged:2:random:1 vals=normal:3",
        "1x1:2x3:2 e4m3 descale=2;0.5;4 mask=add:0,-inf,1/0,0,2 vals=normal:3",
        "1x1:2x3:2 e5m2 mask=doc:0,1/0,1,1 vals=normal:3"}) {
    SCOPED_TRACE(line);
    const properties::Case value = properties::case_of(line);
    const properties::Case back = read_back(value);
    EXPECT_EQ(back.problem, value.problem);
    EXPECT_EQ(back.tiling, value.tiling);
    for (const properties::CaseTensor& of : properties::case_tensors()) {
      EXPECT_EQ((back.*of.tensor).dtype(), (value.*of.tensor).dtype()) << of.name;
      EXPECT_EQ((back.*of.tensor).extents(), (value.*of.tensor).extents()) << of.name;
      EXPECT_EQ((back.*of.tensor).bytes(), (value.*of.tensor).bytes()) << of.name;
    }
  }
}

TEST_F(SavedCase, CasesThatDifferInOneTensorAreTwoCases) {
  const properties::Case one =
      properties::case_of("1x1:1x2:1 f32 sink=head vals=lit:1;2,3;4,5;sink=6");
  const properties::Case other =
      properties::case_of("1x1:1x2:1 f32 sink=head vals=lit:1;2,3;4,5;sink=7");
  EXPECT_EQ(read_back(one).sink.get(0, 0, 0, 0), 6);
  EXPECT_EQ(read_back(other).sink.get(0, 0, 0, 0), 7);
}

/// Names of the files that were removed from a folder, in the order in which they went.
class RemovedFiles {
 public:
  explicit RemovedFiles(const std::filesystem::path& folder)
      : watch_(::inotify_init1(IN_NONBLOCK)) {
    EXPECT_GE(::inotify_add_watch(watch_, folder.c_str(), IN_DELETE), 0);
  }
  RemovedFiles(const RemovedFiles&) = delete;
  RemovedFiles& operator=(const RemovedFiles&) = delete;
  ~RemovedFiles() { ::close(watch_); }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    alignas(inotify_event) std::array<char, 4096> buffer{};
    const ::ssize_t size = ::read(watch_, buffer.data(), buffer.size());
    for (::ssize_t at = 0; at < size;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      if ((event.mask & IN_DELETE) != 0)
        names.emplace_back(buffer.data() + at + static_cast<::ssize_t>(sizeof event));
      at += static_cast<::ssize_t>(sizeof event) + event.len;
    }
    return names;
  }

 private:
  int watch_;
};

TEST_F(SavedCase, IsNoCaseAnyMoreBeforeTheFirstOfItsTensorsGoes) {
  const auto path =
      save_case(folder() / "cases", {"builtin:textbook", "bound.out", 1, Verdict{},
                                     properties::case_of("1x1:1x2:1 f32 vals=normal:3")});
  ASSERT_TRUE(path.ok());
  const RemovedFiles removed(path.value());
  EXPECT_FALSE(remove_case(path.value()));
  EXPECT_EQ(removed.names(), (std::vector<std::string>{"case.json", "case.safetensors"}));
  EXPECT_FALSE(std::filesystem::exists(path.value()));
}

std::string refusal(const std::string& json) {
  const Result<StoredCase> stored = parse_case({json, {}}, "of");
  EXPECT_FALSE(stored.ok()) << json;
  return stored.status().message();
}

std::string description(const std::string& problem) {
  return R"({"format": "attest-case", "version": 1, "problem": ")" + problem + R"("})";
}

TEST(CaseText, IsRefusedWhereItIsNoCase) {
  const std::string no_case = "of/case.json: is not an attest case";
  for (const std::string json :
       {"", "[", "null", "[1]", "{}", R"({"format": 1})", R"({"format": ["attest-case"]})",
        R"({"format": "attest-world", "version": 1})", "{\"format\": \"attest-case\"} {"})
    EXPECT_EQ(refusal(json), no_case) << json;
  const std::string version = "of/case.json: has another format version than 1";
  EXPECT_EQ(refusal(R"({"format": "attest-case"})"), version);
  EXPECT_EQ(refusal(R"({"format": "attest-case", "version": "1"})"), version);
  EXPECT_EQ(refusal(R"({"format": "attest-case", "version": 2})"), version);
  EXPECT_EQ(refusal(R"({"format": "attest-case", "version": 1, "problem": 3})").substr(0, 15),
            "of/case.json: \n");
  EXPECT_EQ(refusal(description("1x1:1x1:1 f32")),
            "of/case.safetensors: byte 0: the file ends inside the 8 bytes of the header length");
}

TEST(CaseText, ThatNestsDeeplyTakesNoMemoryForIt) {
  const std::string brackets(1000, '[');
  EXPECT_EQ(refusal(R"({"format": "attest-case", "x": )" + brackets),
            "of/case.json: is not an attest case");
  // Brackets inside a text are no nesting.
  EXPECT_EQ(refusal(R"({"format": "attest-case", "x": "\")" + brackets + R"(", "version": 2})"),
            "of/case.json: has another format version than 1");
}

TEST(CaseText, OfAProblemThatNobodyCouldRunIsRefusedBeforeItsTensors) {
  EXPECT_EQ(refusal(description("1x1:1x999999999:1 f32")),
            "of/case.json: problem too large: a tensor has more than 2^28 elements");
  EXPECT_EQ(refusal(description("1099511627776x1:0x0:1 f32 v=view(k)")),
            "of/case.json: problem too large: a tensor has more than 2^28 elements");
}

std::string search_of(const std::string& evaluation, const std::string& evaluations) {
  return R"({"format": "attest-case", "version": 1, "problem": "1x1:1x1:1 f32", "search": )"
         R"({"ratio": 0.5, "evaluation": )" +
         evaluation + R"(, "evaluations": )" + evaluations +
         R"(, "stage": "moves", "among": "at most 16 keys"}})";
}

/// As far as the tensors, which are missing.
const std::string kReadable =
    "of/case.safetensors: byte 0: the file ends inside the 8 bytes of the header length";

TEST(CaseText, CountsOfASearchAreCounts) {
  EXPECT_EQ(refusal(search_of("3", "7")), kReadable);
  EXPECT_EQ(refusal(search_of("7", "7")), kReadable);
  const std::string search = "of/case.json: search: ";
  EXPECT_EQ(refusal(search_of("8", "7")), search + "evaluation is out of range");
  EXPECT_EQ(refusal(search_of("-1", "7")), search + "evaluation is out of range");
  EXPECT_EQ(refusal(search_of("1", "-7")), search + "evaluations is out of range");
  EXPECT_EQ(refusal(search_of("1", "9223372036854775808")), search + "evaluations is out of range");
  EXPECT_EQ(refusal(search_of("1", "1e3")), search + "evaluations is out of range");
  EXPECT_EQ(refusal(search_of("1", "\"7\"")), search + "evaluations is of another type");
}

TEST(CaseText, ASearchThatLacksSomethingIsRefused) {
  const std::string whole = search_of("3", "7");
  for (const std::string member : {"ratio", "evaluation", "evaluations", "stage", "among"}) {
    std::string lacks = whole;
    lacks.replace(lacks.find('"' + member + '"'), member.size() + 2, "\"other\"");
    EXPECT_EQ(refusal(lacks).find("of/case.json: search: "), 0U) << lacks;
  }
  for (const std::string ratio : {"-0.5", "null", "\"0.5\"", "[0.5]"}) {
    std::string other = whole;
    other.replace(other.find("0.5"), 3, ratio);
    EXPECT_EQ(refusal(other).find("of/case.json: search: ratio is "), 0U) << other;
  }
  for (const std::string search : {"3", "null", "[]", "{}"})
    EXPECT_EQ(refusal(R"({"format": "attest-case", "version": 1, "problem": "1x1:1x1:1 f32", )"
                      R"("search": )" +
                      search + "}")
                  .find("of/case.json: search: "),
              0U)
        << search;
}

TEST_F(SavedCase, IsRefusedWhereItsFileIsMissingOrTooLarge) {
  EXPECT_EQ(load_case(folder()).status().message(),
            (folder() / "case.json: cannot be read").string());
  write("case.json", "{}");
  std::filesystem::resize_file(folder() / "case.json", (std::uintmax_t{1} << 23) + 1);
  EXPECT_EQ(load_case(folder()).status().message(),
            (folder() / "case.json: is larger than 8388608 bytes").string());
}

}  // namespace
}  // namespace attest::cli
