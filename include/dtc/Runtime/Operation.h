//===- Operation.h - What a rank may wait in --------------------*- C++ -*-===//

#ifndef DTC_RUNTIME_OPERATION_H
#define DTC_RUNTIME_OPERATION_H

#include <string>

namespace dtc::rt {

/// A collective or one end of a channel, as messages name it. Other ranks' may
/// be asked for their text at any time: it depends on nothing that changes.
class Operation {
public:
  virtual ~Operation() = default;
  /// "'grads 0' (all_reduce of 12 f32 elements in 3 buffers)"
  virtual std::string text() const = 0;
};

} // namespace dtc::rt
#endif // DTC_RUNTIME_OPERATION_H
