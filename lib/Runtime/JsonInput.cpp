//===- JsonInput.cpp - Strict reading of JSON objects ---------------------===//

#include "dtc/Runtime/JsonInput.h"
#include "dtc/Runtime/Error.h"

#include <cmath>

using namespace dtc::rt;

Json dtc::rt::parseJson(std::string_view text, const std::string &where) {
  // nlohmann keeps the last of several equal keys; which one another reader
  // would take is anybody's guess, so they are refused.
  std::vector<std::set<std::string>> keys;
  auto check = [&](int depth, Json::parse_event_t event, Json &value) {
    if (depth > 64)
      throw Error(where + ": JSON is nested too deeply");
    if (event == Json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == Json::parse_event_t::key &&
             !keys.back().insert(value.get<std::string>()).second)
      throw Error(
          cat(where, ": the key ",
              value.dump(-1, ' ', false, Json::error_handler_t::replace),
              " stands twice in one object"));
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), check);
  } catch (const Json::exception &e) {
    std::string what = e.what();
    size_t bracket = what.find("] ");
    throw Error(
        where + ": not valid JSON: " +
        (bracket == std::string::npos ? what : what.substr(bracket + 2)));
  }
}

ObjectReader::ObjectReader(const Json &object, std::string location)
    : object(object), where(std::move(location)) {
  if (!object.is_object())
    throw Error(
        cat(where, ": an object is expected, this is ", object.type_name()));
}

const Json &ObjectReader::member(const char *key) {
  seen.insert(key);
  auto it = object.find(key);
  if (it == object.end())
    throw Error(cat(where, ": '", key, "' is missing"));
  return *it;
}

double ObjectReader::number(const char *key, double least, double most) {
  const Json &value = member(key);
  if (!value.is_number())
    throw Error(cat(where, ": '", key, "' must be a number, it is ",
                    value.type_name()));
  double x = value.get<double>();
  if (!std::isfinite(x) || x < least || x > most)
    throw Error(cat(where, ": '", key, "' is ", value.dump(),
                    "; it must be at least ", least,
                    std::isfinite(most) ? cat(" and at most ", most) : ""));
  return x;
}

int64_t ObjectReader::integer(const char *key, int64_t least, int64_t most) {
  const Json &value = member(key);
  if (!value.is_number_integer())
    throw Error(
        cat(where, ": '", key, "' must be an integer, it is ",
            value.is_number() ? value.dump() : std::string(value.type_name())));
  bool tooLarge =
      value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX);
  int64_t x = tooLarge ? INT64_MAX : value.get<int64_t>();
  if (tooLarge || x < least || x > most)
    throw Error(cat(where, ": '", key, "' is ", value.dump(),
                    "; it must be at least ", least,
                    most != INT64_MAX ? cat(" and at most ", most) : ""));
  return x;
}

std::string ObjectReader::text(const char *key) {
  const Json &value = member(key);
  if (!value.is_string())
    throw Error(cat(where, ": '", key, "' must be a string, it is ",
                    value.type_name()));
  return value.get<std::string>();
}

void ObjectReader::finish(const char *known) const {
  for (auto &[key, value] : object.items())
    if (!seen.count(key))
      throw Error(
          cat(where, ": the key '", key, "' is unknown; known are ", known));
}
