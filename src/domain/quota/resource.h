// Names of what quotas limit, and their amounts in words.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler {

inline constexpr auto quota_resources = std::to_array<std::string_view>(
    {"gpus", "gpus:MODEL", "cpu", "memory", "volumes", "instances", "jobs", "clusters"});

// What is wrong with the name; empty: nothing.
std::string wrong_resource(std::string_view resource);
// "8", "500m" of "cpu", "512Gi" of "memory" and "volumes", as limits count it; 0 is allowed. Errors: invalid.
Result<std::int64_t> parse_amount(std::string_view resource, std::string_view text);
// The same as a quantity.
std::string amount_text(std::string_view resource, std::int64_t amount);
// "8 GPUs", "4 GPUs of model H100", "2.5 CPUs", "64Gi of memory", "1 instance", "1 job", "1 cluster".
std::string amount_in_words(std::string_view resource, std::int64_t amount);

}  // namespace hostler
