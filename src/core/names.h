// Names that strangers choose and that become files' or containers'.
#pragma once

#include <string_view>

namespace hostler {

// What may be a file's name and nothing else: letters, digits, '-', '_', '.', not first a '.'; at most 128.
bool is_plain_name(std::string_view name);

}  // namespace hostler
