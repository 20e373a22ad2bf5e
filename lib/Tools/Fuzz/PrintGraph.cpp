//===- PrintGraph.cpp - A drawn graph as model IR -------------------------===//

#include "dtc/Tools/Fuzz/Graph.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <map>

using namespace llvm;
using namespace dtc::fuzz;

ArrayRef<ParamKind> dtc::fuzz::getRoles(NodeKind kind) {
  using P = ParamKind;
  static const P row[] = {P::Row}, twoRows[] = {P::Row, P::Row},
                 square[] = {P::Square}, derived[] = {P::Row, P::Square},
                 composed[] = {P::Up, P::Down}, sequence[] = {P::SeqSquare},
                 positions[] = {P::Positions}, tokens[] = {P::Table},
                 mlp[] = {P::Up, P::Down, P::Hidden, P::Row},
                 gated[] = {P::Up, P::Up, P::Down},
                 heads[] = {P::Query, P::Output, P::QueryBias},
                 experts[] = {P::ExpertsUp, P::ExpertsDown},
                 attention[] = {P::Query,     P::Key, P::Key,    P::Output,
                                P::QueryBias, P::Row, P::HeadRow};
  switch (kind) {
  case NodeKind::RmsNorm:
  case NodeKind::Bias:
    return row;
  case NodeKind::LayerNorm:
    return twoRows;
  case NodeKind::Linear:
    return square;
  case NodeKind::Derived:
    return derived;
  case NodeKind::Composed:
    return composed;
  case NodeKind::MixSequence:
    return sequence;
  case NodeKind::AddPositions:
    return positions;
  case NodeKind::AddTokens:
    return tokens;
  case NodeKind::Mlp:
    return mlp;
  case NodeKind::Gated:
    return gated;
  case NodeKind::HeadMlp:
    return heads;
  case NodeKind::Experts:
    return experts;
  case NodeKind::Attention:
    return attention;
  default:
    return {};
  }
}

bool dtc::fuzz::usesRole(const Node &node, unsigned role) {
  bool bias = node.flags & WithBias;
  switch (node.kind) {
  case NodeKind::Mlp:
  case NodeKind::HeadMlp:
    return role < 2 || bias;
  case NodeKind::Attention:
    return role < 4 || (role < 6 ? bias : bool(node.flags & WithHeadNorm));
  default:
    return true;
  }
}

using Names = SmallVector<StringRef, 4>;

static Names paramDims(ParamKind kind) {
  switch (kind) {
  case ParamKind::Row:
    return {"embed"};
  case ParamKind::Square:
    return {"embed", "embed_out"};
  case ParamKind::Up:
    return {"embed", "mlp"};
  case ParamKind::Down:
    return {"mlp", "embed"};
  case ParamKind::Hidden:
    return {"mlp"};
  case ParamKind::Table:
    return {"vocab", "embed"};
  case ParamKind::Positions:
    return {"position", "embed"};
  case ParamKind::SeqSquare:
    return {"seq_in", "seq_out"};
  case ParamKind::Query:
    return {"embed", "heads", "head_dim"};
  case ParamKind::Key:
    return {"embed", "kv_heads", "head_dim"};
  case ParamKind::Output:
    return {"heads", "head_dim", "embed"};
  case ParamKind::QueryBias:
    return {"heads", "head_dim"};
  case ParamKind::HeadRow:
    return {"head_dim"};
  case ParamKind::ExpertsUp:
    return {"experts", "embed", "mlp"};
  case ParamKind::ExpertsDown:
    return {"experts", "mlp", "embed"};
  }
  llvm_unreachable("unknown kind of parameter");
}

unsigned dtc::fuzz::getRank(ParamKind kind) { return paramDims(kind).size(); }

namespace {

/// What is not a parameter and comes into functions from outside.
enum Aux : unsigned {
  PositionsAux,
  RowsAux,
  RngAux,
  LayerAux,
  DocumentsAux,
  PlacesAux,
  IdsAux,
  numAux
};
const char *const auxNames[] = {"%pos",       "%rows",   "%rng", "%layer",
                                "%documents", "%places", "%ids"};

/// Aux values by bits.
using AuxSet = unsigned;

class Printer {
public:
  explicit Printer(const Graph &graph) : graph(graph), sizes(graph.sizes) {}

