// Addresses of the internet and networks of them, as values.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace hostler {

// An IPv4 address that is written as IPv6 (::ffff:192.0.2.1) is an IPv4 address.
class IpAddress {
public:
    // "192.0.2.1", "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:80"; no zone.
    static std::optional<IpAddress> parse(std::string_view text);
    // 4 or 16 bytes in the order of the network.
    static IpAddress from_bytes(std::string_view bytes);

    bool is_v4() const { return v4_; }
    IpAddress cut(int bits) const;  // Only the first `bits` kept.
    // "192.0.2.1", "[2001:db8::1]": as addresses of streams, without the port.
    std::string text() const;
    bool operator==(const IpAddress&) const = default;

private:
    std::array<unsigned char, 16> bytes_{};  // The first four of IPv4.
    bool v4_ = false;
};

class IpNetwork {
public:
    // "10.0.0.0/8", "2001:db8::/32", or an address alone.
    static std::optional<IpNetwork> parse(std::string_view text);
    bool holds(const IpAddress& address) const {
        return address.is_v4() == first_.is_v4() && address.cut(bits_) == first_;
    }

private:
    IpAddress first_;
    int bits_ = 0;
};

}  // namespace hostler
