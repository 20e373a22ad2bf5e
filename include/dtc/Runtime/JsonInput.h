//===- JsonInput.h - Strict reading of JSON objects -------------*- C++ -*-===//

#ifndef DTC_RUNTIME_JSONINPUT_H
#define DTC_RUNTIME_JSONINPUT_H

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

namespace dtc::rt {

using Json = nlohmann::ordered_json;

/// Parses JSON; duplicate keys and absurd nesting are errors. `where` begins
/// every message.
Json parseJson(std::string_view text, const std::string &where);

/// Reads the members of an object by name and finally complains about members
/// that nobody read. Every message begins with `where`.
class ObjectReader {
public:
  ObjectReader(const Json &object, std::string where);

  bool has(const char *key) const { return object.contains(key); }
  /// A finite number in [least, most].
  double number(const char *key, double least, double most);
  /// An integer in [least, most].
  int64_t integer(const char *key, int64_t least, int64_t most);
  std::string text(const char *key);
  const Json &member(const char *key);
  /// Throws if a member was not asked for.
  void finish(const char *known) const;

  const std::string &location() const { return where; }

private:
  const Json &object;
  std::string where;
  std::set<std::string> seen;
};

} // namespace dtc::rt
#endif // DTC_RUNTIME_JSONINPUT_H
