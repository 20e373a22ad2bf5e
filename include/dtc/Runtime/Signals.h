//===- Signals.h - SIGINT and SIGTERM ---------------------------*- C++ -*-===//

#ifndef DTC_RUNTIME_SIGNALS_H
#define DTC_RUNTIME_SIGNALS_H

namespace dtc::rt {

/// SIGINT and SIGTERM ask for a stop after the step; a second SIGINT ends at
/// once. A pipe that nobody reads and a file-size limit become write errors.
void installSignalHandlers();

/// The signal that asked for a stop; 0: none.
int stopSignal();

/// Seconds since then; 0: none.
double secondsSinceStopSignal();

} // namespace dtc::rt
#endif // DTC_RUNTIME_SIGNALS_H
