//===- ProgramJson.cpp - The program's description ------------------------===//

#include "Lowering.h"
#include "dtc/Codegen/EmitObject.h"
#include "dtc/Dialect/DTC/IR/ModelConfig.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dtc;
namespace json = llvm::json;

#ifndef DTC_VERSION
#define DTC_VERSION "0.1.0"
#endif

static const char *getDtypeName(Type type) {
  if (type.isF64())
    return "f64";
  if (type.isF32())
    return "f32";
  if (type.isBF16())
    return "bf16";
  return type.isInteger(32) ? "i32" : "i64";
}

static json::Array numbers(ArrayRef<int64_t> xs) {
  json::Array array;
  for (int64_t x : xs)
    array.push_back(x);
  return array;
}

static json::Object getPiece(DTensorType type, MeshAttr mesh) {
  json::Array cut;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    json::Array axes;
    for (const Axis &a : type.getDimAxes(d))
      axes.push_back(json::Array{mesh.getStride(a), a.size});
    cut.push_back(std::move(axes));
  }
  return json::Object{{"dtype", getDtypeName(type.getElementType())},
                      {"shape", numbers(type.getShape())},
                      {"padded", numbers(type.getPadded())},
                      {"cut", std::move(cut)}};
}

/// The whole program, printed: what ranks must agree on.
static std::string getHash(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().useLocalScope());
  llvm::SHA256 sha;
  sha.update(text);
  return llvm::toHex(sha.final(), /*LowerCase=*/true).substr(0, 32);
}

/// What the arenas have of a parameter, by its key in the description.
static const std::pair<StringRef, rt::StorageKind> slots[] = {
    {"offset", rt::StorageKind::Param},
    {"grad", rt::StorageKind::Grad},
    {"m", rt::StorageKind::M},
    {"v", rt::StorageKind::V},
    {"master", rt::StorageKind::Master}};

namespace {
class Description {
public:
  explicit Description(ModuleOp module)
      : module(module), mesh(getMesh(module)) {
    for (auto op : module.getOps<rt::StorageOp>())
      storage[op.getStage()][getKey(op.getKind(), op.getOf())] = op;
  }

  FailureOr<std::string> get(StringRef cpu, StringRef flags,
                             int64_t workspaceBytes) {
    auto features = codegen::requiredCpuFeatures(cpu.str());
    if (!features)
      return module.emitError(llvm::toString(features.takeError()));
    json::Array featureList;
    for (const std::string &f : *features)
      featureList.push_back(f);
    json::Array meshList;
    for (const Axis &a : mesh.getAxes())
      meshList.push_back(json::Array{a.name.getValue(), a.size});

    rt::StorageOp ids = findInput("input_ids");
    if (!ids)
      return module.emitError("the step has no input 'input_ids'");
    ArrayRef<int64_t> shape = ids.getTensorType().getShape();
    if (shape.size() != 2)
      return ids.emitError("input_ids must be batch by sequence");

    json::Object out{
        {"version", DTC_VERSION},
        {"hash", getHash(module)},
        {"flags", flags},
        {"cpu", cpu},
        {"cpu_features", std::move(featureList)},
        {"mesh", std::move(meshList)},
        {"batch", shape[0]},
        {"seq", shape[1]},
        {"vocab", getVocabulary()},
        {"microbatches", getInt(rt::attrs::microbatches)},
        {"documents", bool(findInput("document_ids"))},
        {"workspace_bytes", workspaceBytes},
        {"collective_slots", getInt(rt::attrs::slots)},
    };
    if (auto config = module->getAttrOfType<StringAttr>(attrs::config))
      out["config"] = config.getValue();
    json::Array tensors;
    for (auto param : module.getOps<ParamOp>())
      tensors.push_back(getTensor(param));
    out["tensors"] = std::move(tensors);
    json::Array arenas;
    for (func::FuncOp step : rt::getSteps(module)) {
      FailureOr<json::Object> arena = getArena(step);
      if (failed(arena))
        return failure();
      arenas.push_back(std::move(*arena));
    }
    out["pipeline_ranks"] = std::move(arenas);
    std::string text;
    llvm::raw_string_ostream os(text);
    os << json::Value(std::move(out));
    return text;
  }

private:
  int64_t getInt(StringRef name) {
    auto attr = module->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : 0;
  }

  /// Ids and labels lie below the length of the dimension that is named so.
  int64_t getVocabulary() {
    for (auto param : module.getOps<ParamOp>())
      for (auto [d, name] : llvm::enumerate(param.getDims()))
        if (cast<StringAttr>(name).getValue() == "vocab")
          return param.getTensorType().getShape()[d];
    return 1;
  }

  static std::string getKey(rt::StorageKind kind, StringRef of) {
    return (rt::stringifyStorageKind(kind) + "." + of).str();
  }

