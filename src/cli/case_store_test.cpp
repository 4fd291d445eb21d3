// Saved cases: every tensor of a case comes back bit for bit.
#include "cli/case_store.hpp"

#include <gtest/gtest.h>

#include <string>

#include "cli/test_program.hpp"

namespace attest::cli {
namespace {

properties::Case made(const std::string& line) {
  ProblemText text;
  TextError error;
  EXPECT_TRUE(parse_problem_text(line, text, error)) << with_caret(line, error);
  return properties::make_case(text, nullptr).value();
}

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
    const properties::Case value = made(line);
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
  const properties::Case one = made("1x1:1x2:1 f32 sink=head vals=lit:1;2,3;4,5;sink=6");
  const properties::Case other = made("1x1:1x2:1 f32 sink=head vals=lit:1;2,3;4,5;sink=7");
  EXPECT_EQ(read_back(one).sink.get(0, 0, 0, 0), 6);
  EXPECT_EQ(read_back(other).sink.get(0, 0, 0, 0), 7);
}

}  // namespace
}  // namespace attest::cli
