//===- CollectivesTest.cpp - Collectives and resharding, on data ----------===//
//
// Every typed use of a collective is the identity on the logical value, and so
// is every path of planReshard, forward and, along the transposes, backward.
//
//===----------------------------------------------------------------------===//

#include "Samples.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace dtc;
using namespace dtc::test;

namespace {

struct Shape {
  SmallVector<int64_t> shape, padded;
};

DTensorType logical(const Shape &shape, Type elementType = {}) {
  if (!elementType)
    elementType = Float64Type::get(&getContext());
  TensorSpec spec(shape.shape, elementType);
  spec.padded = shape.padded;
  return DTensorType::get(spec);
}

/// Every placement of a shape on some atoms, in every order of their entering
/// one dimension.
std::vector<DTensorType> getAllTypes(const Shape &shape, ArrayRef<Axis> atoms,
                                     bool withMax, Type elementType = {}) {
  std::vector<DTensorType> types;
  llvm::DenseSet<Type> seen;
  int64_t rank = shape.shape.size();
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, atoms.size()));
  do {
    SmallVector<int64_t> choices(atoms.size(), rank + 4);
    forEachIndex(choices, [&](ArrayRef<int64_t> choice) {
      TensorSpec spec(logical(shape, elementType));
      for (unsigned i : order) {
        if (choice[i] < rank)
          spec.set(atoms[i], PlacementKind::Shard, choice[i]);
        else
          spec.set(atoms[i], static_cast<PlacementKind>(choice[i] - rank));
      }
      DTensorType t = DTensorType::get(spec);
      if (!withMax && !t.getMax().empty())
        return;
      if (exists(t) && seen.insert(t).second)
        types.push_back(t);
    });
  } while (std::next_permutation(order.begin(), order.end()));
  return types;
}

Array drawArray(ArrayRef<int64_t> shape, Random &random) {
  Array x(shape);
  for (double &v : x.data)
    v = random.normal();
  return x;
}

bool isIdentity(const Pieces &pieces, DTensorType type, MeshAttr mesh,
                const Array &want) {
  FailureOr<Array> got = assemble(pieces, type, mesh, 1e-12, nullptr);
  return succeeded(got) && getMaxError(*got, want) < 1e-11;
}

std::string describe(const CollectiveSpec &c) {
  return getInfo(c.kind).mnemonic.str() + " " + dtc::toString(c.axes) +
         " dim " + std::to_string(c.dim) + " " + std::to_string(c.dim2);
}

std::string text(Type type) {
  std::string s;
  llvm::raw_string_ostream(s) << type;
  return s;
}

std::vector<TestMesh> getMoreMeshes() {
  std::vector<TestMesh> meshes = dtc::test::getMeshes();
  meshes.push_back(makeMesh("A2 x B4", {axis("A", 2), axis("B", 4)}));
  return meshes;
}

/// Dimensions that every axis divides, and padded ones.
std::vector<Shape> getShapes() {
  return {{{12, 8}, {12, 8}}, {{5, 7}, {6, 8}}, {{10, 3}, {12, 12}}};
}

} // namespace

TEST(Collectives, AreTheIdentity) {
  int used = 0;
  for (const TestMesh &mesh : getMoreMeshes()) {
    std::vector<AxisList> groups;
    for (const Axis &a : mesh.atoms)
      groups.push_back({a});
    if (mesh.atoms.size() == 2) {
      groups.push_back({mesh.atoms[0], mesh.atoms[1]});
      groups.push_back({mesh.atoms[1], mesh.atoms[0]});
    }
    for (const Shape &shape : getShapes()) {
      Random random(7, mesh.name);
      Array x = drawArray(shape.shape, random);
      for (DTensorType from : getAllTypes(shape, mesh.atoms, true))
        for (unsigned k = 0; k < numCollectiveKinds; ++k)
          for (const AxisList &axes : groups)
            for (int64_t dim : {0, 1}) {
              CollectiveSpec c{static_cast<CollectiveKind>(k), axes, dim,
                               1 - dim};
              FailureOr<DTensorType> to = inferCollectiveType(c, from, nullptr);
              if (failed(to))
                continue;
              ++used;
              Pieces moved =
                  runCollective(c, distribute(x, from, mesh.mesh, random), from,
                                *to, mesh.mesh);
              ASSERT_TRUE(isIdentity(moved, *to, mesh.mesh, x))
                  << mesh.name << ": " << describe(c) << ": " << text(from)
                  << " -> " << text(*to);
            }
    }
  }
  std::printf("%d typed uses\n", used);
  EXPECT_GT(used, 1000);
}

