//===- Link.cpp - Objects to executables ----------------------------------===//

#include "dtc/Tools/Compile/Compile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;

/// ../lib beside the tool, in a build tree and when installed.
static Expected<std::string> findRuntime(StringRef toolPath) {
  SmallString<128> path(sys::path::parent_path(toolPath));
  sys::path::append(path, "..", "lib", "libDTCRuntime.a");
  sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  if (!sys::fs::exists(path))
    return createStringError("the runtime library " + path +
                             " is missing; build the target DTCRuntime");
  return std::string(path);
}

static Expected<std::string> findCompiler() {
  for (const char *name :
       {"clang++-22", "clang-22", "clang++", "c++", "g++", "cc"})
    if (auto path = sys::findProgramByName(name))
      return *path;
  return createStringError("no compiler to link with: install clang-22 or "
                           "another C++ compiler, or use --emit=obj");
}

Error dtc::linkExecutable(StringRef object, StringRef output,
                          StringRef toolPath) {
  auto runtime = findRuntime(toolPath);
  if (!runtime)
    return runtime.takeError();
  auto compiler = findCompiler();
  if (!compiler)
    return compiler.takeError();
  StringRef libomp = DTC_LIBOMP_PATH;
  std::string rpath = ("-Wl,-rpath," + sys::path::parent_path(libomp)).str();
  if (!sys::fs::exists(libomp)) {
    libomp = "-lomp";
    rpath = "-Wl,--as-needed";
  }
  SmallString<128> log;
  if (std::error_code code =
          sys::fs::createTemporaryFile("dtc-link", "txt", log))
    return createStringError(code, "cannot make a temporary file");
  FileRemover removeLog(log);
  std::vector<StringRef> args = {*compiler, object, *runtime,   libomp,
                                 rpath,     "-o",   output,     "-lstdc++",
                                 "-lm",     "-ldl", "-lpthread"};
#ifdef DTC_LINK_SANITIZERS
  args.push_back(DTC_LINK_SANITIZERS);
#endif
  std::string message;
  int status =
      sys::ExecuteAndWait(*compiler, args, std::nullopt,
                          {std::nullopt, StringRef(log), StringRef(log)},
                          /*SecondsToWait=*/120, 0, &message);
  if (status == 0)
    return Error::success();
  if (auto text = MemoryBuffer::getFile(log))
    message += (*text)->getBuffer();
  return createStringError("linking with " + *compiler +
                           " failed: " + StringRef(message).rtrim());
}
