//===- DTCInterfaces.td - What passes know of ops ----------*- tablegen -*-===//
//
// Passes, the interpreter and the lowering reach ops only through these.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_INTERFACES_TD
#define DTC_INTERFACES_TD

include "mlir/IR/OpBase.td"

def FactorOpInterface : OpInterface<"FactorOpInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    An op on dtc tensors whose dimensions are related by factors. Its verifier
    holds the operand and result types to the placement rule.
  }];
  let methods = [InterfaceMethod<[{
      The declaration: factors of every dimension, their kinds, the results
      that sum them, the jointly linear sets, what each result reads.
    }], "::dtc::FactorRule", "getFactorRule">];
  let verify = [{ return ::dtc::verifyFactorOp($_op); }];
  // After the op's own verifier: a rule is declared from attributes that are
  // right, and messages speak of heads and equations before lengths.
  let verifyWithRegions = 1;
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    An op with a derivative. Ops without it (integers, derivatives themselves)
    must not lie on a path from a parameter to the loss.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the derivative: reads operands, results and the results'
      cotangents from the builder, gives it the operands' cotangents.
    }], "void", "buildBackward", (ins "::dtc::BackwardBuilder &":$builder)>,
    InterfaceMethod<[{
      Whether a float result has a cotangent. Saved values (a log-sum-exp) have
      none: what flows into them is not differentiated.
    }], "bool", "hasCotangent", (ins "unsigned":$result), "", [{ return true; }]>
  ];
}

def MeaningOpInterface : OpInterface<"MeaningOpInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    The op's meaning, plainly, in float64: the oracle of every test. Elements
    beyond a factor's logical length are NaN in operands; what results hold
    there is overwritten.
  }];
  let methods = [
    InterfaceMethod<[{
      Meaning on one rank's pieces. `piece` says which part of each factor they
      are. Results are to be created with the shapes that piece.resultShape(r)
      gives.
    }], "::llvm::SmallVector<::dtc::Array>", "interpret",
      (ins "const ::dtc::FactorPiece &":$piece, "::llvm::ArrayRef<::dtc::Array>":$operands)>,
    InterfaceMethod<[{
      Meaning on all ranks at once, for ops that communicate; by default every
      rank by itself. Index: [rank][operand] and [rank][result].
    }], "::llvm::SmallVector<::llvm::SmallVector<::dtc::Array>>", "interpretRanks",
      (ins "const ::dtc::GroupView &":$group, "::llvm::ArrayRef<::dtc::FactorPiece>":$pieces,
           "::llvm::ArrayRef<::llvm::SmallVector<::dtc::Array>>":$operands), "", [{
        ::llvm::SmallVector<::llvm::SmallVector<::dtc::Array>> out;
        for (auto [piece, xs] : ::llvm::zip_equal(pieces, operands))
          out.push_back($_op.interpret(piece, xs));
        return out;
      }]>
  ];
}

def KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    An op that one kernel computes on local buffers.
  }];
  let methods = [
    InterfaceMethod<[{
      Emits loops over the builder's operand and result memrefs (static local
      shapes, row-major, no aliasing except as getInPlaceOperand allows).
    }], "::mlir::LogicalResult", "emitKernel", (ins "::dtc::KernelBuilder &":$builder)>,
    InterfaceMethod<[{
      The operand whose buffer the kernel may overwrite with the result: every
      element is read before, and only by, the iteration that writes it.
    }], "std::optional<unsigned>", "getInPlaceOperand", (ins "unsigned":$result), "",
      [{ return std::nullopt; }]>
  ];
}

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    A typed map between placements: the identity on the logical value. One
    operand, one result.
  }];
  let methods = [
    InterfaceMethod<"Kind, axes and dimensions.", "::dtc::CollectiveSpec", "getSpec">
  ];
  let verify = [{ return ::dtc::verifyCollectiveOp($_op); }];
}

def ExpandableOpInterface : OpInterface<"ExpandableOpInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    An op that may exchange data inside, and can be said in local ops and
    collectives.
  }];
  let methods = [InterfaceMethod<[{
      Builds the local ops and collectives, and returns values for the results
      (of equal types). Called where a communicating factor is cut.
    }], "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "expand",
      (ins "::mlir::OpBuilder &":$builder)>];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    An op that costs something else than moving its operands and results: a
    matrix product, or a look-up in a table. All other ops are bound by memory.
    What one rank does, from the types alone.
  }];
  let methods = [
    InterfaceMethod<[{
      Floating-point operations of matrix products, a multiply-add being two.
    }], "double", "getFlops", (ins), "", [{ return 0; }]>,
    InterfaceMethod<[{
      Bytes read and written; by default each operand and result once.
    }], "double", "getBytesMoved", (ins), "", [{
        double bytes = 0;
        for (auto types : {::mlir::TypeRange($_op->getOperandTypes()), ::mlir::TypeRange($_op->getResultTypes())})
          for (::mlir::Type type : types)
            if (auto tensor = ::llvm::dyn_cast<::dtc::DTensorType>(type))
              bytes += static_cast<double>(tensor.getLocalBytes());
        return bytes;
      }]>
  ];
}

#endif // DTC_INTERFACES_TD