  std::string print();

private:
  struct Value {
    std::string name;
    Names dims;
  };
  /// Where the body of a function is printed: its parameters, and what calls
  /// need.
  struct Body {
    const Function *function;
    std::vector<std::string> params;
  };

  int64_t length(StringRef dim) const;
  std::string shape(ArrayRef<StringRef> dims) const;
  std::string type(ArrayRef<StringRef> dims) const {
    return ("!dtc.tensor<" + shape(dims) + "f32>");
  }
  std::string intType(ArrayRef<StringRef> dims) const {
    return ("!dtc.tensor<" + shape(dims) + "i32>");
  }
  std::string auxType(unsigned aux) const;
  static std::string dimsAttr(ArrayRef<StringRef> dims);

  /// Which parameters and aux values a function uses, those of callees too.
  void findUses();
  AuxSet nodeAux(const Node &node) const;

  std::string fresh() { return "%" + std::to_string(counter++); }
  /// A line `%n = dtc.TEXT {attributes} : (types) -> type`.
  std::string line(const Twine &text, ArrayRef<std::string> operandTypes,
                   const std::string &result, std::string attributes = "");
  Value op(const Twine &text, ArrayRef<std::string> operandTypes, Names dims,
           std::string attributes = "") {
    return {line(text, operandTypes, type(dims), std::move(attributes)), dims};
  }
  Value einsum(StringRef equation, const Value &a, const Value &b, Names dims,
               std::string attributes = "") {
    return op("einsum \"" + equation + "\"(" + a.name + ", " + b.name + ")",
              {type(a.dims), type(b.dims)}, dims, std::move(attributes));
  }
  /// Attributes of a node's last op.
  std::string last(const Node &node, const Twine &more = "") const;
  std::string inside(const Node &node, ArrayRef<StringRef> dims,
                     const Twine &more = "") const;
  Value param(const Body &body, const Node &node, unsigned role);
  Value activation(const Node &node, const Value &x,
                   const std::string &attributes);
  Value dropout(const Value &x, const Node &node, const std::string &attrs);
  Value scale(const Value &x, const char *by, const std::string &attributes) {
    return op("scale " + x.name + " by " + by, {type(x.dims)}, x.dims,
              attributes);
  }
  Value attention(const Body &body, const Node &node, const Value &a,
                  const Value &b);
  Value compute(const Body &body, const Node &node, ArrayRef<Value> values);
  SmallVector<Value> call(const Body &body, const Node &node, const Value &x);
  SmallVector<Value> runBody(const Body &body, const Value &input);
  void printFunction(unsigned index);
  void printParams();
  void printMain();

  const Graph &graph;
  const Sizes &sizes;
  const Names stream = {"batch", "norm_seq", "embed"};
  const Names tokens = {"batch", "seq"};
  struct Uses {
    std::vector<bool> params;
    AuxSet aux = 0;
  };
  std::vector<Uses> uses;
  Uses mainUses;
  unsigned counter = 0;
  int calls = 0;
  std::string out;
  StringRef indent = "    ";
};

} // namespace

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

int64_t Printer::length(StringRef dim) const {
  if (dim == "batch")
    return sizes.batch;
  if (dim == "embed" || dim == "embed_out")
    return sizes.embed;
  if (dim == "heads")
    return sizes.heads;
  if (dim == "kv_heads")
    return sizes.kvHeads;
  if (dim == "head_dim")
    return sizes.headDim;
  if (dim == "mlp")
    return sizes.mlp;
  if (dim == "vocab")
    return sizes.vocab;
  if (dim == "experts")
    return sizes.experts;
  return sizes.seq; // seq, norm_seq, position, and the sides of SeqSquare
}

std::string Printer::shape(ArrayRef<StringRef> dims) const {
  std::string text;
  for (StringRef dim : dims)
    text += std::to_string(length(dim)) + "x";
  return text;
}

std::string Printer::auxType(unsigned aux) const {
  switch (aux) {
  case PositionsAux:
    return intType({"seq"});
  case RowsAux:
    return intType({"batch"});
  case RngAux:
    return "!dtc.tensor<2xi32>";
  case LayerAux:
    return "!dtc.tensor<i32>";
  default:
    return intType({"batch", "seq"});
  }
}