/// The transpose undoes the type on the conjugates; its own transpose is the
/// collective.
TEST(Collectives, TransposeOnConjugates) {
  for (const TestMesh &mesh : getMoreMeshes())
    for (DTensorType from :
         getAllTypes({{12, 24}, {12, 24}}, mesh.atoms, false))
      for (unsigned k = 0; k < numCollectiveKinds; ++k)
        for (const Axis &a : mesh.atoms) {
          CollectiveSpec c{static_cast<CollectiveKind>(k), {a}, 0, 1};
          FailureOr<DTensorType> to = inferCollectiveType(c, from, nullptr);
          if (failed(to))
            continue;
          std::optional<CollectiveSpec> t = getTranspose(c);
          ASSERT_TRUE(t.has_value()) << describe(c);
          EXPECT_TRUE(*getTranspose(*t) == c) << describe(c);
          FailureOr<DTensorType> back =
              inferCollectiveType(*t, to->getConjugate(), nullptr);
          ASSERT_TRUE(succeeded(back)) << describe(c) << " on " << text(from);
          EXPECT_EQ(*back, from.getConjugate()) << describe(c);
        }
}

//===----------------------------------------------------------------------===//
// Resharding
//===----------------------------------------------------------------------===//

namespace {
/// Runs one path and its transposes; whether both are right.
std::string tryPath(DTensorType from, DTensorType to, const TestMesh &mesh,
                    const Array &x, const Array &bar, Random &random,
                    int &steps) {
  FailureOr<SmallVector<CollectiveSpec>> path = planReshard(from, to);
  if (failed(path))
    return "has no path";
  steps += path->size();
  SmallVector<DTensorType> types = {from};
  Pieces data = distribute(x, from, mesh.mesh, random);
  for (const CollectiveSpec &c : *path) {
    FailureOr<DTensorType> next = inferCollectiveType(c, types.back(), nullptr);
    if (failed(next))
      return "has an illegal step " + describe(c);
    data = runCollective(c, data, types.back(), *next, mesh.mesh);
    types.push_back(*next);
  }
  if (types.back() != to)
    return "ends elsewhere, at " + text(types.back());
  if (!isIdentity(data, to, mesh.mesh, x))
    return "is wrong";
  DTensorType now = to.getConjugate();
  data = distribute(bar, now, mesh.mesh, random);
  for (const CollectiveSpec &c : llvm::reverse(*path)) {
    CollectiveSpec t = *getTranspose(c);
    FailureOr<DTensorType> next = inferCollectiveType(t, now, nullptr);
    if (failed(next))
      return "has an ill-typed transpose of " + describe(c);
    data = runCollective(t, data, now, *next, mesh.mesh);
    now = *next;
  }
  if (now != from.getConjugate())
    return "ends elsewhere backward, at " + text(now);
  return isIdentity(data, now, mesh.mesh, bar) ? "" : "is wrong backward";
}
} // namespace

TEST(Reshard, EveryPairHasARightPath) {
  int pairs = 0, steps = 0;
  for (const TestMesh &mesh : getMoreMeshes())
    for (const Shape &shape : getShapes()) {
      Random random(8, mesh.name);
      Array x = drawArray(shape.shape, random),
            bar = drawArray(shape.shape, random);
      std::vector<DTensorType> types = getAllTypes(shape, mesh.atoms, false);
      for (DTensorType from : types)
        for (DTensorType to : types) {
          ++pairs;
          std::string wrong = tryPath(from, to, mesh, x, bar, random, steps);
          ASSERT_EQ(wrong, "")
              << mesh.name << ": " << text(from) << " -> " << text(to);
        }
    }
  std::printf("%d pairs of types, %d collectives\n", pairs, steps);
}

/// Three atoms have thousands of types: some pairs of them, and of one, two
/// and three dimensions.
TEST(Reshard, SomePairsOnThreeAtoms) {
  int steps = 0;
  TestMesh mesh = makeMesh("A4 x B3", {axis("A", 4), axis("B", 3)},
                           {axis("A", 2), axis("A", 2, 2), axis("B", 3)});
  for (const Shape &shape :
       {Shape{{24}, {24}}, Shape{{12, 24}, {12, 24}}, Shape{{5, 12}, {12, 12}},
        Shape{{12, 2, 7}, {12, 2, 12}}}) {
    Random random(9);
    Array x = drawArray(shape.shape, random),
          bar = drawArray(shape.shape, random);
    std::vector<DTensorType> types = getAllTypes(shape, mesh.atoms, false);
    for (int i = 0; i < 150; ++i) {
      DTensorType from = types[random.below(types.size())],
                  to = types[random.below(types.size())];
      std::string wrong = tryPath(from, to, mesh, x, bar, random, steps);
      ASSERT_EQ(wrong, "") << text(from) << " -> " << text(to);
    }
  }
}

