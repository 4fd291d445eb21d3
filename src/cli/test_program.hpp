// Runs the program as a user does: in a fresh folder, with its exit code and both its streams.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace attest::cli {

using Words = std::vector<std::string>;

/// After this a run counts as hanging and is killed. Seconds in ATTEST_TEST_PATIENCE are for builds
/// that are slow on purpose.
inline const std::chrono::seconds kPatience = [] {
  const char* const asked = std::getenv("ATTEST_TEST_PATIENCE");
  return std::chrono::seconds{asked == nullptr ? 100 : std::atoi(asked)};
}();

struct Finished {
  int exit_code = -1;   ///< -1: ended by a signal
  int signal = 0;       ///< 0: ended by itself
  bool in_time = true;  ///< false: killed by the test, because it hung
  std::string out;
  std::string err;
};

/// What is special about one run.
struct Surroundings {
  std::optional<rlim_t> largest_file;  ///< bytes; a write beyond them fails, as on a full disk
  std::string standard_output;         ///< a file to write to, in place of Finished::out
  std::string program = ATTEST_PROGRAM;
};

class Running {
 public:
  Running(const Words& arguments, const std::filesystem::path& folder,
          const Surroundings& surroundings) {
    std::vector<char*> words{const_cast<char*>(surroundings.program.c_str())};
    for (const std::string& argument : arguments)
      words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    int out[2];
    int err[2];
    EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(err, O_CLOEXEC), 0);
    process_ = ::fork();
    if (process_ == 0) become_the_program(words, folder, surroundings, out[1], err[1]);
    ::close(out[1]);
    ::close(err[1]);
    readers_.emplace_back([this, from = out[0]] { read_all(from, finished_.out); });
    readers_.emplace_back([this, from = err[0]] { read_all(from, finished_.err); });
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    if (process_ > 0) wait(std::chrono::seconds{0});
  }

  void send(int signal) const { ::kill(process_, signal); }

  Finished wait(std::chrono::seconds limit = kPatience) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    int status = 0;
    while (::waitpid(process_, &status, WNOHANG) == 0) {
      if (finished_.in_time && std::chrono::steady_clock::now() >= deadline) {
        finished_.in_time = false;
        send(SIGKILL);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    process_ = -1;
    readers_.clear();
    if (WIFEXITED(status)) finished_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) finished_.signal = WTERMSIG(status);
    return std::move(finished_);
  }

 private:
  /// In the child: nothing here may allocate, for the parent may have had other threads.
  [[noreturn]] static void become_the_program(const std::vector<char*>& words,
                                              const std::filesystem::path& folder,
                                              const Surroundings& surroundings, int out, int err) {
    if (!surroundings.standard_output.empty())
      out = ::open(surroundings.standard_output.c_str(), O_WRONLY | O_CLOEXEC);
    const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    if (surroundings.largest_file) {
      const rlimit limit{*surroundings.largest_file, *surroundings.largest_file};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit then fails instead
    }
    if (::chdir(folder.c_str()) == 0) ::execv(words[0], words.data());
    ::_exit(127);
  }

  static void read_all(int from, std::string& into) {
    char bytes[4096];
    for (ssize_t count = 0; (count = ::read(from, bytes, sizeof bytes)) > 0;)
      into.append(bytes, static_cast<std::size_t>(count));
    ::close(from);
  }

  Finished finished_;
  pid_t process_ = -1;
  std::vector<std::jthread> readers_;
};

inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

inline std::string last_line(std::string_view text) {
  const std::vector<std::string> lines = lines_of(text);
  return lines.empty() ? std::string{} : lines.back();
}

/// A folder of its own for every test, removed at the end; the program runs in it.
class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    for (const char* name : {"ATTEST_SEED", "ATTEST_TIER", "ATTEST_OUT", "ATTEST_TENSORS"})
      ::unsetenv(name);
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~ProgramTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  Finished run(const Words& arguments, const Surroundings& surroundings = {}) const {
    Finished finished = Running(arguments, folder_, surroundings).wait();
    EXPECT_TRUE(finished.in_time) << "the program hung";
    EXPECT_EQ(finished.signal, 0) << finished.err;
    return finished;
  }

  /// Exit code 2, nothing on standard output, and one line that has all these parts.
  void expect_refused(const Words& arguments, const Words& parts) const {
    const Finished finished = run(arguments);
    SCOPED_TRACE(testing::PrintToString(arguments) + "\n" + finished.err);
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_EQ(finished.out, "");
    EXPECT_EQ(lines_of(finished.err).size(), 1U);
    EXPECT_TRUE(finished.err.starts_with("attest: ") && finished.err.ends_with("\n"));
    for (const std::string& part : parts)
      EXPECT_NE(finished.err.find(part), std::string::npos) << "missing: " << part;
  }

  const std::filesystem::path& folder() const { return folder_; }
  std::string read(const std::filesystem::path& name) const {
    std::ifstream stream(folder_ / name, std::ios::binary);
    EXPECT_TRUE(stream) << name;
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write(const std::filesystem::path& name, std::string_view content) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  bool exists(const std::filesystem::path& name) const {
    return std::filesystem::exists(folder_ / name);
  }

 private:
  // The process number, since ctest runs the tests of one program side by side.
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                  ("attest-program-test-" + std::to_string(::getpid()));
};

}  // namespace attest::cli
