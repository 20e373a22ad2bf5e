//===- Rank.cpp - The interface that generated code calls -----------------===//

#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/Transport.h"

#include <cstring>

using namespace dtc::rt;

const Plan &dtc_rank::planOf(const dtc_collective &what) {
  std::unique_ptr<Plan> &plan = plans[&what];
  if (!plan || !plan->describes(what))
    plan = std::make_unique<Plan>(what, id);
  return *plan;
}

/// A group of one: the result is what was sent.
static void copyOwn(const Plan &plan, const InFlight &flight) {
  bool flat = plan.kind() == DTC_ALL_REDUCE;
  int64_t width = plan.elementBytes();
  plan.forEachRun(flat ? Side::Flat : Side::Send, 0, flight.send.data(), 0,
                  plan.elements(), [&](char *x, int64_t n, int64_t at) {
                    plan.forEachRun(flat ? Side::Flat : Side::Recv, 0,
                                    flight.recv.data(), at, at + n,
                                    [&](char *y, int64_t m, int64_t to) {
                                      const char *from = x + (to - at) * width;
                                      if (y != from)
                                        memmove(y, from, size_t(m * width));
                                    });
                  });
}

/// Where a collective's time counts; the runtime's own are outside of steps.
static Profile *profileOf(const dtc_rank &rank, const dtc_collective *what) {
  return rank.control && what == &rank.control->step ? nullptr
                                                     : rank.profile.get();
}

void dtc_rt_start(dtc_rank *rank, const dtc_collective *what, int32_t slot,
                  void *const *send, void *const *recv) {
  if (slot < 0 || size_t(slot) >= rank->slots.size())
    fatal(cat("internal error: rank ", rank->id, ": collective slot ", slot,
              " of ", rank->slots.size()));
  InFlight &flight = rank->slots[size_t(slot)];
  if (flight.plan)
    fatal(cat("internal error: rank ", rank->id, ": slot ", slot, " of ",
              flight.plan->text(), " is started again before its wait"));
  const Plan &plan = rank->planOf(*what);
  flight.plan = &plan;
  flight.send.assign(send, send + what->num_buffers);
  flight.recv.assign(recv, recv + what->num_buffers);
  if (plan.size() == 1)
    return;
  Profile *profile = profileOf(*rank, what);
  if (profile)
    profile->begin();
  rank->transport->start(*rank, slot);
  if (profile)
    profile->end(what->name, true);
}

void dtc_rt_wait(dtc_rank *rank, int32_t slot) {
  InFlight &flight = rank->slots[size_t(slot)];
  if (!flight.plan)
    fatal(cat("internal error: rank ", rank->id, ": wait for slot ", slot,
              ", which is not in flight"));
  const Plan &plan = *flight.plan;
  TraceSpan span(*rank, "collective", plan.what().name,
                 TraceLane::Communication);
  int64_t before = rank->bytesSent;
  Profile *profile = profileOf(*rank, &plan.what());
  if (profile)
    profile->begin();
  if (plan.size() == 1)
    copyOwn(plan, flight);
  else
    rank->transport->wait(*rank, slot);
  if (profile)
    profile->end(plan.what().name, true);
  Traffic &traffic = rank->traffic[&plan.what()];
  ++traffic.calls;
  traffic.bytes += rank->bytesSent - before;
  flight.plan = nullptr;
}

void dtc_rt_begin(dtc_rank *rank, const char *what, int64_t microBatch,
                  int64_t stage) {
  RunningAction &action = rank->action;
  if (const char *open = action.what.load(std::memory_order_relaxed))
    fatal(cat("internal error: ", whereText(*rank), ": '", what,
              "' begins before the end of '", open, "'"));
  action.microBatch.store(microBatch, std::memory_order_relaxed);
  action.stage.store(stage, std::memory_order_relaxed);
  action.what.store(what, std::memory_order_relaxed);
  if (rank->trace)
    action.began = now();
}

void dtc_rt_end(dtc_rank *rank) {
  RunningAction &action = rank->action;
  const char *what = action.what.load(std::memory_order_relaxed);
  if (!what)
    fatal(cat("internal error: ", whereText(*rank), ": no action to end"));
  if (rank->trace)
    rank->trace->add({what, what, action.began, now(), rank->step,
                      action.microBatch, action.stage, TraceLane::Compute});
  action.what.store(nullptr, std::memory_order_relaxed);
  action.microBatch.store(-1, std::memory_order_relaxed);
  action.stage.store(-1, std::memory_order_relaxed);
}

std::string dtc::rt::placeText(const dtc_rank &rank) {
  int64_t step = rank.step;
  if (step < 0)
    return "before the first step";
  std::string text = cat("step ", step);
  const char *what = rank.action.what.load(std::memory_order_relaxed);
  if (!what)
    return text;
  text += cat(", ", what);
  if (int64_t m = rank.action.microBatch.load(std::memory_order_relaxed);
      m >= 0)
    text += cat(" of micro-batch ", m);
  if (int64_t s = rank.action.stage.load(std::memory_order_relaxed); s >= 0)
    text += cat(" on stage ", s);
  return text;
}

std::string dtc::rt::whereText(const dtc_rank &rank) {
  return cat("rank ", rank.id, ", ", placeText(rank));
}

void dtc_rt_kernel_begin(dtc_rank *rank) {
  if (rank->profile)
    rank->profile->begin();
}

void dtc_rt_kernel_end(dtc_rank *rank, const char *name) {
  if (rank->profile)
    rank->profile->end(name, false);
}

int64_t dtc_rt_rank_id(dtc_rank *rank) { return rank->id; }

void *dtc_rt_workspace(dtc_rank *rank, int64_t thread) {
  return rank->workspace + thread * rank->workspaceBytes;
}

ControlCollectives::ControlCollectives(int64_t ranks)
    : axis{1, ranks}, block{{4, 1, 1, 1, 1}, 0, 0} {
  step = {
      "end of the step", DTC_ALL_REDUCE, DTC_MAX, DTC_I32, 1, &axis, 1, &block};
}

static void runInLastSlot(dtc_rank &rank, const dtc_collective &what,
                          void *buffer) {
  int32_t slot = int32_t(rank.slots.size()) - 1;
  dtc_rt_start(&rank, &what, slot, &buffer, &buffer);
  dtc_rt_wait(&rank, slot);
}

AllReduce::AllReduce(dtc_rank &rank, const char *name, dtc_reduction reduction,
                     int64_t count)
    : rank(rank), axis{1, rank.count}, block{{count, 1, 1, 1, 1}, 0, 0},
      what{name, DTC_ALL_REDUCE, reduction, DTC_I64, 1, &axis, 1, &block} {}

/// Another one may come to have this address.
AllReduce::~AllReduce() {
  rank.plans.erase(&what);
  rank.traffic.erase(&what);
}

void AllReduce::run(int64_t *data) { runInLastSlot(rank, what, data); }

void dtc::rt::agree(dtc_rank &rank, int32_t (&data)[4]) {
  runInLastSlot(rank, rank.control->step, data);
}

void dtc::rt::barrier(dtc_rank &rank) {
  int32_t nothing[4] = {};
  agree(rank, nothing);
}
