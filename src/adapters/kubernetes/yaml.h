// YAML as JSON, bounded.
#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "core/result.h"

namespace hostler::kubernetes {

inline constexpr std::size_t yaml_bytes_max = 1 << 20;

// The first document. Plain scalars are null, true, false, integers or else strings; quoted ones are strings;
// what an alias stands for is copied. Errors: invalid: no YAML, larger than yaml_bytes_max, more than 20,000
// values, deeper than 32, a key that is no scalar or stands twice.
Result<boost::json::value> parse_yaml(std::string_view text);

}  // namespace hostler::kubernetes
