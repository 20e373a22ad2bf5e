//===- Graph.h - A model graph that is drawn by chance ----------*- C++ -*-===//
//
// A plain description of a hand-written model: functions of nodes over the
// residual stream. It is easy to draw, to make smaller, and to print as IR.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TOOLS_FUZZ_GRAPH_H
#define DTC_TOOLS_FUZZ_GRAPH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace dtc::fuzz {

/// Lengths of the named dimensions. kvHeads divides heads; headDim is even.
struct Sizes {
  int64_t batch = 4, seq = 4, embed = 4, heads = 2, kvHeads = 2, headDim = 2,
          mlp = 4, vocab = 5, experts = 2;
};

enum class ParamKind {
  Row,         ///< embed
  Square,      ///< embed x embed
  Up,          ///< embed x mlp
  Down,        ///< mlp x embed
  Hidden,      ///< mlp
  Table,       ///< vocab x embed
  Positions,   ///< seq rows x embed
  SeqSquare,   ///< seq x seq, by names of no rule
  Query,       ///< embed x heads x head_dim
  Key,         ///< embed x kv_heads x head_dim
  Output,      ///< heads x head_dim x embed
  QueryBias,   ///< heads x head_dim
  HeadRow,     ///< head_dim
  ExpertsUp,   ///< experts x embed x mlp
  ExpertsDown, ///< experts x mlp x embed
};

/// What a node computes from one or two values of the stream.
enum class NodeKind {
  RmsNorm,
  LayerNorm,
  Add,
  Multiply,
  Scale,
  Bias,
  Dropout,
  FeatureMean,     ///< mean over the features, repeated
  SequenceMean,    ///< mean over the sequence, repeated
  Linear,          ///< a square matrix
  Derived,         ///< a bias that is computed from parameters alone
  Composed,        ///< a product of two matrices as one matrix
  MixSequence,     ///< a matrix over the sequence
  RowProduct,      ///< (a . b) a, by rows
  LinearAttention, ///< b (a^T b), summed over the sequence
  Scores,          ///< (a b^T) b: both sides have a sequence
  AddPositions,    ///< rows of a position table
  AddTokens,       ///< rows of a vocabulary table, again
  Mlp,
  Gated,
  HeadMlp, ///< hidden features seen as heads
  Experts, ///< several hidden layers, summed
  Attention,
  Call,
};
constexpr unsigned numNodeKinds = unsigned(NodeKind::Call) + 1;

/// Bits of Node::flags; a kind reads those that it knows.
enum NodeFlag : unsigned {
  Named = 1,       ///< its result has the stream's dtc.dims
  NamedInside = 2, ///< values inside have theirs
  WithBias = 4,
  Causal = 8,
  WithRotary = 16,
  WithDocuments = 32,
  WithDropout = 64,
  WithHeadNorm = 128,
};

struct Node {
  NodeKind kind = NodeKind::Scale;
  /// Values: 0 is the function's input, i the result of node i - 1.
  int a = 0, b = 0;
  unsigned flags = 0;
  /// Activation function, site of random numbers, result of a call.
  int variant = 0;
  /// By role (getRoles), or one for each parameter of a callee: numbers in the
  /// function's list of parameters.
  std::vector<int> params;
  int callee = -1;
  /// `dtc.sharding` of the result: axes of its three dimensions, such as
  /// "dp:2, tp:(1)2". Empty: no annotation.
  std::vector<std::string> sharding;
};

/// Number of a parameter's dimensions.
unsigned getRank(ParamKind kind);

/// The parameters that a kind of node may use, by role.
llvm::ArrayRef<ParamKind> getRoles(NodeKind kind);
/// Which of them it uses under its flags.
bool usesRole(const Node &node, unsigned role);

struct Function {
  std::vector<Node> nodes;
  std::vector<ParamKind> params;
  /// Values that it returns: one or two.
  std::vector<int> results = {0};
};

/// How the main function's parameters are stored.
struct Storage {
  /// The stored dimensions are the reversed ones.
  bool transposed = false;
  /// The last two dimensions are one in the file.
  bool merged = false;
  std::vector<std::string> sharding;
};

struct Graph {
  Sizes sizes;
  /// Functions call those before them only.
  std::vector<Function> functions;
  /// Its parameters are the model's.
  Function main;
  std::vector<Storage> storage;
  int embeddingTable = 0, headTable = 0, finalRow = 0;
  bool positionTable = false;
  /// A number of its own for the loss: the stream's sum.
  bool extraLoss = false;
  /// A second head with its own loss, on a value of the middle.
  int middleHead = -1;
  bool unusedParam = false;
  /// Calls are written out, for -dtc-outline-layers to find.
  bool flat = false;
  /// Functions take positions, row numbers, ... whether they need them or not.
  bool passEverything = false;
  double labelSmoothing = 0;
};

/// The model as IR.
std::string printGraph(const Graph &graph);

} // namespace dtc::fuzz

#endif // DTC_TOOLS_FUZZ_GRAPH_H
