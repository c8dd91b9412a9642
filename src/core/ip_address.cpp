#include "core/ip_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <charconv>

#include "core/result.h"

namespace hostler {

namespace {

namespace ip = boost::asio::ip;

std::optional<IpAddress> parse_alone(std::string_view text) {
    if (text.contains('%')) return std::nullopt;  // A zone means something on one machine only.
    boost::system::error_code wrong;
    const auto parsed = ip::make_address(std::string{text}, wrong);
    if (wrong) return std::nullopt;
    const auto from = [](const auto& bytes) {
        return IpAddress::from_bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    };
    return parsed.is_v4() ? from(parsed.to_v4().to_bytes()) : from(parsed.to_v6().to_bytes());
}

}  // namespace

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
    if (text.starts_with('[')) {
        const auto end = text.find(']');
        if (end == text.npos || (end + 1 != text.size() && text[end + 1] != ':')) return std::nullopt;
        text = text.substr(1, end - 1);
        return text.contains(':') ? parse_alone(text) : std::nullopt;
    }
    const auto colon = text.find(':');
    const bool has_port = colon != text.npos && colon == text.rfind(':');
    return parse_alone(has_port ? text.substr(0, colon) : text);
}

IpAddress IpAddress::from_bytes(std::string_view bytes) {
    constexpr std::string_view mapped{"\0\0\0\0\0\0\0\0\0\0\xff\xff", 12};
    HOSTLER_ASSERT(bytes.size() == 4 || bytes.size() == 16);
    if (bytes.starts_with(mapped)) bytes.remove_prefix(mapped.size());
    IpAddress made;
    made.v4_ = bytes.size() == 4;
    std::ranges::copy(bytes, made.bytes_.begin());
    return made;
}

IpAddress IpAddress::cut(int bits) const {
    IpAddress made = *this;
    for (std::size_t at = 0; at < made.bytes_.size(); ++at) {
        const int kept = std::clamp(bits - 8 * static_cast<int>(at), 0, 8);
        made.bytes_[at] &= static_cast<unsigned char>(0xff << (8 - kept));
    }
    return made;
}

std::string IpAddress::text() const {
    if (!v4_) return fmt::format("[{}]", ip::address_v6{bytes_}.to_string());
    return fmt::format("{}.{}.{}.{}", bytes_[0], bytes_[1], bytes_[2], bytes_[3]);
}

std::optional<IpNetwork> IpNetwork::parse(std::string_view text) {
    const auto slash = std::min(text.find('/'), text.size());
    const auto address = parse_alone(text.substr(0, slash));
    if (!address) return std::nullopt;
    const int most = address->is_v4() ? 32 : 128;
    IpNetwork made;
    made.bits_ = most;
    if (slash < text.size()) {
        const auto bits = text.substr(slash + 1);
        const auto* end = bits.data() + bits.size();
        const auto read = std::from_chars(bits.data(), end, made.bits_);
        if (read.ec != std::errc{} || read.ptr != end || made.bits_ < 0 || made.bits_ > most)
            return std::nullopt;
    }
    made.first_ = address->cut(made.bits_);
    return made;
}

}  // namespace hostler
