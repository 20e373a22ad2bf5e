//===- Ops.cpp - Verifiers of the rt dialect's ops ------------------------===//

#include "dtc/Dialect/RT/IR/RT.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace dtc;
using namespace dtc::rt;

//===----------------------------------------------------------------------===//
// Enums as plain words
//===----------------------------------------------------------------------===//

static std::optional<StorageKind> parseEnum(StringRef word, StorageKindAttr) {
  return symbolizeStorageKind(word);
}
static std::optional<rt::CollectiveKind> parseEnum(StringRef word,
                                                   CollectiveKindAttr) {
  return rt::symbolizeCollectiveKind(word);
}
static std::optional<Reduction> parseEnum(StringRef word, ReductionAttr) {
  return symbolizeReduction(word);
}

template <typename AttrT>
static ParseResult parseEnumWord(OpAsmParser &parser, AttrT &attr) {
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  auto value = parseEnum(word, AttrT());
  if (!value)
    return parser.emitError(loc, "unknown word '") << word << "'";
  attr = AttrT::get(parser.getContext(), *value);
  return success();
}

static void printWord(OpAsmPrinter &p, StorageKindAttr attr) {
  p << stringifyStorageKind(attr.getValue());
}
static void printWord(OpAsmPrinter &p, CollectiveKindAttr attr) {
  p << rt::stringifyCollectiveKind(attr.getValue());
}
static void printWord(OpAsmPrinter &p, ReductionAttr attr) {
  p << stringifyReduction(attr.getValue());
}
template <typename AttrT>
static void printEnumWord(OpAsmPrinter &p, Operation *, AttrT attr) {
  printWord(p, attr);
}

#define GET_OP_CLASSES
#include "dtc/Dialect/RT/IR/RTOps.cpp.inc"

void RTDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "dtc/Dialect/RT/IR/RTOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static LogicalResult verifyOffset(Operation *op, std::optional<int64_t> at) {
  if (at && (*at < 0 || *at % bufferAlignment != 0))
    return op->emitOpError("offset ")
           << *at << " is not a multiple of " << bufferAlignment;
  return success();
}

static LogicalResult verifyAxes(Operation *op, ArrayRef<Axis> axes) {
  MeshAttr mesh = getMesh(op);
  for (const Axis &a : axes)
    if (!mesh.contains(a))
      return op->emitOpError("axis ")
             << dtc::toString(ArrayRef<Axis>(a)) << " is not on the mesh";
  return success();
}

LogicalResult StorageOp::verify() {
  DTensorType type = getTensorType();
  if (!type.getPartial().empty() || !type.getMax().empty() ||
      !type.getReplicate().empty())
    return emitOpError("must be invariant or shard on every axis, but is ")
           << type;
  if (failed(verifyAxes(*this, type.getNamedAxes())))
    return failure();
  return verifyOffset(*this, getOffset());
}

LogicalResult AllocOp::verify() { return verifyOffset(*this, getOffset()); }

LogicalResult CallOp::verify() { return verifyOffset(*this, getOffset()); }

LogicalResult AddressOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto storage =
      symbols.lookupNearestSymbolFrom<StorageOp>(*this, getStorageAttr());
  if (!storage)
    return emitOpError() << getStorageAttr() << " is not an rt.storage";
  if (storage.getBufferType() != getBuffer().getType())
    return emitOpError("has type ")
           << getBuffer().getType() << " but " << getStorageAttr() << " has "
           << storage.getBufferType();
  auto parent = (*this)->getParentOfType<func::FuncOp>();
  if (!parent || !parent->hasAttr(rt::attrs::step))
    return emitOpError("must stand in the step function");
  return success();
}

LogicalResult WorkspaceOp::verify() {
  MemRefType type = getBuffer().getType();
  if (type.getRank() != 1 || !type.getElementType().isInteger(8))
    return emitOpError("must be memref<N x i8>, but is ") << type;
  return success();
}

LogicalResult IndexOp::verify() {
  return verifyAxes(*this, getAxes().getAxes());
}

LogicalResult SetIndexOp::verify() {
  MemRefType type = getBuffer().getType();
  if (type.getRank() != 0 || !type.getElementType().isInteger(32))
    return emitOpError("stores into memref<i32>, not ") << type;
  return success();
}

static LogicalResult verifyTarget(Operation *op, FlatSymbolRefAttr name,
                                  SymbolTableCollection &symbols,
                                  bool isKernel) {
  auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(op, name);
  if (!callee)
    return op->emitOpError() << name << " is not a function";
  if (callee->hasAttr(rt::attrs::kernel) != isKernel)
    return op->emitOpError()
           << name << (isKernel ? " is not a kernel" : " is a kernel");
  if (op->getOperandTypes() != TypeRange(callee.getArgumentTypes()))
    return op->emitOpError("operands do not have the types of ")
           << name << ": " << callee.getFunctionType();
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyTarget(*this, getKernelAttr(), symbols, /*isKernel=*/true);
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyTarget(*this, getCalleeAttr(), symbols, /*isKernel=*/false);
}

LogicalResult WaitOp::verify() {
  if (!getToken().getDefiningOp<StartOp>())
    return emitOpError("needs the token of an rt.start");
  return success();
}

LogicalResult StartOp::verify() {
  if (failed(verifyAxes(*this, getAxes().getAxes())))
    return failure();
  size_t n = getSend().size();
  if (n == 0 || getRecv().size() != n || getBlocks().size() != n)
    return emitOpError("needs as many receive buffers and blocks as send "
                       "buffers, and at least one");
  Type type = cast<MemRefType>(getSend().front().getType()).getElementType();
  if (getReduction() == Reduction::Max &&
      (getKind() != rt::CollectiveKind::AllReduce || !isa<FloatType>(type)))
    return emitOpError("a maximum is an all_reduce of floats");
  int64_t k = getAxes().getProduct();
  for (auto [i, block] : llvm::enumerate(getBlocks().getAsRange<BlockAttr>())) {
    auto send = cast<MemRefType>(getSend()[i].getType());
    auto recv = cast<MemRefType>(getRecv()[i].getType());
    if (send.getElementType() != type || recv.getElementType() != type)
      return emitOpError("has buffers of different element types");
    int64_t piece = block.getNumElements();
    int64_t wantSend = piece, wantRecv = piece;
    if (getKind() == rt::CollectiveKind::AllGather)
      wantRecv *= k;
    if (getKind() == rt::CollectiveKind::ReduceScatter)
      wantSend *= k;
    if (getKind() == rt::CollectiveKind::AllToAll) {
      wantSend *= k;
      wantRecv *= k;
    }
    if (send.getNumElements() != wantSend || recv.getNumElements() != wantRecv)
      return emitOpError("buffer ")
             << i << " sends " << send.getNumElements() << " and receives "
             << recv.getNumElements() << " elements, but block and ranks say "
             << wantSend << " and " << wantRecv;
  }
  if (!getToken().hasOneUse())
    return emitOpError("must be waited for once");
  Operation *wait = *getToken().getUsers().begin();
  if (wait->getBlock() != (*this)->getBlock())
    return emitOpError("must be waited for in the same block");
  return success();
}
