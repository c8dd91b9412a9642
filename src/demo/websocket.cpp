// RFC 6455, server side: echoes text and binary, answers pings and the closing handshake.
#include <array>
#include <bit>
#include <cstdint>

#include "demo/pages.h"

namespace demo {

namespace {

constexpr std::uint64_t frame_bytes_max = 16 << 20;

// FIPS 180-4, section 6.1.
std::array<std::uint8_t, 20> sha1(std::string text) {
    const std::uint64_t bits = text.size() * 8;
    text += '\x80';
    while (text.size() % 64 != 56) text += '\0';
    for (int shift = 56; shift >= 0; shift -= 8) text += static_cast<char>(bits >> shift);
    std::array<std::uint32_t, 5> state{0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    for (std::size_t block = 0; block < text.size(); block += 64) {
        std::array<std::uint32_t, 80> words{};
        for (std::size_t i = 0; i < 64; ++i)
            words[i / 4] = words[i / 4] << 8 | static_cast<std::uint8_t>(text[block + i]);
        for (std::size_t i = 16; i < 80; ++i)
            words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
        auto [a, b, c, d, e] = state;
        for (std::size_t i = 0; i < 80; ++i) {
            const std::uint32_t mix = i < 20   ? (b & c) | (~b & d)
                                      : i < 40 ? b ^ c ^ d
                                      : i < 60 ? (b & c) | (b & d) | (c & d)
                                               : b ^ c ^ d;
            const std::uint32_t constant = i < 20   ? 0x5A827999
                                           : i < 40 ? 0x6ED9EBA1
                                           : i < 60 ? 0x8F1BBCDC
                                                    : 0xCA62C1D6;
            const std::uint32_t next = std::rotl(a, 5) + mix + e + constant + words[i];
            e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
        }
        state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
    }
    std::array<std::uint8_t, 20> digest{};
    for (std::size_t i = 0; i < 20; ++i)
        digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
    return digest;
}

std::string base64(const std::array<std::uint8_t, 20>& bytes) {
    static constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const bool last = i + 3 > bytes.size();  // 20 bytes: the last group has two.
        const std::uint32_t group = bytes[i] << 16 | bytes[i + 1] << 8 | (last ? 0 : bytes[i + 2]);
        out += letters[group >> 18 & 63];
        out += letters[group >> 12 & 63];
        out += letters[group >> 6 & 63];
        out += last ? '=' : letters[group & 63];
    }
    return out;
}

std::string frame(std::uint8_t first, std::string_view payload) {
    std::string out(1, static_cast<char>(first));
    const std::uint64_t size = payload.size();
    const int bytes = size < 126 ? 0 : size < 65536 ? 2 : 8;
    out += static_cast<char>(bytes == 0 ? size : bytes == 2 ? 126 : 127);
    for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(size >> (8 * i));
    return out.append(payload);
}

bool read_frame(Connection& connection, std::uint8_t& first, std::string& payload) {
    std::uint8_t head[2];
    if (!connection.read_exactly(reinterpret_cast<char*>(head), 2) || !(head[1] & 0x80)) return false;
    first = head[0];
    std::uint64_t size = head[1] & 0x7f;
    if (size >= 126) {
        std::uint8_t more[8];
        const std::size_t bytes = size == 126 ? 2 : 8;
        if (!connection.read_exactly(reinterpret_cast<char*>(more), bytes)) return false;
        size = 0;
        for (std::size_t i = 0; i < bytes; ++i) size = size << 8 | more[i];
    }
    char mask[4];
    if (size > frame_bytes_max || !connection.read_exactly(mask, 4)) return false;
    payload.resize(size);
    if (!connection.read_exactly(payload.data(), size)) return false;
    for (std::size_t i = 0; i < size; ++i) payload[i] = static_cast<char>(payload[i] ^ mask[i % 4]);
    return true;
}

}  // namespace

bool websocket(Connection& connection, const Request& request) {
    const std::string key{request.header("Sec-WebSocket-Key")};
    if (key.empty()) return connection.respond(400, "text/plain", "this path speaks WebSocket\n");
    const auto accept = base64(sha1(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"));
    if (!connection.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          "Sec-WebSocket-Accept: " +
                          accept + "\r\n\r\n"))
        return false;
    std::uint8_t first = 0;
    std::string payload;
    while (read_frame(connection, first, payload)) {
        const int opcode = first & 0x0f;
        if (opcode == 10) continue;  // A pong.
        const auto reply = opcode == 9 ? std::uint8_t{0x8a} : first;
        if (!connection.write(frame(reply, payload)) || opcode == 8) break;
    }
    return false;
}

}  // namespace demo
