// Text of which much is alike, made short.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hostler::sql {

// By zlib, with a dictionary of what objects and logs of the store are made of.
std::string pack(std::string_view text);
inline constexpr std::size_t unpacked_max = std::size_t{1} << 30;
// nullopt: these are no packed bytes, or of more than unpacked_max.
std::optional<std::string> unpack(std::string_view packed);

}  // namespace hostler::sql
