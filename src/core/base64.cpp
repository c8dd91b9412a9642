#include "core/base64.h"

#include <array>
#include <cstdint>

namespace hostler {

namespace {

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::int8_t none = -1;

constexpr auto values = [] {
    std::array<std::int8_t, 256> all{};
    all.fill(none);
    for (std::size_t i = 0; i < letters.size(); ++i)
        all[static_cast<std::uint8_t>(letters[i])] = static_cast<std::int8_t>(i);
    all['-'] = all['+'];
    all['_'] = all['/'];
    return all;
}();

}  // namespace

std::string base64(std::string_view bytes) {
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k)
            group = group << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
        for (std::size_t k = 0; k < 4; ++k)
            out += i + k > bytes.size() ? '=' : letters[group >> (18 - 6 * k) & 63];
    }
    return out;
}

std::string base64_decoded(std::string_view text) {
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    std::uint32_t group = 0;
    int bits = 0;
    for (const char c : text) {
        const auto value = values[static_cast<std::uint8_t>(c)];
        if (value == none) continue;
        group = group << 6 | static_cast<std::uint32_t>(value);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes += static_cast<char>(group >> bits);
    }
    return bytes;
}

}  // namespace hostler
