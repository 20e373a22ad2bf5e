//===- Step.cpp - The step as a table -------------------------------------===//
//
// The step is the one function that grows with the model's depth. It becomes
// data: a constant array of 64-bit words, instruction after instruction:
//
//   [number of a handler] [number of words n] [n words]
//
// A handler is a function handler(rank, arena, context, words). There is one
// for each kernel and layer that a step runs; the words are where its buffers
// lie in the arena. A loop's words are its count and its body, as instructions.
// So neither the compiler's time nor the code grows with the number of layers.
//
// The context is an array: 0, the number of the iteration or micro-batch, and,
// in a task, where the copy of each of its groups lies that the schedule chose.
// Buffers lie at multiples of 64, so the low six bits of a word say to which
// entry of the context the rest is added.
//
// A task is a list of instructions of its own; a schedule's action to run it
// has the list's place and the context among its words. With a pipeline there
// is a step for each coordinate on pp: other tables, the same handlers.
//
//===----------------------------------------------------------------------===//

#include "Control.h"
#include "dtc/Runtime/ABI.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <map>

using namespace mlir;
using namespace dtc;

namespace {

/// Entries of a context: what low bits of a word can name.
constexpr int64_t contextSize = rt::bufferAlignment;
/// Those before the copies of groups.
constexpr int64_t firstGroup = 2;

class StepLowering : public Control {
public:
  StepLowering(ModuleOp module, const RuntimeFunctions &rt,
               const SymbolTable &symbols, unsigned &numDescriptors)
      : Control(module, rt, numDescriptors), symbols(symbols),
        i64(b.getI64Type()) {
    none = LLVM::LLVMVoidType::get(b.getContext());
  }

  LogicalResult run() {
    // Handlers of loops and tasks call it.
    createInterpreter();
    SmallVector<std::pair<int64_t, int64_t>> entries, openEntries;
    for (func::FuncOp step : rt::getSteps(module)) {
      ends.clear();
      frameOffset =
          step->getAttrOfType<IntegerAttr>(rt::attrs::frameOffset).getInt();
      Words words;
      if (failed(lowerBlock(step.getBody().front(), words)))
        return failure();
      entries.push_back(append(words));
      openEntries.push_back(append(openEnds()));
      step.erase();
    }
    createTables();
    createEntry("dtc_program_step", {ptr, ptr}, stepTable, entries);
    createEntry("dtc_program_open", {ptr}, openTable, openEntries);
    return success();
  }

private:
  using Words = SmallVector<int64_t>;

  /// Puts a list of instructions into the table; returns its place and size.
  std::pair<int64_t, int64_t> append(ArrayRef<int64_t> words) {
    auto first = static_cast<int64_t>(table.size());
    llvm::append_range(table, words);
    return {first, static_cast<int64_t>(words.size())};
  }

  //===--------------------------------------------------------------------===//
  // Instructions
  //===--------------------------------------------------------------------===//

  /// The word for a buffer.
  int64_t offsetOf(Value buffer) {
    if (auto slot = buffer.getDefiningOp<rt::SlotOp>())
      return static_cast<int64_t>(slot.getOffset()) + firstGroup +
             static_cast<int64_t>(slot.getIndex());
    if (auto alloc = buffer.getDefiningOp<rt::AllocOp>())
      return frameOffset + *alloc.getOffset();
    auto address = buffer.getDefiningOp<rt::AddressOp>();
    return *symbols.lookup<rt::StorageOp>(address.getStorage()).getOffset();
  }

