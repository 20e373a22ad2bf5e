//===- Ops.cpp - Registration of the ops ----------------------------------===//
//
// What each op is stands in the files of Ops/ (and its kernel in ../Kernels).
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "dtc/Dialect/DTC/IR/KernelBuilder.h"

using namespace mlir;
using namespace dtc;

/// An enum case as a bare keyword.
template <typename AttrTy>
static ParseResult parseKeyword(OpAsmParser &parser, AttrTy &attr) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  using Enum = decltype(attr.getValue());
  std::optional<Enum> value;
  if constexpr (std::is_same_v<Enum, Slot>)
    value = symbolizeSlot(keyword);
  else if constexpr (std::is_same_v<Enum, SequenceLayout>)
    value = symbolizeSequenceLayout(keyword);
  else
    value = symbolizeActivation(keyword);
  if (!value)
    return parser.emitError(loc, "unknown keyword '") << keyword << "'";
  attr = AttrTy::get(parser.getContext(), *value);
  return success();
}

template <typename AttrTy>
static void printKeyword(OpAsmPrinter &printer, Operation *, AttrTy attr) {
  if constexpr (std::is_same_v<AttrTy, SlotAttr>)
    printer << stringifySlot(attr.getValue());
  else if constexpr (std::is_same_v<AttrTy, SequenceLayoutAttr>)
    printer << stringifySequenceLayout(attr.getValue());
  else
    printer << stringifyActivation(attr.getValue());
}

#define GET_OP_CLASSES
#include "dtc/Dialect/DTC/IR/DTCOps.cpp.inc"

void DTCDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "dtc/Dialect/DTC/IR/DTCOps.cpp.inc"
      >();
}