namespace {
/// What a path is chosen by: how often it moves a reduction of the cotangent
/// (integers have none), then bytes.
struct PathCost {
  int moves = 0;
  double bytes = 0;
  static PathCost none() { return {1 << 20, 0}; }
  static PathCost of(const CollectiveSpec &c, DTensorType on) {
    bool moves = c.kind == CollectiveKind::AsOne ||
                 c.kind == CollectiveKind::KeepFirst ||
                 c.kind == CollectiveKind::KeepFirstReplicated;
    return {moves && on.isFloat(), getBytesSent(c, on)};
  }
  PathCost operator+(const PathCost &o) const {
    return {moves + o.moves, bytes + o.bytes};
  }
  bool operator<(const PathCost &o) const {
    return moves != o.moves ? moves < o.moves : bytes < o.bytes - 1e-9;
  }
};

/// Every ordered group of some of the atoms.
std::vector<AxisList> getGroups(ArrayRef<Axis> atoms) {
  std::vector<AxisList> groups = {{}};
  for (size_t i = 0; i < groups.size(); ++i)
    for (const Axis &a : atoms)
      if (!llvm::is_contained(groups[i], a)) {
        AxisList longer = groups[i];
        longer.push_back(a);
        groups.push_back(longer);
      }
  groups.erase(groups.begin());
  return groups;
}

/// Which of the atoms a type names, as bits.
unsigned getNamed(DTensorType type, ArrayRef<Axis> atoms) {
  unsigned bits = 0;
  for (auto [i, a] : llvm::enumerate(atoms))
    bits |= overlap(a, type.getNamedAxes()) << i;
  return bits;
}

/// The least cost between all pairs of types that name only the atoms in
/// `allowed`, over every legal collective.
std::vector<std::vector<PathCost>> getLeastCosts(ArrayRef<DTensorType> types,
                                                 ArrayRef<Axis> atoms,
                                                 int64_t rank,
                                                 unsigned allowed) {
  llvm::DenseMap<DTensorType, size_t> number;
  for (auto [i, t] : llvm::enumerate(types))
    number[t] = i;
  size_t n = types.size();
  std::vector<std::vector<PathCost>> cost(
      n, std::vector<PathCost>(n, PathCost::none()));
  auto isAllowed = [&](DTensorType t) {
    return (getNamed(t, atoms) & ~allowed) == 0;
  };
  for (size_t i = 0; i < n; ++i) {
    cost[i][i] = {};
    if (!isAllowed(types[i]))
      continue;
    for (const AxisList &group : getGroups(atoms))
      for (unsigned k = 0; k < numCollectiveKinds; ++k)
        forEachIndex({rank, rank}, [&](ArrayRef<int64_t> dims) {
          CollectiveSpec c{static_cast<CollectiveKind>(k), group, dims[0],
                           dims[1]};
          FailureOr<DTensorType> to = inferCollectiveType(c, types[i], nullptr);
          if (succeeded(to) && isAllowed(*to))
            cost[i][number.at(*to)] =
                std::min(cost[i][number.at(*to)], PathCost::of(c, types[i]));
        });
  }
  for (size_t k = 0; k < n; ++k)
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j)
        cost[i][j] = std::min(cost[i][j], cost[i][k] + cost[k][j]);
  return cost;
}

/// Holds `pairs` random pairs (0: all) against the least costs.
void expectCheapest(const TestMesh &mesh, const Shape &shape, Type elementType,
                    int pairs) {
  std::vector<DTensorType> types =
      getAllTypes(shape, mesh.atoms, false, elementType);
  std::vector<std::vector<std::vector<PathCost>>> costs;
  for (unsigned bits = 0; bits < 1u << mesh.atoms.size(); ++bits)
    costs.push_back(getLeastCosts(types, mesh.atoms, shape.shape.size(), bits));
  auto check = [&](size_t i, size_t j) {
    FailureOr<SmallVector<CollectiveSpec>> path =
        planReshard(types[i], types[j]);
    ASSERT_TRUE(succeeded(path));
    const PathCost &least = costs[getNamed(types[i], mesh.atoms) |
                                  getNamed(types[j], mesh.atoms)][i][j];
    PathCost cost;
    DTensorType now = types[i];
    for (const CollectiveSpec &c : *path) {
      cost = cost + PathCost::of(c, now);
      now = *inferCollectiveType(c, now, nullptr);
    }
    ASSERT_FALSE(least < cost)
        << mesh.name << ": " << text(types[i]) << " -> " << text(types[j])
        << " sends " << cost.bytes << " bytes (" << cost.moves
        << " reductions moved), not " << least.bytes << " (" << least.moves
        << ")";
  };
  Random random(12, mesh.name);
  for (int k = 0; k < pairs; ++k)
    check(random.below(types.size()), random.below(types.size()));
  if (pairs == 0)
    for (size_t i = 0; i < types.size(); ++i)
      for (size_t j = 0; j < types.size(); ++j)
        check(i, j);
}
} // namespace

