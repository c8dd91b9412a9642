// The operator's key, as it lies in a role's folder.
#pragma once

#include <filesystem>
#include <string>

#include "core/result.h"
#include "ports/digest.h"

namespace hostler::bin {

inline constexpr std::string_view operator_key_file = "operator.key";

// Empty: there is no such file. Errors: invalid: it is none, so half of one, or nothing at all.
Result<std::string> read_operator_key(const std::filesystem::path& folder);

// Warns when it is not the key of the start before, whose hash lies beside it: nobody who holds that one
// gets in.
void tell_of_another_key(const std::filesystem::path& folder, const std::string& key, const Digest& digest);

}  // namespace hostler::bin