std::string Printer::dimsAttr(ArrayRef<StringRef> dims) {
  std::string text = "dtc.dims = [";
  for (auto [i, dim] : llvm::enumerate(dims))
    text += (i ? ", \"" : "\"") + dim.str() + "\"";
  return text + "]";
}

static std::string shardingAttr(ArrayRef<std::string> axes) {
  std::string text = "dtc.sharding = [";
  for (auto [i, list] : llvm::enumerate(axes))
    text += (i ? ", #dtc.axes<" : "#dtc.axes<") + list + ">";
  return text + "]";
}

static std::string joinAttrs(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string &part : parts)
    if (!part.empty())
      text += (text.empty() ? "" : ", ") + part;
  return text;
}

//===----------------------------------------------------------------------===//
// What functions use
//===----------------------------------------------------------------------===//

AuxSet Printer::nodeAux(const Node &node) const {
  AuxSet random = 1u << RngAux | 1u << LayerAux | 1u << RowsAux;
  switch (node.kind) {
  case NodeKind::Dropout:
    return random | 1u << PositionsAux;
  case NodeKind::AddPositions:
    return 1u << (node.flags & WithDocuments ? PlacesAux : PositionsAux);
  case NodeKind::AddTokens:
    return 1u << IdsAux;
  case NodeKind::Attention: {
    AuxSet set = 1u << PositionsAux;
    if (node.flags & WithDocuments)
      set |= 1u << DocumentsAux | 1u << PlacesAux;
    if (node.flags & WithDropout)
      set |= random;
    return set;
  }
  case NodeKind::Call:
    return uses[node.callee].aux;
  default:
    return 0;
  }
}

