//===- Parse.cpp - Reading schedules --------------------------------------===//

#include "dtc/Schedule/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace dtc::schedule {

namespace {

constexpr StringRef actionForms =
    "F, B, I or W with a micro-batch (F3; with several stages on a rank "
    "F3.CHUNK), post, wait or send with a message (send3:FROM>TO), R, or U";
constexpr StringRef keys = "schedule, pp, virtual-stages, placement, "
                           "micro-batches, edges, in-flight, kept, posted, or "
                           "rank N";

/// A piece of the text, as read; what it means may depend on later lines.
struct Token {
  StringRef text;
  /// From 1.
  size_t line = 0, column = 0;
};

/// An action before edges and stages are known.
struct RawAction {
  Token token;
  ActionKind kind = ActionKind::Forward;
  int64_t microBatch = 0;
  /// -1: not written.
  int64_t chunk = -1;
  int64_t from = 0, to = 0;
};

class Parser {
public:
  Parser(StringRef text, StringRef fileName, const Known &known)
      : text(text), fileName(fileName), known(known) {}

  Expected<Schedule> run();

private:
  Error parseLine(StringRef line);
  Error parseKey(Token key, ArrayRef<Token> values);
  Error parseRank(Token rank, ArrayRef<Token> actions);
  Error parseAction(Token token, RawAction &action);
  Error parseEdges(Token key, ArrayRef<Token> values);
  Error parseNumber(Token at, StringRef &text, int64_t &number,
                    int64_t least = 0);
  Error parseOne(Token key, ArrayRef<Token> values, std::optional<int64_t> &to);
  Error parseNumbers(Token key, ArrayRef<Token> values,
                     std::vector<int64_t> &to);

  Error setPlacement();
  Error setMicroBatches();
  Error setGraph();
  Error setLists();
  Error setClaims();
  Error resolve(const RawAction &raw, Action &action);

  Error fail(Token at, const Twine &what) const {
    return createStringError(fileName + ":" + Twine(at.line) + ":" +
                             Twine(at.column) + ": error: " + what);
  }
  /// Where a key stands, or the end of the text.
  Token where(StringRef key) const {
    auto it = seen.find(key);
    return it == seen.end() ? Token{"", lineNumber, 1} : it->second;
  }

  StringRef text, fileName;
  const Known &known;
  size_t lineNumber = 0;

  StringMap<Token> seen;
  std::optional<int64_t> pp, virtualStages, microBatches, posted;
  std::optional<Placement::Kind> kind;
  std::optional<StageGraph> graph;
  std::vector<std::vector<RawAction>> lists;
  Schedule result;
};

} // namespace

/// Takes a number from the front of `text`.
Error Parser::parseNumber(Token at, StringRef &text, int64_t &number,
                          int64_t least) {
  StringRef digits = text.take_while(isDigit);
  at.column += text.data() - at.text.data();
  if (digits.empty())
    return fail(at, "expected a number" +
                        (text.empty() ? Twine() : ", not '" + text + "'"));
  // Numbers are stored in 32 bits.
  if (digits.getAsInteger(10, number) || number > INT32_MAX)
    return fail(at,
                digits + " is too large; numbers go to " + Twine(INT32_MAX));
  if (number < least)
    return fail(at,
                Twine(number) + " is too small; the least is " + Twine(least));
  text = text.drop_front(digits.size());
  return Error::success();
}

