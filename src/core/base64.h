// Base64 (RFC 4648).
#pragma once

#include <string>
#include <string_view>

namespace hostler {

std::string base64(std::string_view bytes);
// Of both alphabets; what is no letter of theirs is passed over.
std::string base64_decoded(std::string_view text);

}  // namespace hostler