void Printer::findUses() {
  auto visit = [&](const Function &function) {
    Uses mine;
    mine.params.assign(function.params.size(), false);
    for (const Node &node : function.nodes) {
      mine.aux |= nodeAux(node);
      for (auto [role, p] : llvm::enumerate(node.params))
        if (node.kind == NodeKind::Call ? bool(uses[node.callee].params[role])
                                        : usesRole(node, role))
          mine.params[p] = true;
    }
    return mine;
  };
  for (const Function &function : graph.functions)
    uses.push_back(visit(function));
  if (graph.passEverything) {
    AuxSet all = 0;
    for (const Uses &u : uses)
      all |= u.aux;
    for (Uses &u : uses)
      u.aux = all;
  }
  mainUses = visit(graph.main);
  for (int p : {graph.embeddingTable, graph.headTable, graph.finalRow})
    mainUses.params[p] = true;
  if (graph.positionTable)
    mainUses.aux |= 1u << PositionsAux;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

std::string Printer::line(const Twine &text, ArrayRef<std::string> operandTypes,
                          const std::string &result, std::string attributes) {
  std::string name = fresh();
  out += (indent + name + " = dtc." + text).str();
  if (!attributes.empty())
    out += " {" + attributes + "}";
  out += " : (" + llvm::join(operandTypes, ", ") + ") -> " + result + "\n";
  return name;
}

std::string Printer::last(const Node &node, const Twine &more) const {
  return joinAttrs({node.flags & Named ? dimsAttr(stream) : "",
                    node.sharding.empty() ? "" : shardingAttr(node.sharding),
                    more.str()});
}

std::string Printer::inside(const Node &node, ArrayRef<StringRef> dims,
                            const Twine &more) const {
  return joinAttrs(
      {node.flags & NamedInside ? dimsAttr(dims) : "", more.str()});
}

Printer::Value Printer::param(const Body &body, const Node &node,
                              unsigned role) {
  return {body.params[node.params[role]], paramDims(getRoles(node.kind)[role])};
}

static const char *activationName(int variant) {
  static const char *const names[] = {"gelu", "gelu_tanh", "silu"};
  return names[variant % 3];
}

Printer::Value Printer::activation(const Node &node, const Value &x,
                                   const std::string &attributes) {
  return op(Twine("activation ") + activationName(node.variant) + " " + x.name,
            {type(x.dims)}, x.dims, attributes);
}

Printer::Value Printer::dropout(const Value &x, const Node &node,
                                const std::string &attrs) {
  return op(
      "dropout " + x.name + " random %rng, %layer, %rows, %pos",
      {type(x.dims), auxType(RngAux), auxType(LayerAux), auxType(RowsAux),
       auxType(PositionsAux)},
      x.dims,
      joinAttrs({attrs, "p = 2.0e-1",
                 "site = " + std::to_string(node.variant % 16) + " : i64"}));
}

Printer::Value Printer::attention(const Body &body, const Node &node,
                                  const Value &a, const Value &b) {
  const Names queryDims = {"batch", "seq", "heads", "head_dim"},
              keyDims = {"batch", "seq", "kv_heads", "head_dim"};
  bool documents = node.flags & WithDocuments;
  auto rotate = [&](Value x) {
    unsigned places = documents ? PlacesAux : PositionsAux;
    return node.flags & WithRotary
               ? op("rotary " + x.name + ", " + auxNames[places],
                    {type(x.dims), auxType(places)}, x.dims,
                    inside(node, x.dims, "theta = 1.0e+2"))
               : x;
  };
  Value q = einsum("bsd,dhe->bshe", a, param(body, node, 0), queryDims,
                   inside(node, queryDims));
  if (node.flags & WithBias) {
    Value bias = param(body, node, 4);
    q = op("add " + q.name + ", " + bias.name, {type(q.dims), type(bias.dims)},
           q.dims, inside(node, q.dims));
  }
  if (node.flags & WithHeadNorm) {
    Value gamma = param(body, node, 6);
    q = op("rms_norm " + q.name + ", " + gamma.name,
           {type(q.dims), type(gamma.dims)}, q.dims, "epsilon = 1.0e-2");
  }
  Value k = einsum("bsd,dhe->bshe", b, param(body, node, 1), keyDims,
                   inside(node, keyDims));
  Value v = einsum("bsd,dhe->bshe", b, param(body, node, 2), keyDims,
                   inside(node, keyDims));
  q = rotate(q);
  k = rotate(k);

  std::string text =
      "attention " + q.name + ", " + k.name + ", " + v.name + " at %pos, %pos";
  SmallVector<std::string> types = {type(q.dims), type(k.dims), type(v.dims),
                                    auxType(PositionsAux),
                                    auxType(PositionsAux)};
  std::string attributes =
      "scale = 6.0e-1, site = " + std::to_string(node.variant % 16) + " : i64";
  if (node.flags & Causal)
    attributes += ", causal";
  if (documents) {
    text += " documents %documents, %documents";
    types.append(2, auxType(DocumentsAux));
  }
  if (node.flags & WithDropout) {
    text += " random %rng, %layer, %rows";
    types.append({auxType(RngAux), auxType(LayerAux), auxType(RowsAux)});
    attributes += ", dropout = 2.0e-1";
  }
  std::string lse = type({"batch", "seq", "heads"});
  std::string name = fresh();
  out +=
      (indent + name + ":2 = dtc." + text + " {" +
       inside(node, queryDims, attributes) + "} : (" + llvm::join(types, ", ") +
       ") -> (" + type(queryDims) + ", " + lse + ")\n")
          .str();
  bool bias = node.flags & WithBias;
  Value y = einsum("bshe,hed->bsd", {name + "#0", queryDims},
                   param(body, node, 3), stream, bias ? "" : last(node));
  if (!bias)
    return y;
  Value row = param(body, node, 5);
  return op("add " + y.name + ", " + row.name, {type(y.dims), type(row.dims)},
            stream, last(node));
}

Printer::Value Printer::compute(const Body &body, const Node &node,
                                ArrayRef<Value> values) {
  const Value &a = values[node.a], &b = values[node.b];
  const std::string x = type(stream);
  const Names hidden = {"batch", "seq", "mlp"};
  auto with = [&](StringRef name, unsigned role, const Twine &more = "") {
    Value p = param(body, node, role);
    return op(name + " " + a.name + ", " + p.name, {x, type(p.dims)}, stream,
              last(node, more));
  };
  auto addBias = [&](Value v, unsigned role, const std::string &attributes) {
    Value p = param(body, node, role);
    return op("add " + v.name + ", " + p.name, {type(v.dims), type(p.dims)},
              v.dims, attributes);
  };
  // A mean over one dimension of the stream.
  auto mean = [&](const char *dim, Names rest, const char *by) {
    Value sum = op("reduce_sum " + a.name + " over [" + dim + "]", {x}, rest);
    Value all = op("broadcast " + sum.name + " along [" + dim + "]",
                   {type(rest)}, stream);
    return scale(all, by, last(node));
  };
  switch (node.kind) {
  case NodeKind::RmsNorm:
    return with("rms_norm", 0, "epsilon = 1.0e-2");
  case NodeKind::LayerNorm: {
    Value g = param(body, node, 0), c = param(body, node, 1);
    return op("layer_norm " + a.name + ", " + g.name + ", " + c.name,
              {x, type(g.dims), type(c.dims)}, stream,
              last(node, "epsilon = 1.0e-2"));
  }
  case NodeKind::Add:
    return op("add " + a.name + ", " + b.name, {x, x}, stream, last(node));
  case NodeKind::Multiply: {
    Value y = op("multiply " + a.name + ", " + b.name, {x, x}, stream);
    return scale(y, "0.3", last(node));
  }
  case NodeKind::Scale:
    return scale(a, "0.5", last(node));
  case NodeKind::Bias:
    return with("add", 0);
  case NodeKind::Dropout:
    return dropout(a, node, last(node));
  case NodeKind::FeatureMean:
    return mean("2", {"batch", "seq"}, "0.2");
  case NodeKind::SequenceMean:
    return mean("1", {"batch", "embed"}, "0.2");
  case NodeKind::Linear:
    return einsum("bsd,de->bse", a, param(body, node, 0), stream, last(node));
  case NodeKind::Derived: {
    Value row = einsum("d,de->e", param(body, node, 0), param(body, node, 1),
                       {"embed"});
    row = scale(row, "0.7", "");
    return op("add " + a.name + ", " + row.name, {x, type(row.dims)}, stream,
              last(node));
  }
  case NodeKind::Composed: {
    Value product = einsum("df,fe->de", param(body, node, 0),
                           param(body, node, 1), {"embed", "embed_out"});
    return einsum("bsd,de->bse", a, product, stream, last(node));
  }
  case NodeKind::MixSequence:
    return einsum("bsd,st->btd", a, param(body, node, 0), stream, last(node));
  case NodeKind::RowProduct: {
    Value dot = einsum("bsd,bsd->bs", a, b, {"batch", "seq"});
    Value y = einsum("bs,bsd->bsd", dot, a, stream);
    return scale(y, "0.1", last(node));
  }
  case NodeKind::LinearAttention: {
    Value state = einsum("bsd,bse->bde", a, b, {"batch", "embed", "embed_out"});
    Value y = einsum("bsd,bde->bse", b, state, stream);
    return scale(y, "0.05", last(node));
  }
  case NodeKind::Scores: {
    Value scores = einsum("bsd,btd->bst", a, b, {"batch", "seq", "seq_out"});
    Value y = einsum("bst,btd->bsd", scores, b, stream);
    return scale(y, "0.05", last(node));
  }
  case NodeKind::AddPositions: {
    Value table = param(body, node, 0);
    bool documents = node.flags & WithDocuments;
    unsigned places = documents ? PlacesAux : PositionsAux;
    Names dims = documents ? stream : Names{"seq", "embed"};
    Value rows =
        op("embedding " + table.name + "[" + auxNames[places] + "]",
           {type(table.dims), auxType(places)}, dims,
           node.flags & NamedInside
               ? dimsAttr(documents ? stream : Names{"norm_seq", "embed"})
               : "");
    return op("add " + a.name + ", " + rows.name, {x, type(rows.dims)}, stream,
              last(node));
  }
  case NodeKind::AddTokens: {
    Value table = param(body, node, 0);
    Value rows =
        op("embedding " + table.name + "[%ids]",
           {type(table.dims), auxType(IdsAux)}, stream, inside(node, stream));
    return op("add " + a.name + ", " + rows.name, {x, x}, stream, last(node));
  }
  case NodeKind::Mlp: {
    Value h = einsum("bsd,df->bsf", a, param(body, node, 0), hidden,
                     inside(node, hidden));
    if (node.flags & WithBias)
      h = addBias(h, 2, inside(node, hidden));
    h = activation(node, h, "");
    Value y = einsum("bsf,fd->bsd", h, param(body, node, 1), stream,
                     node.flags & WithBias ? "" : last(node));
    return node.flags & WithBias ? addBias(y, 3, last(node)) : y;
  }
  case NodeKind::Gated: {
    Value gate = einsum("bsd,df->bsf", a, param(body, node, 0), hidden,
                        inside(node, hidden));
    Value up = einsum("bsd,df->bsf", b, param(body, node, 1), hidden);
    Value h = op(Twine("gated_product ") + activationName(node.variant) + " " +
                     gate.name + ", " + up.name,
                 {type(hidden), type(hidden)}, hidden);
    return einsum("bsf,fd->bsd", h, param(body, node, 2), stream, last(node));
  }
  case NodeKind::HeadMlp: {
    const Names heads = {"batch", "seq", "heads", "head_dim"};
    Value h = einsum("bsd,dhe->bshe", a, param(body, node, 0), heads,
                     inside(node, heads));
    if (node.flags & WithBias)
      h = addBias(h, 2, "");
    h = activation(node, h, "");
    return einsum("bshe,hed->bsd", h, param(body, node, 1), stream, last(node));
  }
  case NodeKind::Experts: {
    const Names dims = {"batch", "seq", "experts", "mlp"};
    Value h = einsum("bsd,kdf->bskf", a, param(body, node, 0), dims,
                     inside(node, dims));
    h = activation(node, h, "");
    return einsum("bskf,kfd->bsd", h, param(body, node, 1), stream, last(node));
  }
  case NodeKind::Attention:
    return attention(body, node, a, b);
  case NodeKind::Call:
    return call(body, node, a)[0];
  }
  llvm_unreachable("unknown kind of node");
}

SmallVector<Printer::Value> Printer::call(const Body &body, const Node &node,
                                          const Value &x) {
  const Function &callee = graph.functions[node.callee];
  const Uses &used = uses[node.callee];
  bool isMain = body.function == &graph.main;
  std::string layer = "%layer";
  if (isMain && used.aux & 1u << LayerAux) {
    // Each call has a number of its own.
    layer = fresh();
    out += indent.str() + layer + " = dtc.constant " + std::to_string(calls++) +
           ".0 : () -> !dtc.tensor<i32>\n";
  }
  unsigned result = node.variant % callee.results.size();
  if (graph.flat) {
    Body inner{&callee, {}};
    for (int p : node.params)
      inner.params.push_back(body.params[p]);
    // The text inside names the layer by its constant.
    size_t begin = out.size();
    SmallVector<Value> results = runBody(inner, x);
    if (isMain) {
      std::string text = out.substr(begin);
      out.resize(begin);
      for (size_t at; (at = text.find("%layer")) != std::string::npos;)
        text.replace(at, StringRef("%layer").size(), layer);
      out += text;
    }
    return {results[result]};
  }
  SmallVector<std::string> names = {x.name}, types = {type(stream)};
  for (auto [i, p] : llvm::enumerate(node.params)) {
    if (!used.params[i])
      continue;
    names.push_back(body.params[p]);
    types.push_back(type(paramDims(callee.params[i])));
  }
  for (unsigned aux = 0; aux < numAux; ++aux)
    if (used.aux & 1u << aux) {
      names.push_back(aux == LayerAux ? layer : auxNames[aux]);
      types.push_back(auxType(aux));
    }
  SmallVector<std::string> results(callee.results.size(), type(stream));
  std::string name = fresh();
  out +=
      (indent + name + ":" + Twine(results.size()) + " = call @layer" +
       Twine(node.callee) + "(" + llvm::join(names, ", ") + ") : (" +
       llvm::join(types, ", ") + ") -> (" + llvm::join(results, ", ") + ")\n")
          .str();
  return {Value{name + "#" + std::to_string(result), stream}};
}

SmallVector<Printer::Value> Printer::runBody(const Body &body,
                                             const Value &input) {
  SmallVector<Value> values = {input};
  for (const Node &node : body.function->nodes)
    values.push_back(compute(body, node, values));
  SmallVector<Value> results;
  for (int v : body.function->results)
    results.push_back(values[v]);
  return results;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void Printer::printFunction(unsigned index) {
  const Function &function = graph.functions[index];
  const Uses &used = uses[index];
  counter = 0;
  SmallVector<std::string> arguments = {"%x: " + type(stream)};
  Body body{&function, {}};
  for (auto [i, kind] : llvm::enumerate(function.params)) {
    body.params.push_back("%p" + std::to_string(i));
    if (used.params[i])
      arguments.push_back(body.params.back() + ": " + type(paramDims(kind)));
  }
  for (unsigned aux = 0; aux < numAux; ++aux)
    if (used.aux & 1u << aux)
      arguments.push_back(std::string(auxNames[aux]) + ": " + auxType(aux));
  SmallVector<std::string> types(function.results.size(), type(stream));
  out += "  func.func private @layer" + std::to_string(index) + "(" +
         llvm::join(arguments, ", ") + ") -> (" + llvm::join(types, ", ") +
         ") {\n";
  SmallVector<std::string> names;
  for (const Value &v : runBody(body, {"%x", stream}))
    names.push_back(v.name);
  out += "    return " + llvm::join(names, ", ") + " : " +
         llvm::join(types, ", ") + "\n  }\n";
}

void Printer::printParams() {
  auto print = [&](const std::string &name, ParamKind kind,
                   const Storage &storage) {
    Names dims = paramDims(kind);
    SmallVector<std::string> indices, view, lengths, names;
    for (unsigned d = 0; d < dims.size(); ++d) {
      indices.push_back("d" + std::to_string(d));
      lengths.push_back(std::to_string(length(dims[d])));
      names.push_back("\"" + dims[d].str() + "\"");
    }
    view = indices;
    if (storage.merged && dims.size() > 1) {
      size_t n = dims.size();
      view[n - 2] += " * " + lengths[n - 1] + " + " + view[n - 1];
      lengths[n - 2] =
          std::to_string(length(dims[n - 2]) * length(dims[n - 1]));
      view.pop_back();
      lengths.pop_back();
    }
    if (storage.transposed) {
      std::reverse(view.begin(), view.end());
      std::reverse(lengths.begin(), lengths.end());
    }
    out += "  dtc.param @" + name + " : " + type(dims) + " from \"" + name +
           "\" [" + llvm::join(lengths, ", ") + "] view affine_map<(" +
           llvm::join(indices, ", ") + ") -> (" + llvm::join(view, ", ") +
           ")> dims [" + llvm::join(names, ", ") + "] {" +
           joinAttrs(
               {storage.sharding.empty() ? "" : shardingAttr(storage.sharding),
                "init = \"normal\"", "std = 4.0e-1"}) +
           "}\n";
  };
  for (auto [i, kind] : llvm::enumerate(graph.main.params))
    if (mainUses.params[i])
      print("w" + std::to_string(i), kind, graph.storage[i]);
  if (graph.positionTable)
    print("positions", ParamKind::Positions, {});
  if (graph.unusedParam)
    print("unused", ParamKind::Up, {});
}

void Printer::printMain() {
  counter = 0;
  std::string dims = dimsAttr(tokens), ints = intType(tokens);
  AuxSet needs = mainUses.aux;
  bool documents = needs & (1u << DocumentsAux | 1u << PlacesAux);
  out += "  func.func @model(%ids: " + ints + " {dtc.input = \"input_ids\", " +
         dims + "}, %labels: " + ints + " {dtc.input = \"labels\", " + dims +
         "}";
  if (documents)
    out += ", %documents: " + ints + " {dtc.input = \"document_ids\", " + dims +
           "}";
  if (needs & 1u << RngAux)
    out += ", %rng: " + auxType(RngAux) + " {dtc.input = \"rng\"}";
  out += ")\n      -> (!dtc.tensor<f32> {dtc.output = \"loss\"}, "
         "!dtc.tensor<i32> {dtc.output = \"labels\"}) {\n";
  Body body{&graph.main, {}};
  for (auto [i, kind] : llvm::enumerate(graph.main.params)) {
    std::string name = "%w" + std::to_string(i);
    body.params.push_back(name);
    if (mainUses.params[i])
      out += "    " + name + " = dtc.read param of @w" + std::to_string(i) +
             " : " + type(paramDims(kind)) + "\n";
  }
  if (graph.positionTable)
    out += "    %positions = dtc.read param of @positions : " +
           type(paramDims(ParamKind::Positions)) + "\n";
  if (needs & 1u << PositionsAux)
    out += "    %pos = dtc.iota {dtc.dims = [\"seq\"]} : () -> " +
           auxType(PositionsAux) + "\n";
  if (needs & 1u << RowsAux)
    out += "    %rows = dtc.iota {dtc.dims = [\"batch\"]} : () -> " +
           auxType(RowsAux) + "\n";
  if (needs & 1u << PlacesAux)
    out += "    %places = dtc.document_positions %documents {" + dims +
           "} : (" + ints + ") -> " + ints + "\n";
  if (needs & 1u << LayerAux)
    out += "    %layer = dtc.constant -1.0 : () -> !dtc.tensor<i32>\n";

  std::string x = type(stream);
  auto table = [&](int p) {
    return Value{body.params[p], paramDims(ParamKind::Table)};
  };
  Value input = op("embedding " + body.params[graph.embeddingTable] + "[%ids]",
                   {type({"vocab", "embed"}), ints}, stream, dimsAttr(stream));
  if (graph.positionTable) {
    Value rows = op("embedding %positions[%pos]",
                    {type({"position", "embed"}), auxType(PositionsAux)},
                    {"seq", "embed"}, dimsAttr({"norm_seq", "embed"}));
    input = op("add " + input.name + ", " + rows.name, {x, type(rows.dims)},
               stream, dimsAttr(stream));
  }
  SmallVector<Value> values = {input};
  for (const Node &node : graph.main.nodes)
    values.push_back(compute(body, node, values));
  Value end = values[graph.main.results[0]];
  Value normed = op("rms_norm " + end.name + ", " + body.params[graph.finalRow],
                    {x, type({"embed"})}, stream,
                    joinAttrs({dimsAttr(stream), "epsilon = 1.0e-2"}));

  const Names logitDims = {"batch", "seq", "vocab"};
  std::string smoothing =
      graph.labelSmoothing > 0
          ? "{label_smoothing = " + std::to_string(graph.labelSmoothing) + "} "
          : "";
  auto head = [&](const Value &at, int p) {
    Value logits =
        einsum("bsd,vd->bsv", at, table(p), logitDims, dimsAttr(logitDims));
    std::string name = fresh();
    out += "    " + name + ":2 = dtc.cross_entropy " + logits.name +
           ", %labels " + smoothing + ": (" + type(logitDims) + ", " + ints +
           ") -> (!dtc.tensor<f32>, " + type(tokens) + ")\n";
    return Value{name + "#0", {}};
  };
  Value loss = head(normed, graph.headTable);
  auto addLoss = [&](const Value &more) {
    loss = op("add " + loss.name + ", " + more.name, {type({}), type({})},
              Names{});
  };
  if (graph.middleHead >= 0)
    addLoss(head(values[graph.middleHead], graph.embeddingTable));
  if (graph.extraLoss) {
    Value sum = op("reduce_sum " + end.name + " over [0, 1, 2]", {x}, Names{});
    addLoss(scale(sum, "0.01", ""));
  }
  out += "    %n = dtc.count_labels %labels : (" + ints +
         ") -> !dtc.tensor<i32>\n";
  out += "    %loss = dtc.divide " + loss.name +
         ", %n : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>\n";
  out += "    return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>\n  }\n";
}

std::string Printer::print() {
  findUses();
  out = "module {\n";
  printParams();
  // Written out, functions stand nowhere.
  if (!graph.flat)
    for (unsigned i = 0; i < graph.functions.size(); ++i)
      printFunction(i);
  printMain();
  out += "}\n";
  return out;
}

std::string dtc::fuzz::printGraph(const Graph &graph) {
  return Printer(graph).print();
}
