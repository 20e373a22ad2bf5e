//===- CpuPipeline.cpp - From upstream dialects to the LLVM dialect -------===//
#include "dtc/Codegen/CpuPipeline.h"
#include "dtc/Codegen/VectorMath.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/OpenMP/OpenMPToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace {

/// exp, log, tanh and erf of f32 as inline code: as calls they would be made
/// for each lane of a vector.
struct InlineMathPass : PassWrapper<InlineMathPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InlineMathPass)
  StringRef getArgument() const override { return "dtc-inline-math"; }
  StringRef getDescription() const override {
    return "Expand elementary functions of f32 to inline code";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect,
                    vector::VectorDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    dtc::codegen::populateInlineMathPatterns(patterns);
    populatePolynomialApproximateErfPattern(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

/// bf16 lies in memory as 16-bit integers. Its conversions are integer
/// arithmetic, so that no value of the type bf16 is left: processors without
/// instructions for it would take an element after the other, some of them by
/// calls.
struct StoreBF16AsIntegersPass
    : PassWrapper<StoreBF16AsIntegersPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StoreBF16AsIntegersPass)
  StringRef getArgument() const override {
    return "dtc-store-bf16-as-integers";
  }
  StringRef getDescription() const override {
    return "Load and store bf16 as integers of 16 bits";
  }

  /// The integers of the same bits; null for other types.
  static Type getIntegers(Type type) {
    auto integer = IntegerType::get(type.getContext(), 16);
    if (type.isBF16())
      return integer;
    auto vector = dyn_cast<VectorType>(type);
    if (vector && vector.getElementType().isBF16())
      return vector.cloneWith(std::nullopt, integer);
    return {};
  }
  static void castOperand(OpOperand &operand) {
    OpBuilder b(operand.getOwner());
    if (Type type = getIntegers(operand.get().getType()))
      operand.set(LLVM::BitcastOp::create(b, operand.getOwner()->getLoc(), type,
                                          operand.get()));
  }
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (!isa<LLVM::LoadOp, LLVM::StoreOp, LLVM::MaskedLoadOp,
               LLVM::MaskedStoreOp>(op))
        return;
      for (OpOperand &operand : op->getOpOperands())
        castOperand(operand);
      for (Value result : op->getResults())
        if (Type type = getIntegers(result.getType())) {
          OpBuilder b(op->getContext());
          b.setInsertionPointAfter(op);
          auto back = LLVM::BitcastOp::create(b, op->getLoc(), result.getType(),
                                              result);
          result.replaceAllUsesExcept(back, back);
          result.setType(type);
        }
    });
  }
};

} // namespace

void dtc::codegen::buildCpuLoweringPipeline(OpPassManager &pm,
                                            const CpuPipelineOptions &options) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // Transfers of more than one dimension become unrolled rows.
  pm.addPass(createConvertVectorToSCFPass(
      VectorTransferToSCFOptions().enableFullUnroll(true).setTargetRank(1)));
  pm.addPass(createLowerAffinePass());
  pm.addPass(std::make_unique<InlineMathPass>());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  if (options.openmp)
    pm.addPass(createConvertSCFToOpenMPPass());

  ConvertVectorToLLVMPassOptions vectorToLlvm;
  vectorToLlvm.vectorContractLowering =
      vector::VectorContractLowering::OuterProduct;
  // One fixed order of summation, everywhere.
  vectorToLlvm.reassociateFPReductions = false;
  pm.addPass(createConvertVectorToLLVMPass(vectorToLlvm));
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  // Conversions from and to bf16 are integer arithmetic on every processor: the
  // instructions that some have treat denormals otherwise.
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  // Memrefs are finalized while structured loops still exist: after
  // convert-scf-to-cf the blocks inside omp regions carry types that the
  // conversion cannot follow.
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createConvertOpenMPToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(std::make_unique<StoreBF16AsIntegersPass>());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void dtc::codegen::registerCpuDialects(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, omp::OpenMPDialect,
                  scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerOpenMPDialectTranslation(registry);
}
