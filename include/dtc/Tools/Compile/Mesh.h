//===- Mesh.h - The command line's mesh -------------------------*- C++ -*-===//

#ifndef DTC_TOOLS_COMPILE_MESH_H
#define DTC_TOOLS_COMPILE_MESH_H

#include "llvm/Support/Error.h"
#include <string>
#include <utility>
#include <vector>

namespace dtc {

/// Axes and sizes in rank order, slowest first: pp, dp, cp, ep, tp. Axes that
/// are not given are missing.
using MeshSizes = std::vector<std::pair<std::string, int64_t>>;

/// Parses "dp=2,tp=4" (in any order). Unknown axes, sizes below 1, and an axis
/// given twice are errors; so are axes larger than 1 that are not built yet.
llvm::Expected<MeshSizes> parseMesh(llvm::StringRef text);

/// "dp=2,tp=4".
std::string toString(const MeshSizes &mesh);

} // namespace dtc

#endif // DTC_TOOLS_COMPILE_MESH_H
