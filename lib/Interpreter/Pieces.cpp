//===- Pieces.cpp - One value as the ranks hold it ------------------------===//

#include "dtc/Interpreter/Pieces.h"
#include "dtc/Dialect/DTC/IR/DTC.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

/// The finalizer of splitmix64: a bijection that mixes all bits.
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

static double toUnit(uint64_t x) {
  return static_cast<double>(x >> 11) * 0x1.0p-53;
}

/// Box and Muller, from two independent words.
static double toNormal(uint64_t a, uint64_t b) {
  constexpr double twoPi = 6.283185307179586;
  return std::sqrt(-2 * std::log1p(-toUnit(a))) * std::cos(twoPi * toUnit(b));
}

Random::Random(uint64_t seed, StringRef stream) : key(mix(seed)) {
  for (char c : stream)
    key = mix(key ^ static_cast<unsigned char>(c));
}

uint64_t Random::next() { return mix(key ^ mix(counter++)); }
double Random::uniform() { return toUnit(next()); }
double Random::normal() {
  uint64_t a = next();
  return toNormal(a, next());
}
double Random::uniformAt(uint64_t i) const { return toUnit(mix(key ^ mix(i))); }
double Random::normalAt(uint64_t i) const {
  return toNormal(mix(key ^ mix(2 * i)), mix(key ^ mix(2 * i + 1)));
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

double dtc::roundTo(Type element, double x) {
  if (!element.isBF16() || std::isnan(x))
    return x;
  // The upper half of an f32; a carry goes on into the exponent.
  auto bits = llvm::bit_cast<uint32_t>(static_cast<float>(x));
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
  return llvm::bit_cast<float>(bits);
}

void dtc::roundTo(Type element, Pieces &pieces) {
  if (element.isBF16())
    for (Array &piece : pieces)
      for (double &x : piece.data)
        x = roundTo(element, x);
}

void dtc::addTo(Pieces &total, const Pieces &x, Type element, bool round) {
  for (auto [t, y] : llvm::zip_equal(total, x))
    for (int64_t i = 0; i < t.count(); ++i)
      t[i] += y[i];
  if (round)
    roundTo(element, total);
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// Calls fn(offset in a, offset in b, n) for every run of n elements, along
/// the last dimension, of a box that starts at `atA` in a and at `atB` in b.
template <typename Fn>
static void forEachRun(ArrayRef<int64_t> box, const Array &a,
                       ArrayRef<int64_t> atA, const Array &b,
                       ArrayRef<int64_t> atB, Fn fn) {
  if (box.empty())
    return fn(0, 0, 1);
  SmallVector<int64_t> ia(atA), ib(atB);
  forEachIndex(box.drop_back(), [&](ArrayRef<int64_t> index) {
    for (auto [d, i] : llvm::enumerate(index)) {
      ia[d] = atA[d] + i;
      ib[d] = atB[d] + i;
    }
    if (box.back() > 0)
      fn(a.offset(ia), b.offset(ib), box.back());
  });
}

static void copyBox(ArrayRef<int64_t> box, const Array &from,
                    ArrayRef<int64_t> atFrom, Array &to,
                    ArrayRef<int64_t> atTo) {
  forEachRun(box, from, atFrom, to, atTo, [&](int64_t f, int64_t t, int64_t n) {
    std::copy_n(from.data.begin() + f, n, to.data.begin() + t);
  });
}

/// Piece i of length n along dimension d.
static Array take(const Array &x, int64_t d, int64_t i, int64_t n) {
  SmallVector<int64_t> shape(x.shape), from(x.rank(), 0), to(x.rank(), 0);
  shape[d] = n;
  from[d] = i * n;
  Array y(shape);
  copyBox(shape, x, from, y, to);
  return y;
}

/// Writes x into y at index `at` of dimension d.
static void place(const Array &x, Array &y, int64_t d, int64_t at) {
  SmallVector<int64_t> from(x.rank(), 0), to(x.rank(), 0);
  to[d] = at;
  copyBox(x.shape, x, from, y, to);
}

//===----------------------------------------------------------------------===//
// Where pieces lie
//===----------------------------------------------------------------------===//

namespace {
/// The part of the logical tensor that a rank's piece covers.
struct Window {
  SmallVector<int64_t> start, valid;
};
} // namespace

static Window getWindow(DTensorType type, MeshAttr mesh, int64_t rank) {
  Window w;
  for (auto [d, length] : llvm::enumerate(type.getLocalShape())) {
    int64_t start = mesh.getIndex(rank, type.getDimAxes(d)) * length;
    w.start.push_back(start);
    w.valid.push_back(
        std::clamp<int64_t>(type.getShape()[d] - start, 0, length));
  }
  return w;
}

static bool isPadded(DTensorType type) {
  return type.getShape() != type.getPadded();
}

/// Axes on which pieces differ.
static AxisList getDistinctAxes(DTensorType type) {
  AxisList axes;
  for (AxesAttr dim : type.getDims())
    llvm::append_range(axes, dim.getAxes());
  llvm::append_range(axes, type.getPartial().getAxes());
  llvm::append_range(axes, type.getMax().getAxes());
  return axes;
}

std::vector<std::vector<int64_t>> dtc::getGroups(MeshAttr mesh,
                                                 ArrayRef<Axis> axes) {
  int64_t ranks = mesh.getNumRanks(), size = product(axes);
  std::vector<std::vector<int64_t>> groups;
  std::vector<int64_t> groupOf(ranks, -1);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int64_t base = rank;
    for (const Axis &a : axes) {
      int64_t stride = mesh.getStride(a);
      base -= rank / stride % a.size * stride;
    }
    // The first rank of a group in rank order is the one at its origin.
    if (base == rank) {
      groupOf[base] = groups.size();
      groups.emplace_back(size);
    }
    groups[groupOf[base]][mesh.getIndex(rank, axes)] = rank;
  }
  return groups;
}

void dtc::poison(Pieces &pieces, DTensorType type, MeshAttr mesh) {
  if (!isPadded(type))
    return;
  for (size_t rank = 0; rank < pieces.size(); ++rank) {
    Array &piece = pieces[rank];
    Window w = getWindow(type, mesh, rank);
    for (int64_t d = 0; d < type.getRank(); ++d) {
      SmallVector<int64_t> at(type.getRank(), 0), box(piece.shape);
      at[d] = w.valid[d];
      box[d] -= w.valid[d];
      if (box[d] > 0)
        forEachRun(box, piece, at, piece, at,
                   [&](int64_t o, int64_t, int64_t n) {
                     std::fill_n(piece.data.begin() + o, n,
                                 std::numeric_limits<double>::quiet_NaN());
                   });
    }
  }
}

//===----------------------------------------------------------------------===//
// Distribute, assemble
//===----------------------------------------------------------------------===//

Pieces dtc::distribute(const Array &logical, DTensorType type, MeshAttr mesh,
                       Random &random) {
  ArrayRef<Axis> partial = type.getPartial().getAxes(),
                 max = type.getMax().getAxes();
  int64_t summands = product(partial), operands = product(max);
  // Whole arrays per place on the partial and max axes, cut afterwards. With
  // both, the maximum is of the sums.
  std::vector<Array> whole(summands * operands, logical);
  for (int64_t i = 0; i < logical.count(); ++i) {
    int64_t owner = random.below(operands);
    for (int64_t m = 0; m < operands; ++m) {
      double rest = logical[i];
      if (m != owner)
        rest -= random.below(8) == 0 ? std::numeric_limits<double>::infinity()
                                     : random.uniform();
      for (int64_t p = 1; p < summands; ++p) {
        double x = type.isInteger() ? static_cast<double>(random.below(7)) - 3
                                    : random.normal();
        whole[m * summands + p][i] = x;
        rest -= x;
      }
      whole[m * summands][i] = rest;
    }
  }
  SmallVector<int64_t> local = type.getLocalShape(), origin(type.getRank(), 0);
  Pieces pieces;
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank) {
    Window w = getWindow(type, mesh, rank);
    const Array &x = whole[mesh.getIndex(rank, max) * summands +
                           mesh.getIndex(rank, partial)];
    Array &piece = pieces.emplace_back(local);
    copyBox(w.valid, x, w.start, piece, origin);
  }
  poison(pieces, type, mesh);
  return pieces;
}

