// Numbers of things in sentences.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace hostler {

// "1 slot", "2 slots", "0 slots". For nouns that take an s alone.
template <std::integral Number>
std::string counted(Number count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace hostler
