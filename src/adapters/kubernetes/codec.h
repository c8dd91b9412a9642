// JSON of described structs of the Kubernetes API, both ways. A struct has the fields that we use; all others
// stay in the JSON object beside it.
#pragma once

#include <boost/json/object.hpp>

#include "core/result.h"

namespace hostler::kubernetes {

namespace json = boost::json;

// Fields that the struct lacks are passed over; missing and null ones keep their initialisers. Errors:
// invalid, with every field of another type in Error::fields.
template <class T>
Result<T> read_object(const json::object& from);

// `before`, with the fields of `value` set. Fields that the struct lacks stay as they are,
// also within the elements of a list: an element is the one of `before` that is equal or else has the same
// first field (name, type, key). Fields equal to their initialiser are left out.
template <class T>
json::object write_onto(const T& value, json::object before = {});

// Bytes that JSON has as base64.
struct Bytes {
    std::string bytes;
    bool operator==(const Bytes&) const = default;
};

// 3 or "25%".
struct IntOrText {
    std::string text;  // A number as its digits.
    bool operator==(const IntOrText&) const = default;
};

// Errors: invalid (no JSON, too deep, or no object at its top).
Result<json::object> parse_object(std::string_view text);

// The text at a path of members: text_at(object, {"metadata", "name"}); "" where there is none.
std::string_view text_at(const json::object& object, std::initializer_list<std::string_view> path);

}  // namespace hostler::kubernetes
