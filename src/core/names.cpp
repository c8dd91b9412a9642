#include "core/names.h"

#include <algorithm>

namespace hostler {

bool is_plain_name(std::string_view name) {
    constexpr std::size_t name_max = 128;
    return !name.empty() && name.size() <= name_max && name.front() != '.' &&
           std::ranges::all_of(name, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_' || c == '.';
           });
}

}  // namespace hostler
