// Percent-encoding of RFC 3986.
#pragma once

#include <string>
#include <string_view>

namespace hostler {

// "a b/c" → "a%20b%2Fc", for a step of a path or a part of a query: all but unreserved characters.
std::string percent_encode(std::string_view text);

}  // namespace hostler
