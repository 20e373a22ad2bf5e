//===- Fifo.h - A queue without allocation per element ----------*- C++ -*-===//

#ifndef DTC_RUNTIME_FIFO_H
#define DTC_RUNTIME_FIFO_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace dtc::rt {

/// Entries of `width` values side by side. Memory grows when more entries are
/// in the queue than ever before, and is kept. Entries are numbered from 0 in
/// the order of their pushes.
template <typename T> class Fifo {
public:
  explicit Fifo(size_t width = 1, size_t capacity = 16)
      : width(width), capacity(capacity), values(width * capacity) {}

  /// Entries that were ever pushed.
  uint64_t pushed() const { return end; }
  uint64_t size() const { return end - begin; }

  /// Values of an entry that is in the queue.
  T *at(uint64_t number) { return &values[number % capacity * width]; }
  T *front() { return at(begin); }

  /// The new last entry; its values are those of some older one.
  T *push() {
    if (size() == capacity) {
      std::vector<T> larger(2 * values.size());
      for (uint64_t n = begin; n < end; ++n)
        for (size_t i = 0; i < width; ++i)
          larger[n % (2 * capacity) * width + i] = std::move(at(n)[i]);
      values.swap(larger);
      capacity *= 2;
    }
    return at(end++);
  }
  void pop() { ++begin; }

private:
  size_t width, capacity;
  std::vector<T> values;
  uint64_t begin = 0, end = 0;
};

} // namespace dtc::rt
#endif // DTC_RUNTIME_FIFO_H
