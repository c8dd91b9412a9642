// JSON of described structs, both ways. Declared here, instantiated in codec_<resource>.cpp by
// codec_define.h: who includes this pays for no JSON library.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler::api {

struct Schema;

inline constexpr std::size_t body_max = 1 << 20;  // Of a request.
inline constexpr std::size_t depth_max = 32;
inline constexpr std::size_t errors_max = 64;  // Of one answer; the rest is not told.

// A request as it came: every wrong field is in Error::fields, with its path. Unknown fields and doubled keys
// are errors, bounds and forms are checked. Errors: invalid.
template <class T>
Result<T> decode(std::string_view text);
template <class T>
Result<T> decode_value(const boost::json::value& value);

// What we or another release wrote: unknown fields are passed over, missing ones keep their initialisers, no
// bounds. `beyond` is told whether there are unknown ones. Errors: invalid (no JSON, or a value of another
// type).
template <class T>
Result<T> decode_stored(std::string_view text, bool* beyond = nullptr);

// Compact; absent optionals are left out; bytes that are no UTF-8 become U+FFFD.
template <class T>
std::string encode(const T& value);

// The same without fields that are as their initialisers say, so that decode_stored() gives back the value.
template <class T>
std::string encode_brief(const T& value);

// As encode(), and with the fields of `before` that this release does not know, so that they outlive a
// rewrite; those of an element of a list as long as all that is known of that element is the same. An empty
// or unreadable `before` adds nothing.
template <class T>
std::string encode_onto(const T& value, std::string_view before);

// Errors: invalid, with line and column.
Result<boost::json::value> parse_json(std::string_view text, std::size_t size_max = body_max);

}  // namespace hostler::api
