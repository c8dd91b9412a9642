#include "domain/network/ipv4.h"

#include <fmt/format.h>

#include <charconv>

namespace hostler {

namespace {

// Takes a number of at most `most` from the front.
std::optional<std::uint32_t> take_number(std::string_view& text, std::uint32_t most) {
    std::uint32_t number = 0;
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const auto digits = static_cast<std::size_t>(at - text.data());
    if (error != std::errc{} || number > most || (digits > 1 && text[0] == '0')) return std::nullopt;
    text.remove_prefix(digits);
    return number;
}

}  // namespace

std::optional<std::uint32_t> parse_ipv4(std::string_view text) {
    constexpr int parts = 4;
    std::uint32_t address = 0;
    for (int i = 0; i < parts; ++i) {
        if (i > 0) {
            if (!text.starts_with('.')) return std::nullopt;
            text.remove_prefix(1);
        }
        const auto part = take_number(text, 255);
        if (!part) return std::nullopt;
        address = address << 8 | *part;
    }
    if (!text.empty()) return std::nullopt;
    return address;
}

std::optional<Ipv4Subnet> parse_ipv4_subnet(std::string_view text) {
    const auto slash = text.find('/');
    if (slash == text.npos) return std::nullopt;
    const auto base = parse_ipv4(text.substr(0, slash));
    text.remove_prefix(slash + 1);
    const auto bits = take_number(text, 32);
    if (!base || !bits || !text.empty()) return std::nullopt;
    const Ipv4Subnet subnet{*base, static_cast<int>(*bits)};
    if (!subnet.contains(subnet.base)) return std::nullopt;
    return subnet;
}

std::string to_text(const Ipv4Subnet& subnet) {
    const auto part = [&](int shift) { return subnet.base >> shift & 255; };
    return fmt::format("{}.{}.{}.{}/{}", part(24), part(16), part(8), part(0), subnet.bits);
}

}  // namespace hostler
