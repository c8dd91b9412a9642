#include "core/client_address.h"

#include <algorithm>

#include "core/ip_address.h"
#include "core/safe_text.h"

namespace hostler {

std::string client_of(std::string_view address) {
    if (const auto parsed = ip_in(address))
        return parsed->is_v4() ? parsed->text() : parsed->prefix(64).text();
    return std::string{address.substr(0, address.rfind(':'))};
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
