#include "core/ip_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace hostler {

IpAddress IpAddress::v4(std::span<const std::uint8_t, 4> bytes) {
    IpAddress address;
    address.bytes[10] = address.bytes[11] = 0xff;
    std::ranges::copy(bytes, address.bytes.begin() + 12);
    return address;
}

IpAddress IpAddress::v6(std::span<const std::uint8_t, 16> bytes) {
    IpAddress address;
    std::ranges::copy(bytes, address.bytes.begin());
    return address;
}

bool IpAddress::is_v4() const {
    constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return std::ranges::equal(std::span{bytes}.first<12>(), mapped);
}

IpAddress IpAddress::prefix(int bits) const {
    IpAddress made = *this;
    for (std::size_t at = 0; at < made.bytes.size(); ++at) {
        const int kept = std::clamp(bits - 8 * static_cast<int>(at), 0, 8);
        made.bytes[at] &= static_cast<std::uint8_t>(0xff << (8 - kept));
    }
    return made;
}

std::string IpAddress::bare_text() const {
    if (is_v4()) return fmt::format("{}.{}.{}.{}", bytes[12], bytes[13], bytes[14], bytes[15]);
    std::array<char, INET6_ADDRSTRLEN> text{};
    HOSTLER_ASSERT(inet_ntop(AF_INET6, bytes.data(), text.data(), text.size()) != nullptr);
    return text.data();
}

std::string IpAddress::text() const { return is_v4() ? bare_text() : fmt::format("[{}]", bare_text()); }

Result<IpAddress> parse_ip(std::string_view text) {
    const std::string copy{text};
    std::array<std::uint8_t, 16> bytes{};
    const bool whole = !text.contains('\0');  // inet_pton() reads no further.
    if (whole && inet_pton(AF_INET, copy.c_str(), bytes.data()) == 1)
        return IpAddress::v4(std::span{bytes}.first<4>());
    if (whole && inet_pton(AF_INET6, copy.c_str(), bytes.data()) == 1) return IpAddress::v6(bytes);
    return fail(Code::invalid, "\"" + copy + "\" is not an IP address");
}

Result<IpRange> parse_ip_range(std::string_view text) {
    const auto slash = text.find('/');
    const IpAddress base = TRY(parse_ip(text.substr(0, slash)));
    const int offset = base.is_v4() ? 96 : 0;
    int bits = 128 - offset;
    if (slash != std::string_view::npos) {
        const std::string_view digits = text.substr(slash + 1);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
        if (error != std::errc{} || end != digits.data() + digits.size() || bits < 0 || bits > 128 - offset)
            return fail(Code::invalid,
                        "\"" + std::string{text} + "\" is not a range, as 10.0.0.0/8 or fd00::/8");
    }
    const IpRange range{base, bits + offset};
    if (base.prefix(range.bits) != base)
        return fail(Code::invalid, "\"" + std::string{text} + "\" has bits set behind its prefix");
    return range;
}

std::optional<IpAddress> ip_in(std::string_view address) {
    const bool bracketed = address.starts_with('[');
    if (bracketed) {
        const auto end = address.find(']');
        if (end == address.npos || (end + 1 != address.size() && address[end + 1] != ':'))
            return std::nullopt;
        address = address.substr(1, end - 1);
        if (!address.contains(':')) return std::nullopt;
    } else if (const auto colon = address.find(':'); colon == address.rfind(':')) {
        address = address.substr(0, colon);
    }
    const auto parsed = parse_ip(address);
    return parsed ? std::optional{*parsed} : std::nullopt;
}

}  // namespace hostler
