//===- ProgramFixture.h - Running executables in tests ----------*- C++ -*-===//

#ifndef DTC_UNITTESTS_PROGRAMFIXTURE_H
#define DTC_UNITTESTS_PROGRAMFIXTURE_H

#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/Platform.h"
#include "dtc/Runtime/Safetensors.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <sys/wait.h>
#include <unistd.h>

namespace dtc::test {

struct Result {
  int status;
  std::string output;
  double seconds;

  int errors() const {
    int n = 0;
    for (size_t at = 0; (at = output.find("error:", at)) != std::string::npos;
         ++at)
      ++n;
    return n;
  }
};

class Programs : public testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() /
             ("dtc-runtime-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    std::string text;
    unsigned x = 1;
    for (int i = 0; i < 5000; ++i)
      text += char('a' + (x = x * 1664525 + 1013904223) / 600000000);
    write("text", text);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void write(const std::string &name, const std::string &bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  }
  std::string read(const std::string &name) {
    std::ifstream file(folder / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool exists(const std::string &name) {
    return std::filesystem::exists(folder / name);
  }
  /// Files that are neither named nor made by SetUp.
  std::string leftovers(const std::vector<std::string> &known = {}) {
    std::string names;
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
      std::string name = entry.path().filename();
      if (name != "text" &&
          std::find(known.begin(), known.end(), name) == known.end())
        names += name + " ";
    }
    return names;
  }

  /// Runs a shell command in the folder; $P is where the programs are.
  Result run(const std::string &command) {
    // Separate lines: a background command must not take them with it.
    std::string whole =
        "cd '" + folder.string() +
        "' || exit\nexport P='" DTC_FAKE_PROGRAMS "'\nexec 2>&1\n" + command;
    double began = rt::now();
    FILE *pipe =
        popen(("timeout -k 1 60 bash -c '" +
               std::regex_replace(whole, std::regex("'"), "'\\''") + "'")
                  .c_str(),
              "r");
    Result result = {};
    char buffer[4096];
    while (size_t n = fread(buffer, 1, sizeof(buffer), pipe))
      result.output.append(buffer, n);
    int status = pclose(pipe);
    result.status =
        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.seconds = rt::now() - began;
    return result;
  }

  static bool haveMpirun() {
    return system("command -v mpirun >/dev/null 2>&1 && mpirun --version "
                  "2>/dev/null | grep -q 'Open MPI'") == 0;
  }
  static std::string mpirun(int ranks) {
    return "env OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 "
           "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun -n " +
           std::to_string(ranks) + " --oversubscribe ";
  }

  void expectEqualTensors(const std::string &a, const std::string &b,
                          double bound) {
    rt::SafetensorsFile x((folder / a).string()), y((folder / b).string());
    ASSERT_EQ(x.entries().size(), y.entries().size());
    rt::FloatLoader load = rt::floatLoader("F32");
    for (const rt::SafetensorsEntry &entry : x.entries()) {
      const rt::SafetensorsEntry *other = y.find(entry.name);
      ASSERT_TRUE(other) << entry.name;
      ASSERT_EQ(entry.shape, other->shape);
      for (int64_t i = 0; i < entry.elements(); ++i)
        ASSERT_NEAR(load(entry.data, i), load(other->data, i), bound)
            << entry.name << " " << i;
    }
  }

  std::filesystem::path folder;
};

} // namespace dtc::test

#define EXPECT_HAS(result, text)                                               \
  EXPECT_NE((result).output.find(text), std::string::npos) << (result).output

#endif // DTC_UNITTESTS_PROGRAMFIXTURE_H
