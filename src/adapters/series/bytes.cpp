#include "adapters/series/bytes.h"

#include <array>

namespace hostler::series {

namespace {

// Eight bytes a turn: tables[k][b] is what byte b comes to with k zero bytes behind it.
constexpr auto tables = [] {
    std::array<std::array<std::uint32_t, 256>, 8> made{};
    for (std::uint32_t b = 0; b < 256; ++b) {
        std::uint32_t crc = b;
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320U : 0U);
        made[0][b] = crc;
    }
    for (std::size_t k = 1; k < 8; ++k)
        for (std::size_t b = 0; b < 256; ++b)
            made[k][b] = (made[k - 1][b] >> 8) ^ made[0][made[k - 1][b] & 0xFF];
    return made;
}();

}  // namespace

std::uint32_t checksum(std::string_view bytes) {
    std::uint32_t crc = ~0U;
    while (bytes.size() >= 8) {
        const auto word = fixed_at<std::uint64_t>(bytes) ^ crc;
        crc = 0;
        for (std::size_t k = 0; k < 8; ++k) crc ^= tables[7 - k][(word >> (8 * k)) & 0xFF];
        bytes.remove_prefix(8);
    }
    for (const char byte : bytes)
        crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<std::uint8_t>(byte)) & 0xFF];
    return ~crc;
}

}  // namespace hostler::series