Error Parser::parseAction(Token token, RawAction &action) {
  StringRef rest = token.text;
  action.token = token;
  auto unknown = [&] {
    return fail(token,
                "unknown action '" + token.text + "'; expected " + actionForms);
  };
  if (rest == "R" || rest == "U") {
    action.kind = rest == "R" ? ActionKind::Reduce : ActionKind::Update;
    return Error::success();
  }
  bool isMessage = true;
  if (rest.consume_front("post"))
    action.kind = ActionKind::Post;
  else if (rest.consume_front("wait"))
    action.kind = ActionKind::Wait;
  else if (rest.consume_front("send"))
    action.kind = ActionKind::Send;
  else
    isMessage = false;
  if (!isMessage) {
    if (rest.consume_front("F"))
      action.kind = ActionKind::Forward;
    else if (rest.consume_front("B"))
      action.kind = ActionKind::Backward;
    else if (rest.consume_front("I"))
      action.kind = ActionKind::InputBackward;
    else if (rest.consume_front("W"))
      action.kind = ActionKind::WeightBackward;
    else
      return unknown();
  }
  if (rest.empty() || !isDigit(rest.front()))
    return unknown();
  if (Error error = parseNumber(token, rest, action.microBatch))
    return error;
  if (isMessage) {
    if (!rest.consume_front(":"))
      return unknown();
    if (Error error = parseNumber(token, rest, action.from))
      return error;
    if (!rest.consume_front(">"))
      return unknown();
    if (Error error = parseNumber(token, rest, action.to))
      return error;
  } else if (rest.consume_front(".")) {
    if (Error error = parseNumber(token, rest, action.chunk))
      return error;
  }
  return rest.empty() ? Error::success() : unknown();
}

Error Parser::parseRank(Token rank, ArrayRef<Token> actions) {
  int64_t number;
  StringRef rest = rank.text;
  if (Error error = parseNumber(rank, rest, number))
    return error;
  if (!rest.empty())
    return fail(rank, "expected a rank's number, not '" + rank.text + "'");
  if (number != int64_t(lists.size()))
    return fail(rank, "expected rank " + Twine(lists.size()) + ", not " +
                          Twine(number) +
                          ": ranks stand in order, each on one "
                          "line");
  lists.emplace_back(actions.size());
  for (auto [token, action] : llvm::zip(actions, lists.back()))
    if (Error error = parseAction(token, action))
      return error;
  return Error::success();
}

Error Parser::parseEdges(Token key, ArrayRef<Token> values) {
  graph.emplace();
  for (Token token : values) {
    Edge edge;
    StringRef rest = token.text;
    if (Error error = parseNumber(token, rest, edge.from))
      return error;
    if (!rest.consume_front(">"))
      return fail(token, "expected an edge FROM>TO, or FROM>TO! without a "
                         "gradient, not '" +
                             token.text + "'");
    if (Error error = parseNumber(token, rest, edge.to))
      return error;
    edge.differentiable = !rest.consume_front("!");
    if (!rest.empty())
      return fail(token, "unexpected '" + rest + "' after the edge");
    graph->edges.push_back(edge);
  }
  return Error::success();
}

Error Parser::parseNumbers(Token key, ArrayRef<Token> values,
                           std::vector<int64_t> &to) {
  for (Token token : values) {
    StringRef rest = token.text;
    if (Error error = parseNumber(token, rest, to.emplace_back(), 1))
      return error;
    if (!rest.empty())
      return fail(token, "expected a number, not '" + token.text + "'");
  }
  if (to.empty())
    return fail(key, "'" + key.text + "' needs a number");
  return Error::success();
}

Error Parser::parseOne(Token key, ArrayRef<Token> values,
                       std::optional<int64_t> &to) {
  std::vector<int64_t> numbers;
  if (Error error = parseNumbers(key, values, numbers))
    return error;
  if (numbers.size() > 1)
    return fail(values[1], "'" + key.text + "' takes one number");
  to = numbers.front();
  return Error::success();
}

