//===- Types.cpp - The tensor type and the mesh ---------------------------===//

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dtc;

#define GET_ATTRDEF_CLASSES
#include "dtc/Dialect/DTC/IR/DTCAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dtc/Dialect/DTC/IR/DTCTypes.cpp.inc"

void DTCDialect::registerTypesAndAttributes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dtc/Dialect/DTC/IR/DTCTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dtc/Dialect/DTC/IR/DTCAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Axes and mesh
//===----------------------------------------------------------------------===//

Attribute AxesAttr::parse(AsmParser &parser, Type) {
  AxisList axes;
  if (parser.parseLess() || parseAxes(parser, axes) || parser.parseGreater())
    return {};
  return AxesAttr::get(parser.getContext(), mergedList(axes));
}

void AxesAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printAxes(printer.getStream(), getAxes());
  printer << ">";
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  AxisList axes;
  if (parser.parseLess() || parseAxes(parser, axes) || parser.parseGreater())
    return {};
  return parser.getChecked<MeshAttr>(parser.getContext(), axes);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printAxes(printer.getStream(), getAxes());
  printer << ">";
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<Axis> axes) {
  int64_t ranks = 1;
  for (auto [i, a] : llvm::enumerate(axes)) {
    if (a.pre != 1)
      return emitError() << "a mesh has whole axes; '" << a.name.getValue()
                         << "' is given as a part";
    for (const Axis &b : axes.take_front(i))
      if (a.name == b.name)
        return emitError() << "axis '" << a.name.getValue()
                           << "' is named twice in the mesh";
    if (a.size < 1 || ranks > (int64_t(1) << 30) / a.size)
      return emitError() << "the mesh must have between 1 and 2^30 ranks";
    ranks *= a.size;
  }
  return success();
}

int64_t MeshAttr::getSize(StringRef name) const {
  for (const Axis &a : getAxes())
    if (a.name == name)
      return a.size;
  return 1;
}

bool MeshAttr::contains(const Axis &axis) const {
  return getSize(axis.name) % axis.end() == 0;
}

int64_t MeshAttr::getStride(const Axis &axis) const {
  int64_t stride = 1;
  for (const Axis &a : llvm::reverse(getAxes())) {
    if (a.name == axis.name)
      return stride * (a.size / axis.end());
    stride *= a.size;
  }
  return stride;
}

int64_t MeshAttr::getIndex(int64_t rank, ArrayRef<Axis> axes) const {
  int64_t i = 0;
  for (const Axis &a : axes)
    i = i * a.size + (rank / getStride(a)) % a.size;
  return i;
}

AxisList MeshAttr::getAll() const { return mergedSet(getAxes()); }

//===----------------------------------------------------------------------===//
// DTensorType
//===----------------------------------------------------------------------===//

DTensorType DTensorType::get(const TensorSpec &spec) {
  MLIRContext *ctx = spec.elementType.getContext();
  SmallVector<AxesAttr> dims;
  for (const AxisList &axes : spec.dims)
    dims.push_back(AxesAttr::get(ctx, mergedList(axes)));
  return get(ctx, spec.shape, spec.padded, spec.elementType, dims,
             AxesAttr::get(ctx, mergedSet(spec.partial)),
             AxesAttr::get(ctx, mergedSet(spec.max)),
             AxesAttr::get(ctx, mergedSet(spec.replicate)));
}

DTensorType DTensorType::get(ArrayRef<int64_t> shape, Type elementType) {
  return get(TensorSpec(shape, elementType));
}

SmallVector<int64_t> DTensorType::getLocalShape() const {
  SmallVector<int64_t> local;
  for (auto [q, axes] : llvm::zip_equal(getPadded(), getDims()))
    local.push_back(q / axes.getProduct());
  return local;
}

int64_t DTensorType::getNumLocalElements() const {
  int64_t n = 1;
  for (int64_t x : getLocalShape())
    n *= x;
  return n;
}

int64_t DTensorType::getLocalBytes() const {
  return getNumLocalElements() *
         llvm::divideCeil(getElementType().getIntOrFloatBitWidth(), 8);
}

int64_t DTensorType::getNumElements() const {
  int64_t n = 1;
  for (int64_t x : getShape())
    n *= x;
  return n;
}

DTensorType DTensorType::getConjugate() const {
  return get(getContext(), getShape(), getPadded(), getElementType(), getDims(),
             getReplicate(), getMax(), getPartial());
}

DTensorType DTensorType::getLogical() const {
  return get(getShape(), getElementType());
}

DTensorType DTensorType::withElementType(Type type) const {
  return get(getContext(), getShape(), getPadded(), type, getDims(),
             getPartial(), getMax(), getReplicate());
}

AxisList DTensorType::getNamedAxes() const {
  AxisList all;
  for (AxesAttr axes : getDims())
    llvm::append_range(all, axes.getAxes());
  llvm::append_range(all, getPartial().getAxes());
  llvm::append_range(all, getMax().getAxes());
  llvm::append_range(all, getReplicate().getAxes());
  return all;
}

