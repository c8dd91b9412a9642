// The release that this is; the tidy test compares it with CMakeLists.txt and CHANGELOG.md.
#pragma once

#include <string_view>

namespace hostler {

inline constexpr std::string_view version = "0.1.0";

}  // namespace hostler
