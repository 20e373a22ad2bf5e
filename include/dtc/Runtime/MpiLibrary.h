//===- MpiLibrary.h - Open MPI, opened at run time --------------*- C++ -*-===//
//
// The executable is not linked with MPI, so that it starts where there is none.
// The few functions and objects that it uses are part of Open MPI's binary
// interface, which versions 1.10 to 5 share; other kinds of MPI have another.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_RUNTIME_MPILIBRARY_H
#define DTC_RUNTIME_MPILIBRARY_H

#include <string>

namespace dtc::rt {

class MpiLibrary {
public:
  using Request = void *;

  /// Opens libmpi and calls MPI_Init_thread; throws Error.
  MpiLibrary();
  void finalize();
  [[noreturn]] void abort(int status);

  int rank() const { return myRank; }
  int size() const { return worldSize; }

  /// At most 2^31 - 1 bytes. Throw Error.
  Request send(const void *data, size_t bytes, int to, int tag);
  Request receive(void *data, size_t bytes, int from, int tag);
  /// Whether the request is complete; it is gone then.
  bool test(Request &request);

private:
  template <typename F> void load(F &function, const char *name);
  void check(int code, const char *what);

  struct Status { // as Open MPI lays it out
    int source, tag, error, cancelled;
    size_t count;
  };
  void *library = nullptr;
  void *world = nullptr, *byte = nullptr, *returnErrors = nullptr;
  int myRank = 0, worldSize = 1;

  int (*initThread)(int *, char ***, int, int *) = nullptr;
  int (*finalizeMpi)() = nullptr;
  int (*abortMpi)(void *, int) = nullptr;
  int (*commRank)(void *, int *) = nullptr;
  int (*commSize)(void *, int *) = nullptr;
  int (*setErrorHandler)(void *, void *) = nullptr;
  int (*isend)(const void *, int, void *, int, int, void *,
               Request *) = nullptr;
  int (*irecv)(void *, int, void *, int, int, void *, Request *) = nullptr;
  int (*testOne)(Request *, int *, Status *) = nullptr;
  int (*errorString)(int, char *, int *) = nullptr;
};

} // namespace dtc::rt
#endif // DTC_RUNTIME_MPILIBRARY_H
