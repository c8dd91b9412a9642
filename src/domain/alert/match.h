// Which label sets are meant, as people write it: "zone=lon|nj", "tenant!=acme".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "domain/series/query.h"

namespace hostler::alert {

using Labels = series::Labels;

// Label, "=" or "!=", values with "|" between them. A label that is absent is "". Errors: invalid.
Result<series::Match> parse_match(std::string_view text);

// Texts that parse_match() takes; of any other nothing is meant.
bool matches(const std::vector<std::string>& texts, const Labels& labels);

}  // namespace hostler::alert
