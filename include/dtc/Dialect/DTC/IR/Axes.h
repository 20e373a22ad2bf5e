//===- Axes.h - Mesh axes, sub-axes and lists of them -----------*- C++ -*-===//
//
// A mesh axis `tp` of size n may be split: `tp:(pre)size` is the part of it
// whose coordinate is (i / (n / (pre * size))) % size, i being the coordinate
// on the whole axis (the notation is Shardy's). An axis reference carries pre
// and size, so that the local shape of a tensor follows from its type alone.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_DTC_IR_AXES_H
#define DTC_DIALECT_DTC_IR_AXES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir {
class AsmParser;
class AsmPrinter;
} // namespace mlir

namespace dtc {

/// A mesh axis (pre == 1 and size the axis's size) or a part of one.
struct Axis {
  mlir::StringAttr name;
  int64_t pre = 1;
  int64_t size = 1;

  int64_t end() const { return pre * size; }
  bool overlaps(const Axis &o) const {
    return name == o.name && std::max(pre, o.pre) < std::min(end(), o.end());
  }
  bool contains(const Axis &o) const {
    return name == o.name && pre <= o.pre && o.end() <= end();
  }
  bool operator==(const Axis &o) const {
    return name == o.name && pre == o.pre && size == o.size;
  }
  bool operator!=(const Axis &o) const { return !(*this == o); }
  /// Alphabetical, then major to minor: the order of sets.
  bool operator<(const Axis &o) const {
    return name == o.name ? pre < o.pre : name.getValue() < o.name.getValue();
  }
};

inline llvm::hash_code hash_value(const Axis &a) {
  return llvm::hash_combine(a.name, a.pre, a.size);
}

/// An ordered (major to minor) list of axes, or a sorted set of them.
using AxisList = llvm::SmallVector<Axis, 2>;

/// The product of the sizes.
int64_t product(llvm::ArrayRef<Axis> axes);

/// Drops axes of size 1 and merges neighbours that are parts of one axis, so
/// that equal lists mean equal placements.
AxisList mergedList(llvm::ArrayRef<Axis> axes);

/// As mergedList, for a set: sorts first.
AxisList mergedSet(llvm::ArrayRef<Axis> axes);

/// Whether any axis of `a` overlaps one of `b`.
bool overlap(llvm::ArrayRef<Axis> a, llvm::ArrayRef<Axis> b);

/// Collects the boundaries of axes and splits every axis at all of them: the
/// parts (atoms) are then equal or disjoint, and behave as axes of their own.
class Refinement {
public:
  void add(const Axis &axis);
  void add(llvm::ArrayRef<Axis> axes) {
    for (const Axis &a : axes)
      add(a);
  }
  /// False if the parts do not nest, such as tp:(1)2 and tp:(1)3.
  bool valid() const;
  AxisList split(llvm::ArrayRef<Axis> axes) const;
  /// Every atom, in the order of sets.
  AxisList atoms() const;

private:
  struct Entry {
    mlir::StringAttr name;
    llvm::SmallVector<int64_t, 4> bounds; // sorted, unique
    int64_t low, high;
    llvm::SmallVector<std::pair<int64_t, int64_t>, 4> covered;
  };
  Entry &entry(mlir::StringAttr name);
  llvm::SmallVector<Entry, 4> entries;
};

/// `dp:2, tp:(4)2` without brackets.
void printAxes(llvm::raw_ostream &os, llvm::ArrayRef<Axis> axes);
std::string toString(llvm::ArrayRef<Axis> axes);

/// Parses `dp:2, tp:(4)2` up to a token that cannot continue it.
mlir::ParseResult parseAxes(mlir::AsmParser &parser, AxisList &axes);

} // namespace dtc

#endif // DTC_DIALECT_DTC_IR_AXES_H
