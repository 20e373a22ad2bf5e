//===- Mesh.cpp - The command line's mesh ---------------------------------===//

#include "dtc/Tools/Compile/Mesh.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

static const char *const axisOrder[] = {"pp", "dp", "cp", "ep", "tp"};

static bool isBuilt(StringRef axis) { return axis != "ep"; }

Expected<dtc::MeshSizes> dtc::parseMesh(StringRef text) {
  constexpr int64_t mostRanks = 1 << 20;
  int64_t sizes[5] = {0, 0, 0, 0, 0}, ranks = 1;
  SmallVector<StringRef> parts;
  if (!text.trim().empty())
    text.split(parts, ',');
  for (StringRef part : parts) {
    auto [name, number] = part.split('=');
    name = name.trim();
    const auto *axis = find(axisOrder, name);
    if (axis == std::end(axisOrder))
      return createStringError("--mesh: unknown axis '" + name +
                               "'; axes are pp, dp, cp, ep and tp, as in "
                               "dp=2,tp=4");
    int64_t &size = sizes[axis - axisOrder];
    if (size != 0)
      return createStringError("--mesh: axis " + name + " is given twice");
    if (number.trim().getAsInteger(10, size) || size < 1)
      return createStringError("--mesh: the size of " + name +
                               " must be a whole number of at least 1, not '" +
                               number + "'");
    if (size > 1 && !isBuilt(name))
      return createStringError("--mesh: " + name + "=" + Twine(size) +
                               " is not built yet; " + name + " may be 1");
    if (size > mostRanks || (ranks *= size) > mostRanks)
      return createStringError("--mesh: more than " + Twine(mostRanks) +
                               " ranks");
  }
  MeshSizes mesh;
  for (auto [name, size] : zip_equal(axisOrder, sizes))
    if (size != 0)
      mesh.push_back({name, size});
  return mesh;
}

std::string dtc::toString(const MeshSizes &mesh) {
  std::string text;
  for (const auto &[name, size] : mesh)
    text += (text.empty() ? "" : ",") + name + "=" + std::to_string(size);
  return text;
}
