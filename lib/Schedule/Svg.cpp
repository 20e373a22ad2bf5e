//===- Svg.cpp - Simulated schedules as pictures --------------------------===//

#include "dtc/Schedule/Chart.h"
#include "dtc/Schedule/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;

namespace dtc::schedule {

namespace {

constexpr double leftMargin = 60, topMargin = 34, rowHeight = 26,
                 barHeight = 22;
/// The shortest event is so wide that its name fits, unless the picture gets
/// wider than this.
constexpr double maxWidth = 20000, letterWidth = 7;

struct Style {
  ActionKind kind;
  const char *name, *meaning, *fill;
};
constexpr Style styles[] = {
    {ActionKind::Forward, "F", "forward", "#9ecae1"},
    {ActionKind::Backward, "B", "backward", "#74c476"},
    {ActionKind::InputBackward, "I", "input gradients", "#a1d99b"},
    {ActionKind::WeightBackward, "W", "weight gradients", "#fdae6b"},
    {ActionKind::Reduce, "R", "reduction", "#bcbddc"},
    {ActionKind::Update, "U", "update", "#d9d9d9"},
};

} // namespace

static const char *getClass(ActionKind kind) {
  return llvm::find_if(styles, [&](const Style &s) { return s.kind == kind; })
      ->name;
}

static double getScale(const Schedule &schedule, const Simulation &simulation) {
  double scale = 0;
  for (const auto &events : simulation.ranks)
    for (const Event &e : events)
      if (e.end > e.start)
        scale =
            std::max(scale, (double(toString(schedule, e.action).size()) + 1) *
                                letterWidth / (e.end - e.start));
  if (simulation.makespan > 0)
    scale = std::min(scale, maxWidth / simulation.makespan);
  return scale;
}

void printSvg(raw_ostream &os, const Schedule &schedule,
              const Simulation &simulation) {
  double scale = getScale(schedule, simulation);
  double width = leftMargin + std::max(simulation.makespan * scale, 560.0) + 10;
  double bottom = topMargin + rowHeight * double(simulation.ranks.size());
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" "
     << format("width=\"%.0f\" height=\"%.0f\" ", width, bottom + 30)
     << "font-family=\"sans-serif\" font-size=\"12\">\n<style>\n";
  for (const Style &s : styles)
    os << '.' << s.name << " { fill: " << s.fill << "; stroke: #555; }\n";
  os << ".idle { fill: #f4f4f4; }\n</style>\n<text x=\"4\" y=\"16\">";
  printHTMLEscaped(schedule.name, os);
  os << format(": makespan %g, bubble %.4f", simulation.makespan,
               simulation.bubble)
     << "</text>\n";
  for (auto [rank, events] : llvm::enumerate(simulation.ranks)) {
    double y = topMargin + rowHeight * double(rank);
    os << format("<text x=\"4\" y=\"%.0f\">rank ", y + 15) << rank
       << format("</text>\n<rect class=\"idle\" x=\"%.0f\" y=\"%.0f\" ",
                 leftMargin, y)
       << format("width=\"%.2f\" height=\"%.0f\"/>\n",
                 simulation.makespan * scale, barHeight);
    for (const Event &e : events) {
      double x = leftMargin + e.start * scale, length = e.end - e.start;
      if (length <= 0)
        continue;
      std::string name = toString(schedule, e.action);
      os << format("<rect class=\"%s\" x=\"%.2f\" ", getClass(e.action.kind), x)
         << format("y=\"%.0f\" width=\"%.2f\" ", y, length * scale)
         << format("height=\"%.0f\"><title>", barHeight) << name
         << format(" from %g to %g</title></rect>\n", e.start, e.end);
      if (length * scale >= double(name.size()) * letterWidth)
        os << format("<text x=\"%.2f\" y=\"%.0f\" ", x + length * scale / 2,
                     y + 15)
           << "text-anchor=\"middle\">" << name << "</text>\n";
    }
  }
  double x = leftMargin;
  for (const Style &s : styles) {
    os << format("<rect class=\"%s\" x=\"%.0f\" y=\"%.0f\" ", s.name, x,
                 bottom + 8)
       << format("width=\"12\" height=\"12\"/><text x=\"%.0f\" y=\"%.0f\">",
                 x + 16, bottom + 19)
       << s.meaning << "</text>\n";
    x += 30 + letterWidth * double(StringRef(s.meaning).size());
  }
  os << "</svg>\n";
}

} // namespace dtc::schedule
