//===- CpuPipeline.h - From upstream dialects to the LLVM dialect -*- C++
//-*-===//
#ifndef DTC_CODEGEN_CPUPIPELINE_H
#define DTC_CODEGEN_CPUPIPELINE_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

namespace dtc::codegen {

struct CpuPipelineOptions {
  /// Outermost scf.parallel loops run on OpenMP threads (linked with libomp);
  /// otherwise they are plain loops.
  bool openmp = true;
};

/// Adds the passes that lower a builtin.module of func, scf, affine, arith,
/// math, memref (static allocation outside of this pipeline), vector and omp
/// to the LLVM and omp dialects, as emitObject takes them.
void buildCpuLoweringPipeline(mlir::OpPassManager &pm,
                              const CpuPipelineOptions &options = {});

/// Registers the dialects and the translations to LLVM IR that the pipeline
/// and emitObject need.
void registerCpuDialects(mlir::DialectRegistry &registry);

} // namespace dtc::codegen
#endif
