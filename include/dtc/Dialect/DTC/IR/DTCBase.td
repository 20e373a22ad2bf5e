//===- DTCBase.td - The dtc dialect ------------------------*- tablegen -*-===//

#ifndef DTC_BASE_TD
#define DTC_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def DTC_Dialect : Dialect {
  let name = "dtc";
  let cppNamespace = "::dtc";
  let summary = "Transformer training steps, and how they are spread over a mesh";
  let description = [{
    Model IR (logical shapes, one device), placements and the closed table of
    communication operators between them, derivatives, micro-batches and the
    optimizer. Everything is a value of the one tensor type, whose placement
    says for every mesh axis how the ranks' pieces form the logical tensor.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerTypesAndAttributes();
    void registerOps();
  }];
}

class DTC_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<DTC_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def DTC_AxesAttr : DTC_Attr<"Axes", "axes"> {
  let summary = "an ordered list of mesh axes or sub-axes";
  let description = [{
    `#dtc.axes<dp:2, tp:(4)2>`: dp, which has size 2, and the part `(4)2` of
    tp, major to minor. `tp:4` is short for `tp:(1)4`.
  }];
  let parameters = (ins ArrayRefParameter<"::dtc::Axis">:$axes);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    bool empty() const { return getAxes().empty(); }
    int64_t getProduct() const { return ::dtc::product(getAxes()); }
  }];
}

def DTC_MeshAttr : DTC_Attr<"Mesh", "mesh"> {
  let summary = "the mesh: named axes with sizes, slowest first in rank order";
  let description = [{
    `#dtc.mesh<dp:2, tp:4>` stands on the module as `dtc.mesh`. Axes are whole
    (no sub-axes) and named once. Rank order is row-major.
  }];
  let parameters = (ins ArrayRefParameter<"::dtc::Axis">:$axes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Number of ranks.
    int64_t getNumRanks() const { return ::dtc::product(getAxes()); }
    /// Size of a named axis, 1 if it does not exist.
    int64_t getSize(::llvm::StringRef name) const;
    /// Whether the axis is (a part of) an axis of the mesh.
    bool contains(const ::dtc::Axis &axis) const;
    /// A rank's coordinate on `axis` is (rank / stride) % axis.size.
    int64_t getStride(const ::dtc::Axis &axis) const;
    /// A rank's index along an ordered list of axes.
    int64_t getIndex(int64_t rank, ::llvm::ArrayRef<::dtc::Axis> axes) const;
    /// All axes of size greater than 1, as a sorted set.
    ::dtc::AxisList getAll() const;
  }];
}

def DTC_DTensorType : TypeDef<DTC_Dialect, "DTensor"> {
  let mnemonic = "tensor";
  let summary = "a logical tensor and its placement on the mesh";
  let description = [{
    ```
    !dtc.tensor<8{dp:2} x 32 x 250(252){tp:4} x f32, partial{cp:2}, replicate{tp:(4)2}>
    ```
    (printed without spaces) is a logical 8 x 32 x 250 tensor of f32. Each
    dimension lists the axes that cut it, major to minor: `shard`. `partial`
    axes hold summands, `max` axes hold operands of a maximum, `replicate`
    axes hold equal copies whose uses differ. An axis that is not named is
    `invariant`: equal copies that are used as one value.

    A dimension of n elements whose pieces are uneven carries a padded length
    q >= n, in parentheses. Cut into k pieces, piece i holds elements
    [i q/k, (i+1) q/k); what lies beyond n is padding and undefined. The local
    length is q/k.

    *Constraints*
    1. Every dimension is positive; 0 < n <= q.
    2. The product of the axes on a dimension divides its padded length.
    3. No axis is named twice, nor two parts of one axis that overlap or that
       do not nest.
    4. The element type is f64, f32, bf16, i32 or i64; `max` is for floats.
    5. `partial` and `max` axes do not stand together.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        ArrayRefParameter<"int64_t">:$padded,
                        "::mlir::Type":$elementType,
                        ArrayRefParameter<"::dtc::AxesAttr">:$dims,
                        "::dtc::AxesAttr":$partial, "::dtc::AxesAttr":$max,
                        "::dtc::AxesAttr":$replicate);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilderWithInferredContext<(ins "const ::dtc::TensorSpec &":$spec)>,
    /// The logical type: invariant on every axis, nothing padded.
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape,
                                        "::mlir::Type":$elementType)>
  ];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    ::llvm::ArrayRef<::dtc::Axis> getDimAxes(unsigned d) const {
      return getDims()[d].getAxes();
    }
    bool isInteger() const { return ::mlir::isa<::mlir::IntegerType>(getElementType()); }
    bool isFloat() const { return !isInteger(); }
    /// What one rank holds: padded length over the product of the axes.
    ::llvm::SmallVector<int64_t> getLocalShape() const;
    /// Elements and bytes of one rank's piece.
    int64_t getNumLocalElements() const;
    int64_t getLocalBytes() const;
    int64_t getNumElements() const;
    /// The cotangent's type: partial and replicate change places.
    ::dtc::DTensorType getConjugate() const;
    /// The same logical tensor, invariant on every axis, not padded.
    ::dtc::DTensorType getLogical() const;
    ::dtc::DTensorType withElementType(::mlir::Type type) const;
    /// Every named axis (cut, partial, max, replicate).
    ::dtc::AxisList getNamedAxes() const;
  }];
}

def DTC_AnyTensor : Type<CPred<"::llvm::isa<::dtc::DTensorType>($_self)">, "dtc tensor", "::dtc::DTensorType">;
def DTC_FloatTensor : Type<CPred<"::llvm::isa<::dtc::DTensorType>($_self) && ::llvm::cast<::dtc::DTensorType>($_self).isFloat()">,
    "dtc tensor of floats", "::dtc::DTensorType">;
def DTC_IntTensor : Type<CPred<"::llvm::isa<::dtc::DTensorType>($_self) && ::llvm::cast<::dtc::DTensorType>($_self).isInteger()">,
    "dtc tensor of integers", "::dtc::DTensorType">;

class DTC_Op<string mnemonic, list<Trait> traits = []> : Op<DTC_Dialect, mnemonic, traits>;

#endif // DTC_BASE_TD
