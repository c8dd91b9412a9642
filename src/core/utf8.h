// UTF-8 as the Unicode standard has it (table 3-7): no overlong forms, no surrogates, nothing beyond
// U+10FFFF.
#pragma once

#include <cstddef>
#include <string_view>

namespace hostler {

// Bytes of the character at the front of `text`, 1 to 4; 0: `text` is empty or there is no such character.
constexpr std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    if (text.empty()) return 0;
    const unsigned char first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
    const unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;  // Else overlong.
    const unsigned char high = first == 0xed   ? 0x9f
                               : first == 0xf4 ? 0x8f
                                               : 0xbf;  // Else a surrogate, or too large.
    if (byte(1) < low || byte(1) > high) return 0;
    for (std::size_t at = 2; at < size; ++at)
        if ((byte(at) & 0xc0) != 0x80) return 0;
    return size;
}

constexpr bool is_utf8(std::string_view text) {
    while (const std::size_t length = utf8_length(text)) text.remove_prefix(length);
    return text.empty();
}

}  // namespace hostler
