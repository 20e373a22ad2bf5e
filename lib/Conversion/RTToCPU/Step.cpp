//===- Step.cpp - The step as a table -------------------------------------===//
//
// The step is the one function that grows with the model's depth. It becomes
// data: a constant array of 64-bit words, instruction after instruction:
//
//   [number of a handler] [number of words n] [n words]
//
// A handler is a function handler(rank, arena, iteration, words). There is one
// for each kernel and layer that the step runs; the words are where its buffers
// lie in the arena. A loop's words are its count and its body, as instructions.
// So neither the compiler's time nor the code grows with the number of layers.
//
//===----------------------------------------------------------------------===//

#include "Control.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace dtc;

namespace {

class StepLowering : public Control {
public:
  StepLowering(func::FuncOp func, const RuntimeFunctions &rt,
               const SymbolTable &symbols, unsigned &numDescriptors)
      : Control(func->getParentOfType<ModuleOp>(), rt, numDescriptors),
        func(func), symbols(symbols),
        frameOffset(module->getAttrOfType<IntegerAttr>(rt::attrs::frameOffset)
                        .getInt()),
        i64(b.getI64Type()) {
    none = LLVM::LLVMVoidType::get(b.getContext());
  }

  LogicalResult run() {
    // Handlers of loops call it.
    createInterpreter();
    SmallVector<int64_t> words;
    if (failed(lowerBlock(func.getBody().front(), words)))
      return failure();
    createTables(words);
    createStep(words.size());
    return success();
  }

private:
  using Words = SmallVector<int64_t>;

  //===--------------------------------------------------------------------===//
  // Instructions
  //===--------------------------------------------------------------------===//

  int64_t offsetOf(Value buffer) {
    if (auto alloc = buffer.getDefiningOp<rt::AllocOp>())
      return frameOffset + *alloc.getOffset();
    auto address = buffer.getDefiningOp<rt::AddressOp>();
    return *symbols.lookup<rt::StorageOp>(address.getStorage()).getOffset();
  }

