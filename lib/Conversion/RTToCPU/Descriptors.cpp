//===- Descriptors.cpp - Constants that describe collectives --------------===//

#include "Lowering.h"
#include "dtc/Runtime/ABI.h"

using namespace mlir;
using namespace dtc;

LLVM::GlobalOp dtc::createString(OpBuilder &b, Location loc, StringRef name,
                                 StringRef text, LLVM::Linkage linkage) {
  std::string bytes = text.str();
  bytes.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
  return LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true, linkage,
                                name, b.getStringAttr(bytes));
}

static LLVM::GlobalOp createNumbers(OpBuilder &b, Location loc, StringRef name,
                                    ArrayRef<int64_t> numbers) {
  auto type = LLVM::LLVMArrayType::get(b.getI64Type(), numbers.size());
  auto value = DenseElementsAttr::get(
      RankedTensorType::get({static_cast<int64_t>(numbers.size())},
                            b.getI64Type()),
      numbers);
  return LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true,
                                LLVM::Linkage::Internal, name, value);
}

static dtc_dtype getDtype(Type type) {
  if (type.isF64())
    return DTC_F64;
  if (type.isF32())
    return DTC_F32;
  if (type.isBF16())
    return DTC_BF16;
  return type.isInteger(32) ? DTC_I32 : DTC_I64;
}

LLVM::GlobalOp dtc::createDescriptor(ModuleOp module, rt::StartOp start,
                                     unsigned number) {
  Location loc = start.getLoc();
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  std::string name = "collective_" + std::to_string(number);

  // dtc_axis: stride, size.
  MeshAttr mesh = getMesh(start);
  SmallVector<int64_t> axes, blocks;
  for (const Axis &a : start.getAxes().getAxes()) {
    axes.push_back(mesh.getStride(a));
    axes.push_back(a.size);
  }
  // dtc_block: five sizes, then gather_first and a reserved word, together one
  // little-endian number.
  for (auto block : start.getBlocks().getAsRange<rt::BlockAttr>()) {
    llvm::append_range(blocks, block.getSizes());
    blocks.push_back(block.getGatherFirst());
  }
  static_assert(sizeof(dtc_block) == 6 * sizeof(int64_t) &&
                sizeof(dtc_axis) == 2 * sizeof(int64_t));
  LLVM::GlobalOp text = createString(b, loc, name + "_name", start.getName(),
                                     LLVM::Linkage::Internal);
  LLVM::GlobalOp axesGlobal = createNumbers(b, loc, name + "_axes", axes);
  LLVM::GlobalOp blocksGlobal = createNumbers(b, loc, name + "_blocks", blocks);

  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), {ptr, i32, i32, i32, i32, ptr, i64, ptr});
  auto global =
      LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true,
                             LLVM::Linkage::Internal, name, Attribute());
  b.createBlock(&global.getInitializerRegion());
  auto address = [&](LLVM::GlobalOp g) -> Value {
    return LLVM::AddressOfOp::create(b, loc, ptr, g.getSymName());
  };
  auto word = [&](Type t, int64_t n) -> Value {
    return LLVM::ConstantOp::create(b, loc, t, b.getIntegerAttr(t, n));
  };
  auto element = cast<MemRefType>(start.getSend()[0].getType());
  Value fields[] = {
      address(text),
      word(i32, static_cast<int64_t>(start.getKind())),
      word(i32, static_cast<int64_t>(start.getReduction())),
      word(i32, getDtype(element.getElementType())),
      word(i32, start.getAxes().getAxes().size()),
      address(axesGlobal),
      word(i64, start.getSend().size()),
      address(blocksGlobal),
  };
  Value value = LLVM::UndefOp::create(b, loc, type);
  for (auto [i, field] : llvm::enumerate(fields))
    value = LLVM::InsertValueOp::create(b, loc, value, field, i);
  LLVM::ReturnOp::create(b, loc, value);
  return global;
}

LLVM::GlobalOp dtc::createChannels(ModuleOp module, StringRef symbol,
                                   ArrayRef<rt::ChannelAttr> channels) {
  Location loc = module.getLoc();
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  Type ptr = LLVM::LLVMPointerType::get(b.getContext());
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  static_assert(sizeof(dtc_channel) == 6 * sizeof(int64_t));
  MeshAttr mesh = getMesh(module);
  int64_t stages = mesh.getSize("pp");
  int64_t stride = mesh.getNumRanks() / stages;
  SmallVector<LLVM::GlobalOp> names;
  for (auto [i, channel] : llvm::enumerate(channels))
    names.push_back(createString(b, loc,
                                 (symbol + Twine("_name_") + Twine(i)).str(),
                                 channel.getName(), LLVM::Linkage::Internal));
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), {ptr, i32, i32, i64, i64, i64, i64});
  auto arrayType = LLVM::LLVMArrayType::get(type, channels.size());
  auto global =
      LLVM::GlobalOp::create(b, loc, arrayType, /*isConstant=*/true,
                             LLVM::Linkage::Internal, symbol, Attribute());
  b.createBlock(&global.getInitializerRegion());
  auto word = [&](Type t, int64_t n) -> Value {
    return LLVM::ConstantOp::create(b, loc, t, b.getIntegerAttr(t, n));
  };
  Value array = LLVM::UndefOp::create(b, loc, arrayType);
  for (auto [i, channel] : llvm::enumerate(channels)) {
    Value fields[] = {
        LLVM::AddressOfOp::create(b, loc, ptr, names[i].getSymName()),
        word(i32, channel.getNumber()),
        word(i32, 0),
        word(i64, stride),
        word(i64, stages),
        word(i64, channel.getPeer()),
        word(i64, channel.getBytes()),
    };
    Value value = LLVM::UndefOp::create(b, loc, type);
    for (auto [k, field] : llvm::enumerate(fields))
      value = LLVM::InsertValueOp::create(b, loc, value, field, k);
    array = LLVM::InsertValueOp::create(b, loc, array, value, i);
  }
  LLVM::ReturnOp::create(b, loc, array);
  return global;
}
