//===- Import.cpp - From a model config to model IR -----------------------===//

#include "dtc/Tools/Import/Import.h"
#include "dtc/Dialect/DTC/IR/DTC.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace llvm;
using namespace mlir;

namespace dtc {

namespace {

/// Where in the model a random number is drawn; the layer tells apart the rest.
enum Site { embeddingSite, attentionSite, attentionOutputSite, mlpOutputSite };

/// Names of dimensions. The sequence in the residual stream has a name of its
/// own, because it may be cut where that of attention is not.
constexpr StringRef residualDims[] = {"batch", "norm_seq", "embed"};
constexpr StringRef queryDims[] = {"batch", "seq", "heads", "head_dim"};
constexpr StringRef keyDims[] = {"batch", "seq", "kv_heads", "head_dim"};
constexpr StringRef mlpDims[] = {"batch", "seq", "mlp"};
constexpr StringRef logitDims[] = {"batch", "seq", "vocab"};
constexpr StringRef inputDims[] = {"batch", "seq"};

/// A parameter, for one layer or for the whole model: what a program calls it,
/// its view, and the stored tensor behind it. Of a layer, both names lack the
/// layer's prefix.
struct Weight {
  std::string name;
  SmallVector<int64_t> shape;
  SmallVector<StringRef> dims;
  std::string stored;
  SmallVector<int64_t> storedShape;
  AffineMap view;
  StringRef init;
  double std = 0;
  SmallVector<StringRef> also;
};

class ModelBuilder {
public:
  ModelBuilder(MLIRContext &context, const ModelConfig &config,
               const ImportOptions &options)
      : config(config), options(options),
        builder(UnknownLoc::get(&context), &context),
        gpt2(config.type == ModelType::GPT2) {}

  OwningOpRef<ModuleOp> build();

private:
  using Dims = ArrayRef<StringRef>;
  using Values = StringMap<Value>;

  /// What code uses beside activations and weights. What nothing needs is null.
  /// `positions` are places in the row: causal masks and random numbers go by
  /// them. `places` restart with each document: the position table and rotary
  /// angles go by these.
  struct Common {
    Value positions, places, documents, rng, layer, rows;
  };

  DTensorType type(ArrayRef<int64_t> shape) {
    return DTensorType::get(shape, builder.getF32Type());
  }
  DTensorType intType(ArrayRef<int64_t> shape) {
    return DTensorType::get(shape, builder.getI32Type());
  }
  DTensorType residual() {
    return type({options.batch, options.seq, config.hidden});
  }
  bool dropsInLayers() const {
    return config.attentionDropout > 0 || config.residualDropout > 0;
  }
  /// Whether layers take places that are not the positions.
  bool restartsInLayers() const { return options.documents && !gpt2; }
  bool drops() const { return dropsInLayers() || config.embeddingDropout > 0; }

  AffineExpr dim(unsigned d) { return builder.getAffineDimExpr(d); }
  AffineMap map(unsigned rank, ArrayRef<AffineExpr> results) {
    return AffineMap::get(rank, 0, results, builder.getContext());
  }
  ArrayAttr dimsAttr(Dims dims) { return builder.getStrArrayAttr(dims); }

  // Weights.
  std::vector<Weight> embeddingWeights();
  std::vector<Weight> layerWeights();
  std::vector<Weight> headWeights();
  void addNorm(std::vector<Weight> &weights, const Twine &name,
               const Twine &stored);
  void addVector(std::vector<Weight> &weights, const Twine &name,
                 const Twine &stored, StringRef dimension, int64_t length,
                 StringRef init = "zeros");
  void addProjection(std::vector<Weight> &weights, StringRef letter,
                     int64_t index);
  void addMatrix(std::vector<Weight> &weights, const Twine &name,
                 const Twine &stored, StringRef in, int64_t inLength,
                 StringRef out, int64_t outLength, double std);
  Weight table(StringRef name, StringRef stored, int64_t rows,
               StringRef rowsName);
  void declare(ArrayRef<Weight> weights, const Twine &prefix,
               const Twine &storedPrefix);