LogicalResult DTensorType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> shape,
                                  ArrayRef<int64_t> padded, Type elementType,
                                  ArrayRef<AxesAttr> dims, AxesAttr partial,
                                  AxesAttr max, AxesAttr replicate) {
  if (shape.size() != padded.size() || shape.size() != dims.size())
    return emitError() << "shape, padded lengths and axes differ in rank";
  if (!elementType.isF64() && !elementType.isF32() && !elementType.isBF16() &&
      !elementType.isInteger(32) && !elementType.isInteger(64))
    return emitError() << "element type must be f64, f32, bf16, i32 or i64, "
                          "but is "
                       << elementType;
  if (!isCountable(padded))
    return emitError() << "tensor has more than 2^50 elements";
  for (auto [d, n] : llvm::enumerate(shape)) {
    if (n <= 0 || padded[d] < n)
      return emitError() << "dimension " << d
                         << " must be positive and not above its padded "
                            "length, but is "
                         << n << "(" << padded[d] << ")";
    if (padded[d] % dims[d].getProduct() != 0)
      return emitError() << "dimension " << d << " of length " << padded[d]
                         << " is not divisible by its axes "
                         << toString(dims[d].getAxes()) << " (product "
                         << dims[d].getProduct() << ")";
  }
  AxisList seen;
  Refinement refinement;
  auto visit = [&](AxesAttr axes) -> LogicalResult {
    for (const Axis &a : axes.getAxes()) {
      if (overlap(a, seen))
        return emitError() << "axis '" << a.name.getValue()
                           << "' is named twice";
      seen.push_back(a);
      refinement.add(a);
    }
    return success();
  };
  for (AxesAttr axes : dims)
    if (failed(visit(axes)))
      return failure();
  if (failed(visit(partial)) || failed(visit(max)) || failed(visit(replicate)))
    return failure();
  if (!refinement.valid())
    return emitError() << "parts of one axis do not nest";
  if (!max.empty() && isa<IntegerType>(elementType))
    return emitError() << "max placement is for floats";
  if (!max.empty() && !partial.empty())
    return emitError() << "a tensor may not be partial on "
                       << toString(partial.getAxes()) << " and max on "
                       << toString(max.getAxes())
                       << ": a maximum of sums is no sum of maxima";
  return success();
}

/// Parses `8{dp:2}x32x250(252){tp:4}x` and the element type.
static ParseResult parseDimensions(AsmParser &parser, TensorSpec &spec) {
  while (true) {
    // The lexer takes 0x for the start of a hexadecimal number.
    const char *text = parser.getCurrentLocation().getPointer();
    if (text && text[0] == '0' && text[1] == 'x')
      return parser.emitError(parser.getCurrentLocation())
             << "dimension " << spec.shape.size() << " must be positive";
    int64_t n;
    OptionalParseResult isDim = parser.parseOptionalInteger(n);
    if (!isDim.has_value())
      return parser.parseType(spec.elementType);
    if (failed(*isDim))
      return failure();
    int64_t q = n;
    if (succeeded(parser.parseOptionalLParen()))
      if (parser.parseInteger(q) || parser.parseRParen())
        return failure();
    AxisList axes;
    if (succeeded(parser.parseOptionalLBrace()))
      if (parseAxes(parser, axes) || parser.parseRBrace())
        return failure();
    if (parser.parseXInDimensionList())
      return failure();
    spec.shape.push_back(n);
    spec.padded.push_back(q);
    spec.dims.push_back(axes);
  }
}

Type DTensorType::parse(AsmParser &parser) {
  TensorSpec spec;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseDimensions(parser, spec))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef keyword;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return {};
    AxisList *list = keyword == "partial"     ? &spec.partial
                     : keyword == "max"       ? &spec.max
                     : keyword == "replicate" ? &spec.replicate
                                              : nullptr;
    if (!list || !list->empty()) {
      parser.emitError(at, "expected 'partial', 'max' or 'replicate', once "
                           "each, but got '")
          << keyword << "'";
      return {};
    }
    if (parser.parseLBrace() || parseAxes(parser, *list) ||
        parser.parseRBrace())
      return {};
  }
  if (parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(loc); };
  MLIRContext *ctx = parser.getContext();
  SmallVector<AxesAttr> dims;
  for (const AxisList &axes : spec.dims)
    dims.push_back(AxesAttr::get(ctx, mergedList(axes)));
  return DTensorType::getChecked(emitError, ctx, ArrayRef<int64_t>(spec.shape),
                                 ArrayRef<int64_t>(spec.padded),
                                 spec.elementType, ArrayRef<AxesAttr>(dims),
                                 AxesAttr::get(ctx, mergedSet(spec.partial)),
                                 AxesAttr::get(ctx, mergedSet(spec.max)),
                                 AxesAttr::get(ctx, mergedSet(spec.replicate)));
}

void DTensorType::print(AsmPrinter &printer) const {
  llvm::raw_ostream &os = printer.getStream();
  os << "<";
  for (auto [n, q, axes] :
       llvm::zip_equal(getShape(), getPadded(), getDims())) {
    os << n;
    if (q != n)
      os << "(" << q << ")";
    if (!axes.empty()) {
      printAxes(os << "{", axes.getAxes());
      os << "}";
    }
    os << "x";
  }
  printer << getElementType();
  auto list = [&](StringRef name, AxesAttr axes) {
    if (axes.empty())
      return;
    printAxes(os << ", " << name << "{", axes.getAxes());
    os << "}";
  };
  list("partial", getPartial());
  list("max", getMax());
  list("replicate", getReplicate());
  os << ">";
}
