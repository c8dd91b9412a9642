#include "ports/hmac.h"

namespace hostler {

namespace {

std::string bytes_of(std::string_view hex) {
    const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
    return bytes;
}

std::string padded(std::string_view key, char with) {
    constexpr std::size_t block = 64;
    std::string pad{key};
    pad.resize(block);
    for (char& c : pad) c = static_cast<char>(c ^ with);
    return pad;
}

}  // namespace

std::string hmac_sha256(const Digest& digest, std::string_view key, std::string_view text) {
    const std::string short_key = key.size() > 64 ? bytes_of(digest.sha256(key)) : std::string{key};
    const std::string inner = bytes_of(digest.sha256(padded(short_key, 0x36).append(text)));
    return digest.sha256(padded(short_key, 0x5c).append(inner));
}

}  // namespace hostler
