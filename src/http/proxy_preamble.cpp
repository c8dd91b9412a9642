#include "http/proxy_preamble.h"

#include <fmt/format.h>

#include "core/ip_address.h"

namespace hostler::http {

namespace {

constexpr std::string_view signature{"\r\n\r\n\0\r\nQUIT\n", 12};
constexpr std::size_t head_bytes = signature.size() + 4;  // Version and command, family, length.
constexpr unsigned local = 0x20, proxied = 0x21;
constexpr unsigned tcp4 = 0x11, tcp6 = 0x21;

unsigned byte_at(std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

unsigned two_bytes_at(std::string_view bytes, std::size_t at) {
    return byte_at(bytes, at) << 8 | byte_at(bytes, at + 1);
}

// Source and destination address, source and destination port.
template <std::size_t address_bytes>
Result<std::string> source_in(std::string_view block,
                              IpAddress (*make)(std::span<const std::uint8_t, address_bytes>)) {
    if (block.size() < 2 * address_bytes + 4)
        return fail(Code::invalid, "the PROXY preamble is too short for its addresses");
    std::array<std::uint8_t, address_bytes> bytes{};
    std::ranges::copy(block.substr(0, address_bytes), bytes.begin());
    return fmt::format("{}:{}", make(bytes).text(), two_bytes_at(block, 2 * address_bytes));
}

}  // namespace

Result<std::optional<ProxyPreamble>> parse_proxy_preamble(std::string_view bytes) {
    const auto known = std::min(bytes.size(), signature.size());
    if (bytes.substr(0, known) != signature.substr(0, known))
        return fail(Code::invalid, bytes.starts_with("PROXY ")
                                       ? "the proxy speaks version 1 of the PROXY protocol; set it to 2"
                                       : "the proxy does not begin with a PROXY preamble");
    if (bytes.size() < head_bytes) return std::nullopt;
    const unsigned command = byte_at(bytes, signature.size());
    const unsigned family = byte_at(bytes, signature.size() + 1);
    const std::size_t size = head_bytes + two_bytes_at(bytes, signature.size() + 2);
    if (command != local && command != proxied)
        return fail(Code::invalid, fmt::format("the PROXY preamble has version and command {:#x}", command));
    if (size > proxy_preamble_bytes_max)
        return fail(Code::invalid, fmt::format("the PROXY preamble has {} bytes, more than {}", size,
                                               proxy_preamble_bytes_max));
    if (bytes.size() < size) return std::nullopt;
    ProxyPreamble preamble{.size = size};
    const auto block = bytes.substr(head_bytes, size - head_bytes);
    if (command == proxied && family == tcp4) preamble.client = TRY(source_in(block, &IpAddress::v4));
    if (command == proxied && family == tcp6) preamble.client = TRY(source_in(block, &IpAddress::v6));
    return preamble;
}

}  // namespace hostler::http
