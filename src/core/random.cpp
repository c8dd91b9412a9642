#include "core/random.h"

#include <array>

namespace hostler {

std::string new_id(Random& random, std::string_view prefix, int length) {
    constexpr std::string_view letters = "abcdefghjkmnpqrstuvwxyz123456789";  // 32: no i, l, o, 0.
    std::string id{prefix};
    id += '-';
    std::string bytes(static_cast<std::size_t>(length), '\0');
    random.fill({reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
    for (const char byte : bytes) id += letters[static_cast<unsigned char>(byte) % letters.size()];
    return id;
}

std::string new_secret(Random& random, std::string_view prefix) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::array<std::uint8_t, 43> bytes{};
    random.fill(bytes);
    std::string secret{prefix};
    secret += '_';
    for (const auto byte : bytes) secret += letters[byte % letters.size()];
    return secret;
}

std::uint64_t random_number(Random& random) {
    std::array<std::uint8_t, 8> bytes{};
    random.fill(bytes);
    std::uint64_t number = 0;
    for (const auto byte : bytes) number = number << 8 | byte;
    return number;
}

}  // namespace hostler
