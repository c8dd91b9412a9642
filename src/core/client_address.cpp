#include "core/client_address.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "core/safe_text.h"
#include "core/task.h"

namespace hostler {

std::string client_of(std::string_view address) {
    const auto colon = address.rfind(':');
    if (colon != address.npos && address.find(']', colon) == address.npos) address = address.substr(0, colon);
    if (!address.starts_with('[') || !address.ends_with(']')) return std::string{address};
    boost::system::error_code wrong;
    const auto parsed = asio::ip::make_address_v6(std::string{address.substr(1, address.size() - 2)}, wrong);
    if (wrong) return std::string{address};
    if (parsed.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, parsed).to_string();
    auto bytes = parsed.to_bytes();
    constexpr std::size_t network_bytes = 8;
    std::fill(bytes.begin() + network_bytes, bytes.end(), 0);
    return "[" + asio::ip::address_v6{bytes}.to_string() + "]";
}

std::string safe_user_agent(std::string_view header) {
    std::size_t end = std::min(header.size(), user_agent_bytes_max);
    const auto is_inside_a_character = [&] {
        return end < header.size() && (static_cast<unsigned char>(header[end]) & 0xc0) == 0x80;
    };
    for (int back = 0; back < 3 && end > 0 && is_inside_a_character(); ++back) --end;
    return safe_line(header.substr(0, end));
}

}  // namespace hostler
