#include "domain/tenancy/totp.h"

#include <fmt/format.h>

#include "domain/tenancy/sha1.h"

namespace hostler {

namespace {

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

// Takes as long wherever the first difference is.
bool same(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned differs = 0;
    for (std::size_t i = 0; i < a.size(); ++i) differs |= static_cast<unsigned char>(a[i] ^ b[i]);
    return differs == 0;
}

}  // namespace

std::string base32(std::string_view bytes) {
    std::string text;
    std::uint32_t held = 0;
    int bits = 0;
    for (const char byte : bytes) {
        held = held << 8 | static_cast<std::uint8_t>(byte);
        for (bits += 8; bits >= 5; bits -= 5) text += letters[held >> (bits - 5) & 31];
    }
    if (bits > 0) text += letters[held << (5 - bits) & 31];
    return text;
}

std::optional<std::string> base32_bytes(std::string_view text) {
    std::string bytes;
    std::uint32_t held = 0;
    int bits = 0;
    for (char c : text) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
        const auto value = letters.find(c);
        if (value == letters.npos) return std::nullopt;
        held = held << 5 | static_cast<std::uint32_t>(value);
        if ((bits += 5) >= 8) bytes += static_cast<char>(held >> (bits -= 8) & 0xff);
    }
    return bytes;
}

std::string totp_code(std::string_view secret, std::int64_t step) {
    std::string counter;
    for (int shift = 56; shift >= 0; shift -= 8)
        counter += static_cast<char>(static_cast<std::uint64_t>(step) >> shift & 0xff);
    const Sha1 hash = hmac_sha1(secret, counter);
    const std::size_t at = hash.back() & 15;  // RFC 4226, 5.3.
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) number = number << 8 | hash[at + i];
    return fmt::format("{:06}", (number & 0x7fffffff) % 1'000'000);
}

std::optional<std::int64_t> totp_match(std::string_view secret, std::string_view code, std::int64_t now_s,
                                       std::int64_t used) {
    if (code.size() != totp_digits || secret.empty()) return std::nullopt;
    const std::int64_t now = now_s / totp_step_s;
    std::optional<std::int64_t> found;
    for (std::int64_t step = now - totp_drift; step <= now + totp_drift; ++step)
        if (same(totp_code(secret, step), code) && step > used) found = step;
    return found;
}

}  // namespace hostler