Error Parser::parseKey(Token key, ArrayRef<Token> values) {
  if (!seen.insert({key.text, key}).second)
    return fail(key, "'" + key.text + "' stands twice");
  if (key.text == "pp")
    return parseOne(key, values, pp);
  if (key.text == "virtual-stages")
    return parseOne(key, values, virtualStages);
  if (key.text == "micro-batches")
    return parseOne(key, values, microBatches);
  if (key.text == "posted")
    return parseOne(key, values, posted);
  if (key.text == "in-flight")
    return parseNumbers(key, values, result.claims.inFlight);
  if (key.text == "kept")
    return parseNumbers(key, values, result.claims.kept);
  if (key.text == "edges")
    return parseEdges(key, values);
  if (key.text == "schedule") {
    if (values.size() != 1)
      return fail(key, "'schedule' takes one name without spaces");
    result.name = values.front().text.str();
    return Error::success();
  }
  if (key.text == "placement") {
    StringRef value = values.size() == 1 ? values.front().text : "";
    if (value != "loop" && value != "v")
      return fail(values.empty() ? key : values.front(),
                  "'placement' is loop or v");
    kind = value == "v" ? Placement::V : Placement::Loop;
    return Error::success();
  }
  return fail(key, "unknown '" + key.text + "'; a line begins with " + keys);
}

Error Parser::parseLine(StringRef line) {
  SmallVector<Token> tokens;
  StringRef rest = line.take_until([](char c) { return c == '#'; });
  auto skipSpace = [&] { rest = rest.ltrim(" \t\r"); };
  auto take = [&](size_t length) {
    Token token{rest.take_front(length), lineNumber,
                size_t(rest.data() - line.data()) + 1};
    rest = rest.drop_front(token.text.size());
    return token;
  };
  skipSpace();
  if (rest.empty())
    return Error::success();
  // The key: everything before the colon, "rank 3" included.
  size_t colon = rest.find(':');
  Token key = take(colon);
  if (colon == StringRef::npos)
    return fail(key, "expected 'KEY: ...', where KEY is " + keys);
  rest = rest.drop_front();
  key.text = key.text.rtrim(" \t");
  for (skipSpace(); !rest.empty(); skipSpace())
    tokens.push_back(take(rest.find_first_of(" \t\r")));
  StringRef rank = key.text;
  if (rank == "rank" || rank.starts_with("rank ")) {
    rank = rank.drop_front(4).ltrim(" \t");
    return parseRank({rank, lineNumber, size_t(rank.data() - line.data()) + 1},
                     tokens);
  }
  return parseKey(key, tokens);
}

/// What the text says, else what is known, else the least that its lists need.
Error Parser::setPlacement() {
  Placement p = known.placement.value_or(Placement());
  int64_t ranks = lists.size();
  if (pp && *pp != ranks)
    return fail(where("pp"), "'pp' is " + Twine(*pp) +
                                 ", but there are lists "
                                 "for " +
                                 Twine(ranks) + " ranks");
  if (known.placement && p.ranks != ranks)
    return fail(where(""), "lists for " + Twine(ranks) + " ranks, but pp is " +
                               Twine(p.ranks));
  if (known.placement && virtualStages && *virtualStages != p.chunks)
    return fail(where("virtual-stages"), "'virtual-stages' is " +
                                             Twine(*virtualStages) + ", but " +
                                             Twine(p.chunks) + " is asked for");
  if (known.placement && kind && *kind != p.kind)
    return fail(where("placement"),
                Twine("'placement' is ") + (*kind ? "v" : "loop") + ", but " +
                    (p.kind ? "v" : "loop") + " is asked for");
  if (!known.placement) {
    p.ranks = ranks;
    p.kind = kind.value_or(Placement::Loop);
    int64_t needed = p.kind == Placement::V ? 2 : 1;
    for (const auto &list : lists)
      for (const RawAction &a : list)
        needed = std::max(needed, a.chunk + 1);
    p.chunks = virtualStages.value_or(needed);
  }
  result.placement = p;
  if (Error error = check(p))
    return fail(where("virtual-stages"), llvm::toString(std::move(error)));
  return Error::success();
}

Error Parser::setMicroBatches() {
  if (known.microBatches && microBatches &&
      *known.microBatches != *microBatches)
    return fail(where("micro-batches"),
                "'micro-batches' is " + Twine(*microBatches) + ", but " +
                    Twine(*known.microBatches) + " are asked for");
  if (!microBatches)
    microBatches = known.microBatches;
  if (!microBatches) {
    microBatches = 1;
    for (const auto &list : lists)
      for (const RawAction &a : list)
        microBatches = std::max(*microBatches, a.microBatch + 1);
  }
  result.microBatches = *microBatches;
  return Error::success();
}