bool dtc::nearlyEqual(double a, double b, double tolerance) {
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return true;
  // False for NaN and for infinities that differ.
  return std::abs(a - b) <=
         tolerance * (1 + std::min(std::abs(a), std::abs(b)));
}

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string s = "[";
  for (auto [i, n] : llvm::enumerate(shape))
    s += (i ? ", " : "") + std::to_string(n);
  return s + "]";
}

LogicalResult dtc::checkShapes(const Pieces &pieces, DTensorType type,
                               MeshAttr mesh, EmitError emitError) {
  auto err = [&](const Twine &message) -> LogicalResult {
    if (emitError)
      emitError() << message;
    return failure();
  };
  if (static_cast<int64_t>(pieces.size()) != mesh.getNumRanks())
    return err("has " + Twine(pieces.size()) + " pieces on " +
               Twine(mesh.getNumRanks()) + " ranks");
  SmallVector<int64_t> local = type.getLocalShape();
  for (auto [rank, piece] : llvm::enumerate(pieces))
    if (piece.shape != local ||
        static_cast<int64_t>(piece.data.size()) != piece.count())
      return err("piece of rank " + Twine(rank) + " has shape " +
                 shapeText(piece.shape) + " but must have " + shapeText(local));
  return success();
}

LogicalResult dtc::checkPieces(const Pieces &pieces, DTensorType type,
                               MeshAttr mesh, double tolerance,
                               EmitError emitError) {
  if (failed(checkShapes(pieces, type, mesh, emitError)))
    return failure();
  AxisList distinct = getDistinctAxes(type);
  std::vector<int64_t> first(product(distinct), -1);
  for (auto [rank, piece] : llvm::enumerate(pieces)) {
    int64_t &copy = first[mesh.getIndex(rank, distinct)];
    if (copy < 0) {
      copy = rank;
      continue;
    }
    const Array &other = pieces[copy];
    for (int64_t i = 0; i < piece.count(); ++i) {
      if (nearlyEqual(piece[i], other[i], tolerance))
        continue;
      if (emitError)
        emitError() << "copies on ranks " << copy << " and " << rank
                    << " differ: element " << i << " of the piece is "
                    << other[i] << " and " << piece[i];
      return failure();
    }
  }
  return success();
}

