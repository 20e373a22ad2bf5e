//===- Workspace.cpp - Scratch memory of a kernel -------------------------===//
#include "dtc/Codegen/Workspace.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

Value dtc::codegen::memrefFromPointer(OpBuilder &b, Location loc, Value pointer,
                                      MemRefType type) {
  assert(type.hasStaticShape() && type.getLayout().isIdentity());
  LLVMTypeConverter converter(b.getContext());
  Value descriptor =
      MemRefDescriptor::fromStaticShape(b, loc, converter, type, pointer);
  return UnrealizedConversionCastOp::create(b, loc, type, descriptor)
      .getResult(0);
}
