#include "domain/tenancy/sha1.h"

#include <bit>
#include <string>

namespace hostler {

namespace {

constexpr std::size_t block_size = 64;

using State = std::array<std::uint32_t, 5>;

void mix(State& state, std::string_view block) {
    std::array<std::uint32_t, 80> words{};
    for (std::size_t i = 0; i < 64; ++i)
        words[i / 4] = words[i / 4] << 8 | static_cast<std::uint8_t>(block[i]);
    for (std::size_t i = 16; i < 80; ++i)
        words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    auto [a, b, c, d, e] = state;
    for (std::size_t i = 0; i < 80; ++i) {
        std::uint32_t f = b ^ c ^ d, constant = 0xca62c1d6;
        if (i < 20)
            f = (b & c) | (~b & d), constant = 0x5a827999;
        else if (i < 40)
            constant = 0x6ed9eba1;
        else if (i < 60)
            f = (b & c) | (b & d) | (c & d), constant = 0x8f1bbcdc;
        const std::uint32_t next = std::rotl(a, 5) + f + e + constant + words[i];
        e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
}

std::string_view text_of(const Sha1& hash) {
    return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

}  // namespace

Sha1 sha1(std::string_view text) {
    State state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    const std::uint64_t bits = text.size() * 8;
    for (; text.size() >= block_size; text.remove_prefix(block_size)) mix(state, text.substr(0, block_size));
    std::string rest{text};
    rest += static_cast<char>(0x80);
    while (rest.size() % block_size != block_size - 8) rest += '\0';
    for (int shift = 56; shift >= 0; shift -= 8) rest += static_cast<char>(bits >> shift & 0xff);
    for (std::size_t at = 0; at < rest.size(); at += block_size)
        mix(state, std::string_view{rest}.substr(at, block_size));
    Sha1 hash{};
    for (std::size_t i = 0; i < hash.size(); ++i)
        hash[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
    return hash;
}

Sha1 hmac_sha1(std::string_view key, std::string_view text) {
    std::string block{key};
    if (block.size() > block_size) block = text_of(sha1(key));
    block.resize(block_size, '\0');
    std::string inner = block, outer = block;
    for (std::size_t i = 0; i < block_size; ++i) {
        inner[i] = static_cast<char>(inner[i] ^ 0x36);
        outer[i] = static_cast<char>(outer[i] ^ 0x5c);
    }
    return sha1(outer.append(text_of(sha1(inner.append(text)))));
}

}  // namespace hostler