  /// The input on the first ranks that have it.
  rt::StorageOp findInput(StringRef name) {
    for (func::FuncOp step : rt::getSteps(module))
      if (rt::StorageOp op = storage[rt::getStage(step)].lookup(
              getKey(rt::StorageKind::Input, name)))
        return op;
    return {};
  }

  /// What lies where in the arena of the ranks of a pipeline coordinate.
  FailureOr<json::Object> getArena(func::FuncOp step) {
    const llvm::StringMap<rt::StorageOp> &here = storage[rt::getStage(step)];
    json::Object out{
        {"arena_bytes",
         step->getAttrOfType<IntegerAttr>(rt::attrs::arenaBytes).getInt()}};
    json::Array memory, inputs, tensors;
    if (auto terms = step->getAttrOfType<ArrayAttr>(rt::attrs::memory))
      for (auto term : terms.getAsRange<ArrayAttr>())
        memory.push_back(json::Array{cast<StringAttr>(term[0]).getValue(),
                                     cast<IntegerAttr>(term[1]).getInt()});
    out["memory"] = std::move(memory);
    for (auto op : module.getOps<rt::StorageOp>())
      if (op.getKind() == rt::StorageKind::Input &&
          static_cast<int64_t>(op.getStage()) == rt::getStage(step)) {
        json::Object piece = getPiece(op.getTensorType(), mesh);
        piece["name"] = op.getOf();
        piece["offset"] = int64_t(*op.getOffset());
        inputs.push_back(std::move(piece));
      }
    out["inputs"] = std::move(inputs);
    for (auto [i, param] : llvm::enumerate(module.getOps<ParamOp>())) {
      if (!here.contains(getKey(rt::StorageKind::Param, param.getSymName())))
        continue;
      json::Object tensor{{"tensor", int64_t(i)}};
      for (auto [field, kind] : slots)
        if (rt::StorageOp op = here.lookup(getKey(kind, param.getSymName())))
          tensor[field] = int64_t(*op.getOffset());
      tensors.push_back(std::move(tensor));
    }
    out["tensors"] = std::move(tensors);
    if (failed(addOffsets(out, here, "scalars", rt::StorageKind::Scalar,
                          {"rng", "optimizer"})) ||
        failed(addOffsets(out, here, "outputs", rt::StorageKind::Output,
                          {"loss", "grad_norm", "labels", "skipped"})))
      return failure();
    return out;
  }

  /// How a slot of the parameter is cut: the same on all stages that have it.
  DTensorType getSlotType(ParamOp param, rt::StorageKind kind) {
    for (func::FuncOp step : rt::getSteps(module))
      if (rt::StorageOp op = storage[rt::getStage(step)].lookup(
              getKey(kind, param.getSymName())))
        return op.getTensorType();
    return kind == rt::StorageKind::Param ? param.getTensorType()
                                          : DTensorType();
  }

  json::Object getTensor(ParamOp param) {
    DTensorType type = getSlotType(param, rt::StorageKind::Param);
    json::Object o = getPiece(type, mesh), pieces;
    for (auto [field, kind] : slots)
      if (DTensorType slot = getSlotType(param, kind); slot && slot != type)
        pieces[field] = getPiece(slot, mesh);
    if (!pieces.empty())
      o["pieces"] = std::move(pieces);
    int64_t flat;
    SmallVector<int64_t> strides;
    param.getFlatView(flat, strides);
    o["name"] = param.getSymName();
    o["stored"] = param.getStored();
    o["stored_shape"] = numbers(param.getStoredShape());
    o["stored_offset"] = flat;
    o["stored_strides"] = numbers(strides);
    json::Object init{{"kind", param.getInit()}};
    if (param.getInit() == "normal")
      init["std"] = param.getStd().convertToDouble();
    o["init"] = std::move(init);
    json::Array also;
    if (auto names = param.getAlso())
      for (Attribute a : *names)
        also.push_back(cast<StringAttr>(a).getValue());
    o["optional_names"] = std::move(also);
    return o;
  }

  LogicalResult addOffsets(json::Object &out,
                           const llvm::StringMap<rt::StorageOp> &here,
                           StringRef key, rt::StorageKind kind,
                           ArrayRef<StringRef> names) {
    json::Object offsets;
    for (StringRef name : names) {
      rt::StorageOp op = here.lookup(getKey(kind, name));
      if (!op)
        return module.emitError("the step has no ")
               << rt::stringifyStorageKind(kind) << " '" << name << "'";
      offsets[name] = int64_t(*op.getOffset());
    }
    out[key] = std::move(offsets);
    return success();
  }

  ModuleOp module;
  MeshAttr mesh;
  /// By coordinate on pp, then by kind and name.
  DenseMap<int64_t, llvm::StringMap<rt::StorageOp>> storage;
};
} // namespace

FailureOr<std::string> dtc::getProgramJson(ModuleOp module, StringRef cpu,
                                           StringRef flags,
                                           int64_t workspaceBytes) {
  return Description(module).get(cpu, flags, workspaceBytes);
}
