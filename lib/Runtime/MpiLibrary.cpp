//===- MpiLibrary.cpp - Open MPI, opened at run time ----------------------===//

#include "dtc/Runtime/MpiLibrary.h"
#include "dtc/Runtime/Error.h"

#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

using namespace dtc::rt;

template <typename F> void MpiLibrary::load(F &function, const char *name) {
  void *symbol = dlsym(library, name);
  if (!symbol)
    throw Error(cat("the MPI library has no ", name,
                    ": DTC speaks Open MPI only; start this program with Open "
                    "MPI's mpirun, or without one (ranks are threads then)"));
  function = reinterpret_cast<F>(symbol);
}

MpiLibrary::MpiLibrary() {
  const char *given = getenv("DTC_MPI_LIBRARY");
  std::string tried;
  for (const char *name : {"libmpi.so.40", "libmpi.so.20", "libmpi.so"}) {
    if (given && *given)
      name = given;
    // Open MPI's plugins look its symbols up: they must be global.
    library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    if (library)
      break;
    if (tried.empty())
      tried = dlerror();
    if (given && *given)
      break;
  }
  if (!library)
    throw Error(cat("started by mpirun, but Open MPI's library cannot be "
                    "opened: ",
                    tried, "; DTC_MPI_LIBRARY may name it"));
  // Objects of Open MPI's own: their absence tells another kind of MPI.
  load(world, "ompi_mpi_comm_world");
  load(byte, "ompi_mpi_byte");
  load(returnErrors, "ompi_mpi_errors_return");
  load(initThread, "MPI_Init_thread");
  load(finalizeMpi, "MPI_Finalize");
  load(abortMpi, "MPI_Abort");
  load(commRank, "MPI_Comm_rank");
  load(commSize, "MPI_Comm_size");
  load(setErrorHandler, "MPI_Comm_set_errhandler");
  load(isend, "MPI_Isend");
  load(irecv, "MPI_Irecv");
  load(testOne, "MPI_Test");
  load(errorString, "MPI_Error_string");

  constexpr int funneled = 1; // only the rank's own thread calls MPI
  int provided = 0;
  check(initThread(nullptr, nullptr, funneled, &provided), "MPI_Init_thread");
  if (provided < funneled)
    throw Error("this MPI does not allow threads (MPI_THREAD_FUNNELED)");
  check(setErrorHandler(world, returnErrors), "MPI_Comm_set_errhandler");
  check(commRank(world, &myRank), "MPI_Comm_rank");
  check(commSize(world, &worldSize), "MPI_Comm_size");
}

void MpiLibrary::check(int code, const char *what) {
  if (code == 0)
    return;
  char text[512] = "";
  int length = 0;
  if (errorString)
    errorString(code, text, &length);
  throw Error(cat(what, " failed: ", text));
}

void MpiLibrary::finalize() { check(finalizeMpi(), "MPI_Finalize"); }

void MpiLibrary::abort(int status) {
  abortMpi(world, status);
  _exit(status);
}

MpiLibrary::Request MpiLibrary::send(const void *data, size_t bytes, int to,
                                     int tag) {
  Request request = nullptr;
  check(isend(data, int(bytes), byte, to, tag, world, &request), "MPI_Isend");
  return request;
}

MpiLibrary::Request MpiLibrary::receive(void *data, size_t bytes, int from,
                                        int tag) {
  Request request = nullptr;
  check(irecv(data, int(bytes), byte, from, tag, world, &request), "MPI_Irecv");
  return request;
}

bool MpiLibrary::test(Request &request) {
  int done = 0;
  Status status;
  check(testOne(&request, &done, &status), "MPI_Test");
  if (done)
    request = nullptr;
  return done;
}