  /// In a handler buffers come in order, a word each.
  Value address(Value, Location loc) override {
    return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), frame,
                               ArrayRef<LLVM::GEPArg>{nextWord(loc)});
  }
  Value nextWord(Location loc) {
    Value at = offset(loc, entry->getArgument(3),
                      static_cast<int64_t>(sizeof(int64_t)) * numRead++);
    return LLVM::LoadOp::create(b, loc, i64, at);
  }
  Value iteration() { return entry->getArgument(2); }

  /// The number of the handler of this key; `body` writes it.
  int64_t getHandler(Location loc, const Twine &key, const Twine &name,
                     llvm::function_ref<void()> body) {
    auto [it, isNew] = numbers.try_emplace(key.str(), handlers.size());
    if (!isNew)
      return it->second;
    int64_t number = it->second;
    std::string symbol = ("step_" + Twine(handlers.size()) + "_" + name).str();
    handlers.push_back(symbol);
    numRead = 0;
    createFunction(loc, symbol, {ptr, ptr, i64, ptr}, LLVM::Linkage::Internal);
    body();
    LLVM::ReturnOp::create(b, loc, ValueRange());
    return number;
  }

  void add(Words &to, int64_t handler, ArrayRef<int64_t> words) {
    to.push_back(handler);
    to.push_back(words.size());
    to.append(words.begin(), words.end());
  }

  LogicalResult lowerBlock(Block &block, Words &words) {
    for (Operation &op : block)
      if (failed(lower(op, words)))
        return failure();
    return success();
  }

  LogicalResult lower(Operation &op, Words &to) {
    Location loc = op.getLoc();
    Words words;
    auto buffers = [&](ValueRange values) {
      for (Value v : values)
        words.push_back(offsetOf(v));
    };
    if (isa<rt::AllocOp, rt::AddressOp, rt::IndexOp, arith::ConstantOp,
            func::ReturnOp, scf::YieldOp>(op))
      return success();
    if (auto launch = dyn_cast<rt::LaunchOp>(op)) {
      std::string key = ("launch " + launch.getKernel()).str();
      for (Value v : launch.getIndex()) {
        auto index = v.getDefiningOp<rt::IndexOp>();
        llvm::raw_string_ostream(key)
            << " " << index.getAxes() << "*" << index.getScale();
      }
      int64_t handler =
          getHandler(loc, key, launch.getKernel(), [&] { emitLaunch(launch); });
      buffers(launch.getIns());
      buffers(launch.getOuts());
      buffers(launch.getScratch());
      add(to, handler, words);
    } else if (auto call = dyn_cast<rt::CallOp>(op)) {
      int64_t handler =
          getHandler(loc, "call " + call.getCallee(), call.getCallee(),
                     [&] { emitCall(call, address(Value(), loc)); });
      words.push_back(frameOffset + *call.getOffset());
      buffers(call.getIns());
      buffers(call.getOuts());
      add(to, handler, words);
    } else if (auto start = dyn_cast<rt::StartOp>(op)) {
      int64_t handler = getHandler(loc, "start " + Twine(numDescriptors),
                                   "start", [&] { emitStart(start); });
      buffers(start.getSend());
      buffers(start.getRecv());
      add(to, handler, words);
    } else if (auto wait = dyn_cast<rt::WaitOp>(op)) {
      int64_t handler = getHandler(loc, "wait", "wait", [&] {
        emitWait(LLVM::TruncOp::create(b, loc, b.getI32Type(), nextWord(loc)),
                 loc);
      });
      auto of = wait.getToken().getDefiningOp<rt::StartOp>();
      add(to, handler, {int64_t(*of.getSlot())});
    } else if (auto fill = dyn_cast<rt::FillOp>(op)) {
      lowerFill(fill, to);
    } else if (auto set = dyn_cast<rt::SetIndexOp>(op)) {
      int64_t handler = getHandler(loc, "set_index", "set_index", [&] {
        Value n = LLVM::TruncOp::create(b, loc, b.getI32Type(), iteration());
        LLVM::StoreOp::create(b, loc, n, address(Value(), loc));
      });
      add(to, handler, {offsetOf(set.getBuffer())});
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      return lowerLoop(loop, to);
    } else {
      return op.emitError("has no place in a step");
    }
    return success();
  }

  void lowerFill(rt::FillOp fill, Words &to) {
    Location loc = fill.getLoc();
    MemRefType type = fill.getBuffer().getType();
    Type element = type.getElementType();
    double value = fill.getValue().convertToDouble();
    if (type.getNumElements() == 1 && element.isInteger(32)) {
      // Numbers of layers, too many for handlers of their own.
      int64_t handler = getHandler(loc, "set", "set", [&] {
        Value at = address(Value(), loc);
        Value n = LLVM::TruncOp::create(b, loc, b.getI32Type(), nextWord(loc));
        LLVM::StoreOp::create(b, loc, n, at);
      });
      add(to, handler,
          {offsetOf(fill.getBuffer()), static_cast<int64_t>(value)});
      return;
    }
    std::string key;
    llvm::raw_string_ostream(key)
        << "fill " << type << " " << fill.getValueAttr();
    int64_t handler = getHandler(loc, key, "fill", [&] { emitFill(fill); });
    add(to, handler, {offsetOf(fill.getBuffer())});
  }

  LogicalResult lowerLoop(scf::ForOp loop, Words &to) {
    Location loc = loop.getLoc();
    std::optional<int64_t> low = getConstantIntValue(loop.getLowerBound()),
                           high = getConstantIntValue(loop.getUpperBound()),
                           by = getConstantIntValue(loop.getStep());
    if (!low || !high || *low != 0 || by != 1 || loop.getNumResults() != 0)
      return loop.emitError("in a step must count from 0 to a constant");
    int64_t handler = getHandler(loc, "loop", "loop", [&] {
      Value count = nextWord(loc), size = nextWord(loc);
      Value body = offset(loc, entry->getArgument(3), 2 * sizeof(int64_t));
      auto index = [&](Value v) -> Value {
        return arith::IndexCastOp::create(b, loc, b.getIndexType(), v);
      };
      auto out = scf::ForOp::create(b, loc, index(constant(loc, 0)),
                                    index(count), index(constant(loc, 1)));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(out.getBody()->getTerminator());
      Value i = arith::IndexCastOp::create(b, loc, i64, out.getInductionVar());
      LLVM::CallOp::create(b, loc, interpreter,
                           ValueRange{rank, frame, i, body, size});
    });
    Words body;
    if (failed(lowerBlock(*loop.getBody(), body)))
      return failure();
    Words words{*high, static_cast<int64_t>(body.size())};
    words.append(body);
    add(to, handler, words);
    return success();
  }

  //===--------------------------------------------------------------------===//
  // What runs them
  //===--------------------------------------------------------------------===//

  /// step_run(rank, arena, iteration, words, size).
  void createInterpreter() {
    Location loc = func.getLoc();
    interpreter = createFunction(loc, "step_run", {ptr, ptr, i64, ptr, i64},
                                 LLVM::Linkage::Internal);
    Region &region = interpreter.getBody();
    Value words = entry->getArgument(3), size = entry->getArgument(4);
    Block *head = b.createBlock(&region, region.end(), {i64}, {loc});
    Block *body = b.createBlock(&region, region.end());
    Block *exit = b.createBlock(&region, region.end());
    b.setInsertionPointToEnd(entry);
    LLVM::BrOp::create(b, loc, constant(loc, 0), head);
    b.setInsertionPointToEnd(head);
    Value i = head->getArgument(0);
    Value more =
        LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, i, size);
    LLVM::CondBrOp::create(b, loc, more, body, exit);
    b.setInsertionPointToEnd(body);
    auto at = [&](Value base, Type type, LLVM::GEPArg index) -> Value {
      return LLVM::GEPOp::create(b, loc, ptr, type, base,
                                 ArrayRef<LLVM::GEPArg>{index});
    };
    Value here = at(words, i64, i);
    Value number = LLVM::LoadOp::create(b, loc, i64, here);
    Value count = LLVM::LoadOp::create(b, loc, i64, at(here, i64, 1));
    Value table = LLVM::AddressOfOp::create(b, loc, ptr, handlerTable);
    Value handler = LLVM::LoadOp::create(b, loc, ptr, at(table, ptr, number));
    auto type = LLVM::LLVMFunctionType::get(none, {ptr, ptr, i64, ptr});
    LLVM::CallOp::create(b, loc, type,
                         ValueRange{handler, rank, frame, entry->getArgument(2),
                                    at(here, i64, 2)});
    Value next = LLVM::AddOp::create(b, loc, i, constant(loc, 2));
    next = LLVM::AddOp::create(b, loc, next, count);
    LLVM::BrOp::create(b, loc, next, head);
    b.setInsertionPointToEnd(exit);
    LLVM::ReturnOp::create(b, loc, ValueRange());
  }

  void createTables(ArrayRef<int64_t> words) {
    Location loc = func.getLoc();
    b.setInsertionPointToStart(module.getBody());
    auto wordsType = LLVM::LLVMArrayType::get(i64, words.size());
    auto value = DenseElementsAttr::get(
        RankedTensorType::get({static_cast<int64_t>(words.size())}, i64),
        words);
    LLVM::GlobalOp::create(b, loc, wordsType, /*isConstant=*/true,
                           LLVM::Linkage::Internal, wordTable, value);
    auto tableType = LLVM::LLVMArrayType::get(ptr, handlers.size());
    auto table = LLVM::GlobalOp::create(b, loc, tableType, /*isConstant=*/true,
                                        LLVM::Linkage::Internal, handlerTable,
                                        Attribute());
    b.createBlock(&table.getInitializerRegion());
    Value array = LLVM::UndefOp::create(b, loc, tableType);
    for (auto [i, name] : llvm::enumerate(handlers))
      array = LLVM::InsertValueOp::create(
          b, loc, array, LLVM::AddressOfOp::create(b, loc, ptr, name), i);
    LLVM::ReturnOp::create(b, loc, array);
  }

  void createStep(int64_t size) {
    Location loc = func.getLoc();
    createFunction(loc, "dtc_program_step", {ptr, ptr},
                   LLVM::Linkage::External);
    Value words = LLVM::AddressOfOp::create(b, loc, ptr, wordTable);
    LLVM::CallOp::create(
        b, loc, interpreter,
        ValueRange{rank, frame, constant(loc, 0), words, constant(loc, size)});
    LLVM::ReturnOp::create(b, loc, ValueRange());
  }

  static constexpr StringLiteral wordTable = "step_words";
  static constexpr StringLiteral handlerTable = "step_handlers";

  func::FuncOp func;
  const SymbolTable &symbols;
  int64_t frameOffset;
  Type i64, none;
  LLVM::LLVMFuncOp interpreter;
  llvm::StringMap<int64_t> numbers;
  SmallVector<std::string> handlers;
  int64_t numRead = 0; // words that the handler being written has read
};

} // namespace

LogicalResult dtc::lowerStep(func::FuncOp func, const RuntimeFunctions &rt,
                             const SymbolTable &symbols,
                             unsigned &numDescriptors) {
  if (failed(StepLowering(func, rt, symbols, numDescriptors).run()))
    return failure();
  func.erase();
  return success();
}