  /// In a handler buffers come in order, a word each.
  Value address(Value, Location loc) override {
    return addressOf(nextWord(loc), loc);
  }
  Value addressOf(Value word, Location loc) {
    Value entry =
        LLVM::AndOp::create(b, loc, word, constant(loc, contextSize - 1));
    Value at = LLVM::AndOp::create(b, loc, word, constant(loc, -contextSize));
    Value base =
        LLVM::LoadOp::create(b, loc, i64, wordAt(loc, context(), entry));
    at = LLVM::AddOp::create(b, loc, at, base);
    return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), frame,
                               ArrayRef<LLVM::GEPArg>{at});
  }
  /// A bucket may have every gradient of the model, so this is a loop.
  Value emitPointers(ValueRange buffers, Location loc) override {
    auto n = static_cast<int64_t>(buffers.size());
    Value words = offset(loc, entry->getArgument(3),
                         static_cast<int64_t>(sizeof(int64_t)) * numRead);
    numRead += n;
    Value array = LLVM::AllocaOp::create(b, loc, ptr, ptr, constant(loc, n));
    auto index = [&](int64_t i) -> Value {
      return arith::ConstantIndexOp::create(b, loc, i);
    };
    auto loop = scf::ForOp::create(b, loc, index(0), index(n), index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    Value i = arith::IndexCastOp::create(b, loc, i64, loop.getInductionVar());
    Value word = LLVM::LoadOp::create(b, loc, i64, wordAt(loc, words, i));
    Value to =
        LLVM::GEPOp::create(b, loc, ptr, ptr, array, ArrayRef<LLVM::GEPArg>{i});
    LLVM::StoreOp::create(b, loc, addressOf(word, loc), to);
    return array;
  }
  /// Address of element i of an array of words.
  Value wordAt(Location loc, Value words, LLVM::GEPArg i) {
    return LLVM::GEPOp::create(b, loc, ptr, i64, words,
                               ArrayRef<LLVM::GEPArg>{i});
  }
  Value nextWord(Location loc) {
    Value at = offset(loc, entry->getArgument(3),
                      static_cast<int64_t>(sizeof(int64_t)) * numRead++);
    return LLVM::LoadOp::create(b, loc, i64, at);
  }
  Value context() { return entry->getArgument(2); }
  Value iteration(Location loc) {
    return LLVM::LoadOp::create(b, loc, i64, wordAt(loc, context(), 1));
  }

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
    createFunction(loc, symbol, {ptr, ptr, ptr, ptr}, LLVM::Linkage::Internal);
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
    if (isa<rt::AllocOp, rt::AddressOp, rt::SlotOp, rt::IndexOp,
            arith::ConstantOp, func::ReturnOp, scf::YieldOp>(op))
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
        Value n = LLVM::TruncOp::create(b, loc, b.getI32Type(), iteration(loc));
        LLVM::StoreOp::create(b, loc, n, address(Value(), loc));
      });
      add(to, handler, {offsetOf(set.getBuffer())});
    } else if (auto post = dyn_cast<rt::PostOp>(op)) {
      addMessage(to, rt::Action::Post, post.getChannel(),
                 offsetOf(post.getBuffer()));
    } else if (auto receive = dyn_cast<rt::ReceiveOp>(op)) {
      addMessage(to, rt::Action::Receive, receive.getChannel(), 0);
    } else if (auto send = dyn_cast<rt::SendOp>(op)) {
      addMessage(to, rt::Action::Send, send.getChannel(),
                 offsetOf(send.getBuffer()));
    } else if (auto sent = dyn_cast<rt::SentOp>(op)) {
      addMessage(to, rt::Action::Sent, sent.getChannel(), 0);
    } else if (auto pipeline = dyn_cast<rt::PipelineOp>(op)) {
      return lowerPipeline(pipeline, to);
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
      // The surrounding context, with another iteration.
      Value inner =
          LLVM::AllocaOp::create(b, loc, ptr, i64, constant(loc, contextSize));
      LLVM::MemcpyOp::create(b, loc, inner, context(),
                             constant(loc, contextSize * sizeof(int64_t)),
                             /*isVolatile=*/false);
      auto index = [&](Value v) -> Value {
        return arith::IndexCastOp::create(b, loc, b.getIndexType(), v);
      };
      auto out = scf::ForOp::create(b, loc, index(constant(loc, 0)),
                                    index(count), index(constant(loc, 1)));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(out.getBody()->getTerminator());
      Value i = arith::IndexCastOp::create(b, loc, i64, out.getInductionVar());
      LLVM::StoreOp::create(b, loc, i, wordAt(loc, inner, 1));
      LLVM::CallOp::create(b, loc, interpreter,
                           ValueRange{rank, frame, inner, body, size});
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
  // Schedules
  //===--------------------------------------------------------------------===//

  /// A message's words: the channel's place in the table of channels, and for
  /// a post or a send the buffer.
  void addMessage(Words &to, rt::Action::Kind kind, rt::ChannelAttr channel,
                  int64_t buffer) {
    Location loc = module.getLoc();
    auto [it, isNew] = channelNumbers.try_emplace(channel, channels.size());
    if (isNew)
      channels.push_back(channel);
    bool receives = kind == rt::Action::Post || kind == rt::Action::Receive;
    ends[{channel.getNumber(), receives}] = it->second;
    static const char *const names[] = {"", "post", "receive", "send", "sent"};
    const LLVM::LLVMFuncOp callees[] = {nullptr, rt.post, rt.receive, rt.send,
                                        rt.sent};
    bool hasBuffer = kind == rt::Action::Post || kind == rt::Action::Send;
    int64_t handler = getHandler(loc, names[kind], names[kind], [&] {
      SmallVector<Value> args{rank, nextChannel(loc)};
      if (hasBuffer)
        args.push_back(address(Value(), loc));
      LLVM::CallOp::create(b, loc, callees[kind], args);
    });
    Words words{it->second};
    if (hasBuffer)
      words.push_back(buffer);
    add(to, handler, words);
  }

  /// Opens the ends of channels that the step uses, by number.
  Words openEnds() {
    Location loc = module.getLoc();
    Words words;
    for (auto [end, place] : ends) {
      int64_t handler = getHandler(loc, "open", "open", [&] {
        Value at = nextChannel(loc);
        Value receives =
            LLVM::TruncOp::create(b, loc, b.getI32Type(), nextWord(loc));
        LLVM::CallOp::create(b, loc, rt.open, ValueRange{rank, at, receives});
      });
      add(words, handler, {place, end.second});
    }
    return words;
  }

  /// The address of the channel that a word numbers.
  Value nextChannel(Location loc) {
    Value bytes = LLVM::MulOp::create(b, loc, nextWord(loc),
                                      constant(loc, sizeof(dtc_channel)));
    Value base = LLVM::AddressOfOp::create(b, loc, ptr, channelTable);
    return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{bytes});
  }

  int64_t getTaskName(StringRef name) {
    auto [it, isNew] = taskNumbers.try_emplace(name, taskNames.size());
    if (isNew)
      taskNames.push_back(name.str());
    return it->second;
  }

  int64_t getRunHandler(Location loc) {
    return getHandler(loc, "run", "run", [&] {
      Value first = nextWord(loc), size = nextWord(loc), name = nextWord(loc),
            stage = nextWord(loc);
      Value inner = wordAt(loc, entry->getArgument(3), 4);
      Value microBatch =
          LLVM::LoadOp::create(b, loc, i64, wordAt(loc, inner, 1));
      Value names = LLVM::AddressOfOp::create(b, loc, ptr, nameTable);
      Value text = LLVM::LoadOp::create(
          b, loc, ptr,
          LLVM::GEPOp::create(b, loc, ptr, ptr, names,
                              ArrayRef<LLVM::GEPArg>{name}));
      LLVM::CallOp::create(b, loc, rt.begin,
                           ValueRange{rank, text, microBatch, stage});
      Value words = LLVM::AddressOfOp::create(b, loc, ptr, wordTable);
      LLVM::CallOp::create(
          b, loc, interpreter,
          ValueRange{rank, frame, inner, wordAt(loc, words, first), size});
      LLVM::CallOp::create(b, loc, rt.end, rank);
    });
  }

  LogicalResult lowerPipeline(rt::PipelineOp pipeline, Words &to) {
    struct Task {
      int64_t first, size, name, stage;
      ArrayRef<int64_t> groups;
    };
    SmallVector<Task> tasks;
    for (rt::TaskOp op : rt::getTasks(pipeline)) {
      if (static_cast<int64_t>(op.getGroups().size()) + firstGroup >
          contextSize)
        return op.emitError("uses ")
               << op.getGroups().size() << " groups; there may be "
               << contextSize - firstGroup;
      Words body;
      if (failed(lowerBlock(op.getBody().front(), body)))
        return failure();
      auto [first, size] = append(body);
      tasks.push_back({first, size, getTaskName(op.getName()),
                       static_cast<int64_t>(op.getStage()), op.getGroups()});
    }
    auto copyOf = [&](int64_t group, int64_t copy) {
      return offsetOf(pipeline.getGroups()[group]) +
             copy * pipeline.getCopyBytes(group);
    };
    int64_t run = getRunHandler(pipeline.getLoc());
    ArrayRef<int64_t> rest = pipeline.getActions();
    while (!rest.empty()) {
      rt::Action action = *rt::takeAction(rest);
      if (action.kind != rt::Action::Run) {
        auto channel =
            cast<rt::ChannelAttr>(pipeline.getChannels()[action.target]);
        int64_t group = pipeline.getChannelGroups()[action.target];
        addMessage(to, action.kind, channel,
                   action.words.empty() ? 0 : copyOf(group, action.words[0]));
        continue;
      }
      const Task &task = tasks[action.target];
      Words words{task.first, task.size, task.name,
                  task.stage, 0,         action.words[0]};
      for (auto [group, copy] :
           llvm::zip_equal(task.groups, action.words.drop_front()))
        words.push_back(copyOf(group, copy));
      add(to, run, words);
    }
    return success();
  }

  //===--------------------------------------------------------------------===//
  // What runs them
  //===--------------------------------------------------------------------===//

  /// step_run(rank, arena, context, words, size).
  void createInterpreter() {
    Location loc = module.getLoc();
    interpreter = createFunction(loc, "step_run", {ptr, ptr, ptr, ptr, i64},
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
    Value all = LLVM::AddressOfOp::create(b, loc, ptr, handlerTable);
    Value handler = LLVM::LoadOp::create(b, loc, ptr, at(all, ptr, number));
    auto type = LLVM::LLVMFunctionType::get(none, {ptr, ptr, ptr, ptr});
    LLVM::CallOp::create(b, loc, type,
                         ValueRange{handler, rank, frame, entry->getArgument(2),
                                    at(here, i64, 2)});
    Value next = LLVM::AddOp::create(b, loc, i, constant(loc, 2));
    next = LLVM::AddOp::create(b, loc, next, count);
    LLVM::BrOp::create(b, loc, next, head);
    b.setInsertionPointToEnd(exit);
    LLVM::ReturnOp::create(b, loc, ValueRange());
  }

  void createWords(StringRef name, ArrayRef<int64_t> words) {
    Location loc = module.getLoc();
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(i64, words.size());
    auto value = DenseElementsAttr::get(
        RankedTensorType::get({static_cast<int64_t>(words.size())}, i64),
        words);
    LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true,
                           LLVM::Linkage::Internal, name, value);
  }

  /// A constant array of the addresses of symbols.
  void createAddresses(StringRef name, ArrayRef<std::string> symbols) {
    Location loc = module.getLoc();
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(ptr, symbols.size());
    auto global =
        LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true,
                               LLVM::Linkage::Internal, name, Attribute());
    b.createBlock(&global.getInitializerRegion());
    Value array = LLVM::UndefOp::create(b, loc, type);
    for (auto [i, symbol] : llvm::enumerate(symbols))
      array = LLVM::InsertValueOp::create(
          b, loc, array, LLVM::AddressOfOp::create(b, loc, ptr, symbol), i);
    LLVM::ReturnOp::create(b, loc, array);
  }

  void createTables() {
    // Whoever copies a context of the last instruction reads beyond it.
    table.append(contextSize, 0);
    createWords(wordTable, table);
    createWords(emptyContext, Words(contextSize, 0));
    createAddresses(handlerTable, handlers);
    if (!channels.empty())
      createChannels(module, channelTable, channels);
    if (taskNames.empty())
      return;
    SmallVector<std::string> symbols;
    for (auto [i, name] : llvm::enumerate(taskNames)) {
      b.setInsertionPointToStart(module.getBody());
      symbols.push_back((nameTable + "_" + Twine(i)).str());
      createString(b, module.getLoc(), symbols.back(), name,
                   LLVM::Linkage::Internal);
    }
    createAddresses(nameTable, symbols);
  }

  /// A function of the rank (and its arena) that runs the instructions of the
  /// rank's coordinate on pp. `places` is a name for the table of where they
  /// are.
  void createEntry(StringRef name, ArrayRef<Type> types, StringRef places,
                   ArrayRef<std::pair<int64_t, int64_t>> entries) {
    Location loc = module.getLoc();
    createFunction(loc, name, types, LLVM::Linkage::External);
    Value first = constant(loc, entries[0].first);
    Value size = constant(loc, entries[0].second);
    if (entries.size() > 1) {
      Words flat;
      for (auto [first, size] : entries)
        flat.append({first, size});
      {
        OpBuilder::InsertionGuard guard(b);
        createWords(places, flat);
      }
      // pp is the slowest axis.
      int64_t stride =
          getMesh(module).getNumRanks() / static_cast<int64_t>(entries.size());
      Value id = LLVM::CallOp::create(b, loc, rt.rankId, rank).getResult();
      Value at = LLVM::UDivOp::create(b, loc, id, constant(loc, stride));
      at = LLVM::MulOp::create(b, loc, at, constant(loc, 2));
      Value steps = LLVM::AddressOfOp::create(b, loc, ptr, places);
      Value entry = wordAt(loc, steps, at);
      first = LLVM::LoadOp::create(b, loc, i64, entry);
      size = LLVM::LoadOp::create(b, loc, i64, wordAt(loc, entry, 1));
    }
    Value words = LLVM::AddressOfOp::create(b, loc, ptr, wordTable);
    Value none = LLVM::AddressOfOp::create(b, loc, ptr, emptyContext);
    Value arena = frame ? frame : LLVM::ZeroOp::create(b, loc, ptr).getResult();
    LLVM::CallOp::create(
        b, loc, interpreter,
        ValueRange{rank, arena, none, wordAt(loc, words, first), size});
    LLVM::ReturnOp::create(b, loc, ValueRange());
  }

  static constexpr StringLiteral wordTable = "step_words";
  static constexpr StringLiteral handlerTable = "step_handlers";
  static constexpr StringLiteral channelTable = "step_channels";
  static constexpr StringLiteral nameTable = "step_task_names";
  static constexpr StringLiteral stepTable = "step_tables";
  static constexpr StringLiteral openTable = "open_tables";
  static constexpr StringLiteral emptyContext = "step_context";

  const SymbolTable &symbols;
  int64_t frameOffset = 0; // of the step that is being lowered
  Type i64, none;
  LLVM::LLVMFuncOp interpreter;
  Words table;
  llvm::StringMap<int64_t> numbers, taskNumbers;
  SmallVector<std::string> handlers, taskNames;
  DenseMap<rt::ChannelAttr, int64_t> channelNumbers;
  SmallVector<rt::ChannelAttr> channels;
  /// Of the step that is being lowered: number, whether it receives, and the
  /// channel's place.
  std::map<std::pair<int64_t, bool>, int64_t> ends;
  int64_t numRead = 0; // words that the handler being written has read
};

} // namespace

LogicalResult dtc::lowerSteps(ModuleOp module, const RuntimeFunctions &rt,
                              const SymbolTable &symbols,
                              unsigned &numDescriptors) {
  return StepLowering(module, rt, symbols, numDescriptors).run();
}
