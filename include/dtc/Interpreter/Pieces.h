//===- Pieces.h - One value as the ranks hold it ----------------*- C++ -*-===//
//
// A value of a placed type is one array per rank, all of the type's local
// shape. Padding is poison: NaN, which spreads into whatever reads it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_INTERPRETER_PIECES_H
#define DTC_INTERPRETER_PIECES_H

#include "dtc/Dialect/DTC/IR/Collectives.h"
#include "dtc/Dialect/DTC/IR/FactorRule.h"
#include "dtc/Interpreter/Array.h"

namespace dtc {

using Pieces = std::vector<Array>;

/// Random numbers that are the same on every platform and in every order of
/// construction: streams are named.
class Random {
public:
  explicit Random(uint64_t seed, llvm::StringRef stream = "");

  uint64_t next();
  /// In [0, 1).
  double uniform();
  double normal();
  /// In [0, n).
  int64_t below(int64_t n) {
    return static_cast<int64_t>(next() % static_cast<uint64_t>(n));
  }

  /// A number that depends on the stream and i only, not on what was drawn.
  double normalAt(uint64_t i) const;
  double uniformAt(uint64_t i) const;

private:
  uint64_t key, counter = 0;
};

/// Whether two numbers agree: NaN with NaN, infinities with themselves, others
/// within tolerance (1 + magnitude).
bool nearlyEqual(double a, double b, double tolerance);

/// Ranks that differ on `axes` only, each group in the order of the list.
std::vector<std::vector<int64_t>> getGroups(MeshAttr mesh,
                                            llvm::ArrayRef<Axis> axes);

/// A number as an element of a type holds it: rounded to bf16 by way of f32, in
/// which ops compute; others are as they are.
double roundTo(mlir::Type element, double x);
void roundTo(mlir::Type element, Pieces &pieces);

/// total += x, element by element; rounded after it if `round`.
void addTo(Pieces &total, const Pieces &x, mlir::Type element, bool round);

/// Overwrites padding with NaN.
void poison(Pieces &pieces, DTensorType type, MeshAttr mesh);

/// Any representation of a logical array in pieces of a type: summands of
/// partial axes are random; on max axes one rank has the element and the
/// others have less.
Pieces distribute(const Array &logical, DTensorType type, MeshAttr mesh,
                  Random &random);

/// Whether there is one piece of the local shape for each rank.
mlir::LogicalResult checkShapes(const Pieces &pieces, DTensorType type,
                                MeshAttr mesh, EmitError emitError);

/// As above, and whether pieces are equal where the type says that they are
/// copies.
mlir::LogicalResult checkPieces(const Pieces &pieces, DTensorType type,
                                MeshAttr mesh, double tolerance,
                                EmitError emitError);

/// The logical array; failure where checkPieces fails.
mlir::FailureOr<Array> assemble(const Pieces &pieces, DTensorType type,
                                MeshAttr mesh, double tolerance,
                                EmitError emitError);

/// Moves data as a collective does. The types must be legal for it.
Pieces runCollective(const CollectiveSpec &spec, const Pieces &pieces,
                     DTensorType from, DTensorType to, MeshAttr mesh);

} // namespace dtc

#endif // DTC_INTERPRETER_PIECES_H