FailureOr<Array> dtc::assemble(const Pieces &pieces, DTensorType type,
                               MeshAttr mesh, double tolerance,
                               EmitError emitError) {
  if (failed(checkPieces(pieces, type, mesh, tolerance, emitError)))
    return failure();
  ArrayRef<Axis> max = type.getMax().getAxes();
  std::vector<Array> sums(product(max), Array(type.getShape()));
  AxisList distinct = getDistinctAxes(type);
  std::vector<bool> seen(product(distinct), false);
  SmallVector<int64_t> origin(type.getRank(), 0);
  for (auto [rank, piece] : llvm::enumerate(pieces)) {
    int64_t i = mesh.getIndex(rank, distinct);
    if (seen[i])
      continue;
    seen[i] = true;
    Window w = getWindow(type, mesh, rank);
    Array &sum = sums[mesh.getIndex(rank, max)];
    const Array &x = piece;
    forEachRun(w.valid, x, origin, sum, w.start,
               [&](int64_t from, int64_t to, int64_t n) {
                 for (int64_t k = 0; k < n; ++k)
                   sum[to + k] += x[from + k];
               });
  }
  Array out = std::move(sums[0]);
  for (const Array &x : ArrayRef<Array>(sums).drop_front())
    for (int64_t i = 0; i < x.count(); ++i)
      if (!(out[i] >= x[i])) // NaN wins
        out[i] = std::isnan(out[i]) ? out[i] : x[i];
  return out;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

Pieces dtc::runCollective(const CollectiveSpec &spec, const Pieces &pieces,
                          DTensorType from, DTensorType to, MeshAttr mesh) {
  using CK = CollectiveKind;
  SmallVector<int64_t> local = to.getLocalShape();
  Pieces out(pieces.size(), Array(local));
  int64_t d = spec.dim;
  for (const std::vector<int64_t> &group : getGroups(mesh, spec.axes)) {
    auto reduced = [&](auto combine) {
      Array total = pieces[group[0]];
      for (int64_t rank : ArrayRef<int64_t>(group).drop_front())
        for (int64_t i = 0; i < total.count(); ++i)
          total[i] = combine(total[i], pieces[rank][i]);
      return total;
    };
    auto sum = [&] { return reduced(std::plus<double>()); };
    auto setAll = [&](const Array &x) {
      for (int64_t rank : group)
        out[rank] = x;
    };
    switch (spec.kind) {
    case CK::F:
    case CK::AsOne:
      for (int64_t rank : group)
        out[rank] = pieces[rank];
      break;
    case CK::G:
    case CK::AllReduce:
      setAll(sum());
      break;
    case CK::ReduceMax:
      setAll(reduced([](double a, double b) {
        return std::isnan(a) || a > b ? a : b; // NaN wins
      }));
      break;
    case CK::AllGather:
    case CK::AllGatherInvariant: {
      Array whole(local);
      for (auto [i, rank] : llvm::enumerate(group))
        place(pieces[rank], whole, d,
              static_cast<int64_t>(i) * pieces[rank].shape[d]);
      setAll(whole);
      break;
    }
    case CK::ReduceScatter: {
      Array total = sum();
      for (auto [i, rank] : llvm::enumerate(group))
        out[rank] = take(total, d, i, local[d]);
      break;
    }
    case CK::Slice:
    case CK::SliceReplicated:
      for (auto [i, rank] : llvm::enumerate(group))
        out[rank] = take(pieces[rank], d, i, local[d]);
      break;
    case CK::Pad:
      for (auto [i, rank] : llvm::enumerate(group))
        place(pieces[rank], out[rank], d,
              static_cast<int64_t>(i) * pieces[rank].shape[d]);
      break;
    case CK::KeepFirst:
    case CK::KeepFirstReplicated:
      out[group[0]] = pieces[group[0]];
      break;
    case CK::AllToAll:
      for (auto [i, rank] : llvm::enumerate(group))
        for (auto [j, other] : llvm::enumerate(group))
          place(take(pieces[other], spec.dim2, i, local[spec.dim2]), out[rank],
                d, static_cast<int64_t>(j) * pieces[other].shape[d]);
      break;
    }
  }
  poison(out, to, mesh);
  return out;
}