Error Parser::setGraph() {
  if (known.graph && graph && *known.graph != *graph)
    return fail(where("edges"), "'edges' are not those of the stages that are "
                                "scheduled");
  result.graph = graph         ? *graph
                 : known.graph ? *known.graph
                               : StageGraph::chain(result.getStages());
  if (Error error = check(result.graph, result.getStages()))
    return fail(where("edges"), llvm::toString(std::move(error)));
  return Error::success();
}

/// What an action means, now that placement and edges are known.
Error Parser::resolve(const RawAction &raw, Action &action) {
  if (isCompute(raw.kind)) {
    int64_t chunks = result.placement.chunks;
    if (raw.chunk < 0 && chunks > 1)
      return fail(raw.token,
                  "'" + raw.token.text + "' needs a chunk, for a rank has " +
                      Twine(chunks) + " stages: " + raw.token.text + ".0 to " +
                      raw.token.text + "." + Twine(chunks - 1));
    action = Action::compute(raw.kind, raw.microBatch,
                             std::max<int64_t>(raw.chunk, 0));
    return Error::success();
  }
  if (!isMessage(raw.kind)) {
    action = Action::once(raw.kind);
    return Error::success();
  }
  bool gradient = raw.from > raw.to;
  int64_t edge = gradient ? result.graph.find(raw.to, raw.from)
                          : result.graph.find(raw.from, raw.to);
  if (edge < 0)
    return fail(raw.token, "no edge between stages " + Twine(raw.from) +
                               " and " + Twine(raw.to));
  action = Action::message(
      raw.kind, gradient ? Direction::Gradient : Direction::Activation,
      raw.microBatch, edge);
  return Error::success();
}

Error Parser::setLists() {
  result.ranks.resize(lists.size());
  for (size_t r = 0; r < lists.size(); ++r)
    for (const RawAction &raw : lists[r])
      if (Error error = resolve(raw, result.ranks[r].emplace_back()))
        return error;
  // What is out of range is reported where it stands.
  for (size_t r = 0; r < lists.size(); ++r)
    for (size_t i = 0; i < lists[r].size(); ++i)
      if (Error error = checkIndices(result, result.ranks[r][i]))
        return fail(lists[r][i].token, llvm::toString(std::move(error)));
  return Error::success();
}

Error Parser::setClaims() {
  result.claims.posted = posted.value_or(0);
  for (StringRef key : {"in-flight", "kept"}) {
    size_t count =
        (key == "kept" ? result.claims.kept : result.claims.inFlight).size();
    if (count && count != lists.size())
      return fail(where(key), "'" + key + "' needs one number for each of " +
                                  Twine(lists.size()) + " ranks, not " +
                                  Twine(count));
  }
  return Error::success();
}

Expected<Schedule> Parser::run() {
  StringRef rest = text;
  while (!rest.empty()) {
    auto [line, after] = rest.split('\n');
    ++lineNumber;
    if (Error error = parseLine(line))
      return error;
    rest = after;
  }
  ++lineNumber;
  if (lists.empty())
    return fail(where(""), "no list of a rank; one is 'rank 0: F0 B0'");
  for (auto step : {&Parser::setPlacement, &Parser::setMicroBatches,
                    &Parser::setGraph, &Parser::setLists, &Parser::setClaims})
    if (Error error = (this->*step)())
      return error;
  if (Error error = checkIndices(result))
    return createStringError(fileName +
                             ": error: " + llvm::toString(std::move(error)));
  return std::move(result);
}

Expected<Schedule> parse(StringRef text, StringRef fileName,
                         const Known &known) {
  return Parser(text, fileName, known).run();
}

} // namespace dtc::schedule