  // Code. `dims` names the result's dimensions.
  Value named(Value value, Dims dims);
  Value einsum(StringRef equation, Value lhs, Value rhs,
               ArrayRef<int64_t> shape, Dims dims);
  Value add(Value lhs, Value rhs, Dims dims);
  Value addBias(Value x, const Values &weights, StringRef name, Dims dims);
  Value norm(Value x, const Values &weights, StringRef name);
  Value dropout(Value x, const Common &common, double p, Site site);
  Value projection(Value x, const Values &weights, StringRef letter);
  Value attention(Value x, const Values &weights, const Common &common);
  Value feedForward(Value x, const Values &weights);
  func::FuncOp buildLayer(ArrayRef<Weight> weights);
  void buildModelFunction(func::FuncOp layer, ArrayRef<Weight> embedding,
                          ArrayRef<Weight> perLayer, ArrayRef<Weight> head);
  Values read(ArrayRef<Weight> weights, const Twine &prefix = "");

  const ModelConfig &config;
  const ImportOptions &options;
  ImplicitLocOpBuilder builder;
  bool gpt2;
};

} // namespace

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

void ModelBuilder::addVector(std::vector<Weight> &weights, const Twine &name,
                             const Twine &stored, StringRef dimension,
                             int64_t length, StringRef init) {
  Weight weight;
  weight.name = name.str();
  weight.shape = weight.storedShape = {length};
  weight.dims = {dimension};
  weight.stored = stored.str();
  weight.view = map(1, {dim(0)});
  weight.init = init;
  weights.push_back(std::move(weight));
}

void ModelBuilder::addNorm(std::vector<Weight> &weights, const Twine &name,
                           const Twine &stored) {
  addVector(weights, name + "_g", stored + ".weight", "embed", config.hidden,
            "ones");
  if (gpt2)
    addVector(weights, name + "_b", stored + ".bias", "embed", config.hidden);
}

/// A matrix of a view [in, out]. Hugging Face's gpt2 stores it so, llama
/// transposed.
void ModelBuilder::addMatrix(std::vector<Weight> &weights, const Twine &name,
                             const Twine &stored, StringRef in,
                             int64_t inLength, StringRef out, int64_t outLength,
                             double std) {
  Weight weight;
  weight.name = name.str();
  weight.shape = {inLength, outLength};
  weight.dims = {in, out};
  weight.stored = (stored + ".weight").str();
  weight.storedShape = {inLength, outLength};
  weight.view = map(2, {dim(0), dim(1)});
  if (!gpt2) {
    weight.storedShape = {outLength, inLength};
    weight.view = map(2, {dim(1), dim(0)});
  }
  weight.init = "normal";
  weight.std = std;
  weights.push_back(std::move(weight));
}

/// The weight and bias of q, k or v as [embed, heads, head_dim] and [heads,
/// head_dim]. gpt2 stores the three side by side; then `index` is their number.
void ModelBuilder::addProjection(std::vector<Weight> &weights, StringRef letter,
                                 int64_t index) {
  int64_t heads = index == 0 ? config.heads : config.kvHeads;
  StringRef headsName = index == 0 ? "heads" : "kv_heads";
  int64_t width = heads * config.headDim;
  std::string stored = gpt2 ? std::string("attn.c_attn")
                            : ("self_attn." + letter + "_proj").str();
  int64_t storedWidth = gpt2 ? 3 * width : width;
  int64_t offset = gpt2 ? index * width : 0;

  Weight weight;
  weight.name = ("w" + letter).str();
  weight.shape = {config.hidden, heads, config.headDim};
  weight.dims = {"embed", headsName, "head_dim"};
  weight.stored = stored + ".weight";
  AffineExpr column = dim(1) * config.headDim + dim(2) + offset;
  if (gpt2) {
    weight.storedShape = {config.hidden, storedWidth};
    weight.view = map(3, {dim(0), column});
  } else {
    weight.storedShape = {storedWidth, config.hidden};
    weight.view = map(3, {column, dim(0)});
  }
  weight.init = "normal";
  weight.std = config.initializerRange;
  weights.push_back(std::move(weight));
  if (!config.attentionBias)
    return;

  Weight bias;
  bias.name = ("b" + letter).str();
  bias.shape = {heads, config.headDim};
  bias.dims = {headsName, "head_dim"};
  bias.stored = stored + ".bias";
  bias.storedShape = {storedWidth};
  bias.view = map(2, {dim(0) * config.headDim + dim(1) + offset});
  bias.init = "zeros";
  weights.push_back(std::move(bias));
}

std::vector<Weight> ModelBuilder::layerWeights() {
  std::vector<Weight> weights;
  // gpt2 makes what enters the residual stream smaller, the deeper it is.
  double std = config.initializerRange;
  double outputStd = gpt2 ? std / std::sqrt(2.0 * config.layers) : std;
  StringRef attention = gpt2 ? "attn.c_proj" : "self_attn.o_proj";
  int64_t width = config.heads * config.headDim;

  addNorm(weights, "norm1", gpt2 ? "ln_1" : "input_layernorm");
  addProjection(weights, "q", 0);
  addProjection(weights, "k", 1);
  addProjection(weights, "v", 2);

  Weight output;
  output.name = "wo";
  output.shape = {config.heads, config.headDim, config.hidden};
  output.dims = {"heads", "head_dim", "embed"};
  output.stored = (attention + ".weight").str();
  AffineExpr row = dim(0) * config.headDim + dim(1);
  if (gpt2) {
    output.storedShape = {width, config.hidden};
    output.view = map(3, {row, dim(2)});
  } else {
    output.storedShape = {config.hidden, width};
    output.view = map(3, {dim(2), row});
  }
  output.init = "normal";
  output.std = outputStd;
  weights.push_back(std::move(output));
  if (config.attentionBias)
    addVector(weights, "bo", attention + ".bias", "embed", config.hidden);

  addNorm(weights, "norm2", gpt2 ? "ln_2" : "post_attention_layernorm");
  SmallVector<std::pair<StringRef, StringRef>> up = {{"up", "mlp.c_fc"}};
  if (!gpt2)
    up = {{"gate", "mlp.gate_proj"}, {"up", "mlp.up_proj"}};
  for (auto [name, stored] : up) {
    addMatrix(weights, "w" + name, stored, "embed", config.hidden, "mlp",
              config.mlp, std);
    if (config.mlpBias)
      addVector(weights, "b" + name, stored + ".bias", "mlp", config.mlp);
  }
  StringRef down = gpt2 ? "mlp.c_proj" : "mlp.down_proj";
  addMatrix(weights, "wdown", down, "mlp", config.mlp, "embed", config.hidden,
            outputStd);
  if (config.mlpBias)
    addVector(weights, "bdown", down + ".bias", "embed", config.hidden);
  return weights;
}

/// A table of rows of features, stored as it is.
Weight ModelBuilder::table(StringRef name, StringRef stored, int64_t rows,
                           StringRef rowsName) {
  Weight weight;
  weight.name = name.str();
  weight.shape = weight.storedShape = {rows, config.hidden};
  weight.dims = {rowsName, "embed"};
  weight.stored = stored.str();
  weight.view = map(2, {dim(0), dim(1)});
  weight.init = "normal";
  weight.std = config.initializerRange;
  return weight;
}

std::vector<Weight> ModelBuilder::embeddingWeights() {
  std::vector<Weight> weights;
  weights.push_back(table(
      "wte", gpt2 ? "transformer.wte.weight" : "model.embed_tokens.weight",
      config.vocab, "vocab"));
  if (config.tied)
    weights.back().also = {"lm_head.weight"};
  if (gpt2)
    weights.push_back(
        table("wpe", "transformer.wpe.weight", config.positions, "position"));
  return weights;
}

std::vector<Weight> ModelBuilder::headWeights() {
  std::vector<Weight> weights;
  addNorm(weights, "normf", gpt2 ? "transformer.ln_f" : "model.norm");
  if (!config.tied)
    weights.push_back(
        table("lm_head", "lm_head.weight", config.vocab, "vocab"));
  return weights;
}

void ModelBuilder::declare(ArrayRef<Weight> weights, const Twine &prefix,
                           const Twine &storedPrefix) {
  for (const Weight &weight : weights) {
    ArrayAttr also;
    if (!weight.also.empty())
      also = builder.getStrArrayAttr(weight.also);
    ParamOp::create(builder, builder.getStringAttr(prefix + weight.name),
                    TypeAttr::get(type(weight.shape)),
                    builder.getStringAttr(storedPrefix + weight.stored),
                    builder.getDenseI64ArrayAttr(weight.storedShape),
                    AffineMapAttr::get(weight.view),
                    builder.getStrArrayAttr(weight.dims),
                    builder.getStringAttr(weight.init),
                    builder.getF64FloatAttr(weight.std), also,
                    /*grad_type=*/TypeAttr());
  }
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

Value ModelBuilder::named(Value value, Dims dims) {
  value.getDefiningOp()->setAttr(attrs::dims, dimsAttr(dims));
  return value;
}

Value ModelBuilder::einsum(StringRef equation, Value lhs, Value rhs,
                           ArrayRef<int64_t> shape, Dims dims) {
  return named(EinsumOp::create(builder, type(shape), equation, lhs, rhs),
               dims);
}

Value ModelBuilder::add(Value lhs, Value rhs, Dims dims) {
  return named(AddOp::create(builder, lhs.getType(), lhs, rhs,
                             /*rhs_dims=*/DenseI64ArrayAttr()),
               dims);
}

/// `x` if the model has no such bias.
Value ModelBuilder::addBias(Value x, const Values &weights, StringRef name,
                            Dims dims) {
  Value bias = weights.lookup(name);
  return bias ? add(x, bias, dims) : x;
}

Value ModelBuilder::norm(Value x, const Values &weights, StringRef name) {
  Value gamma = weights.lookup((name + "_g").str());
  APFloat epsilon(config.normEps);
  if (!gpt2)
    return named(RmsNormOp::create(builder, x.getType(), x, gamma, epsilon),
                 residualDims);
  Value beta = weights.lookup((name + "_b").str());
  return named(
      LayerNormOp::create(builder, x.getType(), x, gamma, beta, epsilon),
      residualDims);
}

Value ModelBuilder::dropout(Value x, const Common &common, double p,
                            Site site) {
  if (p == 0)
    return x;
  return named(DropoutOp::create(builder, x.getType(), x, common.rng,
                                 common.layer, common.rows, common.positions,
                                 APFloat(p), site),
               residualDims);
}

/// q, k or v.
Value ModelBuilder::projection(Value x, const Values &weights,
                               StringRef letter) {
  bool query = letter == "q";
  Dims dims = query ? Dims(queryDims) : Dims(keyDims);
  int64_t heads = query ? config.heads : config.kvHeads;
  Value y = einsum("bsd,dhe->bshe", x, weights.lookup(("w" + letter).str()),
                   {options.batch, options.seq, heads, config.headDim}, dims);
  return addBias(y, weights, ("b" + letter).str(), dims);
}

Value ModelBuilder::attention(Value x, const Values &weights,
                              const Common &common) {
  Value q = projection(x, weights, "q");
  Value k = projection(x, weights, "k");
  Value v = projection(x, weights, "v");
  if (!gpt2) {
    auto rotate = [&](Value x, Dims dims) {
      return named(RotaryOp::create(builder, x.getType(), x, common.places,
                                    APFloat(config.ropeTheta),
                                    /*inverse=*/false),
                   dims);
    };
    q = rotate(q, queryDims);
    k = rotate(k, keyDims);
  }
  bool drops = config.attentionDropout > 0;
  auto random = [&](Value value) { return drops ? value : Value(); };
  auto op = AttentionOp::create(
      builder, q.getType(), type({options.batch, options.seq, config.heads}), q,
      k, v, common.positions, common.positions, common.documents,
      common.documents, random(common.rng), random(common.layer),
      random(common.rows), /*causal=*/true,
      APFloat(1 / std::sqrt(static_cast<double>(config.headDim))),
      APFloat(config.attentionDropout), attentionSite);
  Value output = named(op.getResult(), queryDims);
  Value y = einsum("bshe,hed->bsd", output, weights.lookup("wo"),
                   residual().getShape(), residualDims);
  return addBias(y, weights, "bo", residualDims);
}

Value ModelBuilder::feedForward(Value x, const Values &weights) {
  auto widen = [&](StringRef name) {
    Value y = einsum("bsd,df->bsf", x, weights.lookup(("w" + name).str()),
                     {options.batch, options.seq, config.mlp}, mlpDims);
    return addBias(y, weights, ("b" + name).str(), mlpDims);
  };
  Value hidden;
  if (gpt2) {
    Value up = widen("up");
    hidden = ActivationOp::create(builder, up.getType(), config.activation, up);
  } else {
    Value gate = widen("gate");
    Value up = widen("up");
    hidden = GatedProductOp::create(builder, up.getType(), config.activation,
                                    gate, up);
  }
  Value y =
      einsum("bsf,fd->bsd", named(hidden, mlpDims), weights.lookup("wdown"),
             residual().getShape(), residualDims);
  return addBias(y, weights, "bdown", residualDims);
}

func::FuncOp ModelBuilder::buildLayer(ArrayRef<Weight> weights) {
  SmallVector<Type> types = {residual()};
  for (const Weight &weight : weights)
    types.push_back(type(weight.shape));
  types.push_back(intType({options.seq}));
  if (restartsInLayers())
    types.push_back(intType({options.batch, options.seq}));
  if (options.documents)
    types.push_back(intType({options.batch, options.seq}));
  if (dropsInLayers())
    types.append({intType({2}), intType({}), intType({options.batch})});
  auto function = func::FuncOp::create(
      builder, "layer", builder.getFunctionType(types, residual()));
  function.setPrivate();
  function.setArgAttr(0, attrs::dims, dimsAttr(residualDims));

  OpBuilder::InsertionGuard guard(builder);
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToStart(block);
  auto next = block->args_begin();
  Value x = *next++;
  Values values;
  for (const Weight &weight : weights)
    values[weight.name] = *next++;
  Common common;
  common.positions = common.places = *next++;
  if (restartsInLayers())
    common.places = *next++;
  if (options.documents)
    common.documents = *next++;
  if (dropsInLayers()) {
    common.rng = *next++;
    common.layer = *next++;
    common.rows = *next++;
  }

  Value y = attention(norm(x, values, "norm1"), values, common);
  y = dropout(y, common, config.residualDropout, attentionOutputSite);
  x = add(x, y, residualDims);
  y = feedForward(norm(x, values, "norm2"), values);
  y = dropout(y, common, config.residualDropout, mlpOutputSite);
  x = add(x, y, residualDims);
  func::ReturnOp::create(builder, x);
  return function;
}

ModelBuilder::Values ModelBuilder::read(ArrayRef<Weight> weights,
                                        const Twine &prefix) {
  Values values;
  for (const Weight &weight : weights)
    values[weight.name] = ReadOp::create(
        builder, type(weight.shape), Slot::Param, (prefix + weight.name).str());
  return values;
}

void ModelBuilder::buildModelFunction(func::FuncOp layer,
                                      ArrayRef<Weight> embedding,
                                      ArrayRef<Weight> perLayer,
                                      ArrayRef<Weight> head) {
  DTensorType tokens = intType({options.batch, options.seq});
  SmallVector<std::pair<StringRef, Type>> inputs = {{"input_ids", tokens},
                                                    {"labels", tokens}};
  if (options.documents)
    inputs.push_back({"document_ids", tokens});
  if (drops())
    inputs.push_back({"rng", intType({2})});
  SmallVector<Type> types = llvm::to_vector(llvm::make_second_range(inputs));
  auto function = func::FuncOp::create(
      builder, "model",
      builder.getFunctionType(types, {type({}), intType({})}));
  for (auto [i, input] : llvm::enumerate(inputs)) {
    function.setArgAttr(i, attrs::input, builder.getStringAttr(input.first));
    if (input.second == tokens)
      function.setArgAttr(i, attrs::dims, dimsAttr(inputDims));
  }
  function.setResultAttr(0, attrs::output, builder.getStringAttr("loss"));
  function.setResultAttr(1, attrs::output, builder.getStringAttr("labels"));

  OpBuilder::InsertionGuard guard(builder);
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToStart(block);
  auto next = block->args_begin();
  Value ids = *next++;
  Value labels = *next++;
  Common common;
  if (options.documents)
    common.documents = *next++;
  if (drops())
    common.rng = *next++;

  Values top = read(embedding);
  std::vector<Values> layers;
  layers.reserve(config.layers);
  for (int64_t i = 0; i < config.layers; ++i)
    layers.push_back(read(perLayer, "h" + Twine(i) + "_"));
  Values bottom = read(head);

  common.positions = common.places =
      named(IotaOp::create(builder, intType({options.seq})), {"seq"});
  if (options.documents)
    common.places =
        named(DocumentPositionsOp::create(builder, tokens, common.documents),
              inputDims);
  if (drops())
    common.rows =
        named(IotaOp::create(builder, intType({options.batch})), {"batch"});
  auto number = [&](int64_t layer) -> Value {
    return ConstantOp::create(builder, intType({}),
                              APFloat(static_cast<double>(layer)));
  };

  Value table = top.lookup("wte");
  Value x =
      named(EmbeddingOp::create(builder, residual(), table, ids), residualDims);
  if (gpt2) {
    // A row of the table for each position, or for each token of the batch
    // where documents restart them.
    auto shape =
        options.documents ? residual() : type({options.seq, config.hidden});
    Value rows =
        EmbeddingOp::create(builder, shape, top.lookup("wpe"), common.places);
    Dims dims = residualDims;
    x = add(x, named(rows, options.documents ? dims : dims.drop_front()),
            residualDims);
  }
  if (config.embeddingDropout > 0) {
    common.layer = number(-1);
    x = dropout(x, common, config.embeddingDropout, embeddingSite);
  }

  for (auto [i, values] : llvm::enumerate(layers)) {
    SmallVector<Value> operands = {x};
    for (const Weight &weight : perLayer)
      operands.push_back(values.lookup(weight.name));
    operands.push_back(common.positions);
    if (restartsInLayers())
      operands.push_back(common.places);
    if (options.documents)
      operands.push_back(common.documents);
    if (dropsInLayers())
      operands.append({common.rng, number(i), common.rows});
    x = func::CallOp::create(builder, layer, operands).getResult(0);
  }

  x = norm(x, bottom, "normf");
  if (!config.tied)
    table = bottom.lookup("lm_head");
  Value logits = einsum("bsd,vd->bsv", x, table,
                        {options.batch, options.seq, config.vocab}, logitDims);
  auto losses = CrossEntropyOp::create(
      builder, type({}), tokens.withElementType(builder.getF32Type()), logits,
      labels, APFloat(options.labelSmoothing));
  Value count = CountLabelsOp::create(builder, intType({}), labels);
  Value loss = DivideOp::create(builder, type({}), losses.getLoss(), count);
  func::ReturnOp::create(builder, ValueRange{loss, count});
}

OwningOpRef<ModuleOp> ModelBuilder::build() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getLoc());
  builder.setInsertionPointToEnd(module->getBody());
  std::vector<Weight> embedding = embeddingWeights();
  std::vector<Weight> perLayer = layerWeights();
  std::vector<Weight> head = headWeights();
  declare(embedding, "", "");
  for (int64_t i = 0; i < config.layers; ++i)
    declare(perLayer, "h" + Twine(i) + "_",
            (gpt2 ? "transformer.h." : "model.layers.") + Twine(i) + ".");
  declare(head, "", "");
  func::FuncOp layer = buildLayer(perLayer);
  buildModelFunction(layer, embedding, perLayer, head);
  return module;
}

OwningOpRef<ModuleOp> buildModel(MLIRContext &context,
                                 const ModelConfig &config,
                                 const ImportOptions &options) {
  context.loadDialect<DTCDialect, func::FuncDialect>();
  return ModelBuilder(context, config, options).build();
}

} // namespace dtc