/// No other path of any length, over any groups of the axes that either type
/// names, sends less.
TEST(Reshard, IsTheCheapest) {
  for (Type elementType : {Type(Float64Type::get(&getContext())),
                           Type(IntegerType::get(&getContext(), 32))}) {
    for (const TestMesh &mesh : getMoreMeshes())
      for (const Shape &shape : {Shape{{12, 8}, {12, 8}}, {{5, 7}, {6, 8}}})
        expectCheapest(mesh, shape, elementType, 0);
    TestMesh three = makeMesh("A4 x B3", {axis("A", 4), axis("B", 3)},
                              {axis("A", 2), axis("A", 2, 2), axis("B", 3)});
    expectCheapest(three, {{24}, {24}}, elementType, 100);
    expectCheapest(three, {{12, 24}, {12, 24}}, elementType, 100);
  }
}

/// A maximum goes to the others through its reduction, and nothing becomes one.
TEST(Reshard, MaximaAreReduced) {
  TestMesh mesh = makeMesh("A2 x B2", {axis("A", 2), axis("B", 2)});
  Random random(10);
  Array x = drawArray({4, 4}, random);
  std::vector<DTensorType> types =
      getAllTypes({{4, 4}, {4, 4}}, mesh.atoms, true);
  for (DTensorType from : types)
    for (DTensorType to : types) {
      if (from == to)
        continue;
      bool possible = llvm::all_of(to.getMax().getAxes(), [&](const Axis &a) {
        return llvm::is_contained(from.getMax().getAxes(), a);
      });
      FailureOr<SmallVector<CollectiveSpec>> path = planReshard(from, to);
      ASSERT_EQ(succeeded(path), possible) << text(from) << " -> " << text(to);
      if (!possible)
        continue;
      DTensorType now = from;
      Pieces data = distribute(x, from, mesh.mesh, random);
      for (const CollectiveSpec &c : *path) {
        DTensorType next = *inferCollectiveType(c, now, nullptr);
        data = runCollective(c, data, now, next, mesh.mesh);
        now = next;
      }
      EXPECT_TRUE(isIdentity(data, to, mesh.mesh, x))
          << text(from) << " -> " << text(to);
    }
}

/// The ops that are created verify, and their derivatives run to the same
/// values as the paths above.
TEST(Reshard, CreatesValidOps) {
  MLIRContext *ctx = &getContext();
  TestMesh mesh = makeMesh("A2 x B3", {axis("A", 2), axis("B", 3)});
  Location loc = UnknownLoc::get(ctx);
  std::vector<DTensorType> types =
      getAllTypes({{5, 7}, {6, 12}}, mesh.atoms, false);
  Random random(11);
  Array x = drawArray({5, 7}, random);
  for (int i = 0; i < 100; ++i) {
    DTensorType from = types[random.below(types.size())],
                to = types[random.below(types.size())];
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
    module->getOperation()->setAttr(attrs::mesh, mesh.mesh);
    auto func =
        func::FuncOp::create(b, loc, "f", FunctionType::get(ctx, from, to));
    Block *body = func.addEntryBlock();
    b.setInsertionPointToEnd(body);
    FailureOr<Value> value = reshard(b, loc, body->getArgument(0), to);
    ASSERT_TRUE(succeeded(value));
    func::ReturnOp::create(b, loc, *value);
    ASSERT_TRUE(succeeded(verify(*module)));
    Interpreter interpreter(*module);
    FailureOr<SmallVector<Pieces>> got =
        interpreter.call(func, distribute(x, from, mesh.mesh, random));
    ASSERT_TRUE(succeeded(got));
    EXPECT_TRUE(isIdentity((*got)[0], to, mesh.mesh, x));
  }
}
