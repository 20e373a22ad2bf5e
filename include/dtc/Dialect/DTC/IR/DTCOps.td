//===- DTCOps.td - Every op of the dtc dialect -------------*- tablegen -*-===//

#ifndef DTC_OPS_TD
#define DTC_OPS_TD

include "dtc/Dialect/DTC/IR/DTCBase.td"
include "dtc/Dialect/DTC/IR/DTCInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

// An op that one kernel computes. Adding one means: a record here, and in
// lib/Dialect/DTC a file with its rule, verifier, meaning, derivative and
// kernel (CONTRIBUTING.md).
class DTC_ComputeOp<string mnemonic, list<Trait> traits = []>
    : DTC_Op<mnemonic, !listconcat([Pure,
        DeclareOpInterfaceMethods<FactorOpInterface>,
        DeclareOpInterfaceMethods<MeaningOpInterface>,
        DeclareOpInterfaceMethods<KernelOpInterface>], traits)>;

defvar Differentiable = DeclareOpInterfaceMethods<DifferentiableOpInterface>;
defvar MatrixProduct = DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>;
defvar TableLookup = DeclareOpInterfaceMethods<CostOpInterface, ["getBytesMoved"]>;

// As above, for ops whose kernel may overwrite an operand.
class DTC_InPlaceOp<string mnemonic, list<Trait> traits = []>
    : DTC_Op<mnemonic, !listconcat([Pure,
        DeclareOpInterfaceMethods<FactorOpInterface>,
        DeclareOpInterfaceMethods<MeaningOpInterface>,
        DeclareOpInterfaceMethods<KernelOpInterface, ["getInPlaceOperand"]>], traits)>;

// As above, for ops whose meaning exchanges data between ranks.
class DTC_CommunicatingOp<string mnemonic, list<Trait> traits = []>
    : DTC_Op<mnemonic, !listconcat([Pure,
        DeclareOpInterfaceMethods<FactorOpInterface>,
        DeclareOpInterfaceMethods<MeaningOpInterface, ["interpretRanks"]>,
        DeclareOpInterfaceMethods<KernelOpInterface>], traits)>;

include "dtc/Dialect/DTC/IR/DTCModelOps.td"
include "dtc/Dialect/DTC/IR/DTCDerivativeOps.td"
include "dtc/Dialect/DTC/IR/DTCLossOps.td"
include "dtc/Dialect/DTC/IR/DTCOptimizerOps.td"
include "dtc/Dialect/DTC/IR/DTCStructureOps.td"
include "dtc/Dialect/DTC/IR/DTCPipelineOps.td"
include "dtc/Dialect/DTC/IR/DTCSequenceOps.td"
include "dtc/Dialect/DTC/IR/DTCCollectiveOps.td"

#endif // DTC_OPS_TD
