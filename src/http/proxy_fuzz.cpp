// What stands before a request and in it about its client, of any bytes: the same client whether the preamble
// comes whole or in pieces, and an address that means the same again.
#include <fmt/format.h>

#include "core/client_address.h"
#include "http/proxy_preamble.h"
#include "http/trusted_proxies.h"

using namespace hostler;
using namespace hostler::http;

namespace {

void check_preamble(std::string_view bytes) {
    const auto whole = parse_proxy_preamble(bytes);
    for (std::size_t size = 0; size < std::min(bytes.size(), proxy_preamble_bytes_max); ++size) {
        const auto part = parse_proxy_preamble(bytes.substr(0, size));
        if (!part) HOSTLER_ASSERT(!whole);
        if (!part || !*part) continue;
        HOSTLER_ASSERT((*part)->size <= size && whole && *whole);
        HOSTLER_ASSERT((*part)->size == (*whole)->size && (*part)->client == (*whole)->client);
    }
}

void check_origin(std::string_view value) {
    static const auto by_x =
        TrustedProxies::parse({"10.0.0.0/8", "2001:db8::/32"}, ProxyWord::x_forwarded_for).value();
    static const auto by_standard =
        TrustedProxies::parse({"10.0.0.0/8", "2001:db8::/32"}, ProxyWord::forwarded).value();
    RequestHead head;
    if (!parse(
            fmt::format("GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {0}\r\nForwarded: {0}\r\n\r\n", value),
            {}, head))
        return;
    for (const auto* proxies : {&by_x, &by_standard}) {
        const Origin origin = proxies->origin_of(head, "10.0.0.1:1");
        HOSTLER_ASSERT(origin.scheme.empty() || origin.scheme == "http" || origin.scheme == "https");
        HOSTLER_ASSERT(!client_of(origin.address).empty() && client_of(origin.address).size() < 64);
        RequestHead again;
        const std::string field =
            fmt::format("{}: {}{}{}", proxies == &by_x ? "X-Forwarded-For" : "Forwarded",
                        proxies == &by_x ? "" : "for=\"", origin.address, proxies == &by_x ? "" : "\"");
        HOSTLER_ASSERT(parse(fmt::format("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n\r\n", field), {}, again));
        HOSTLER_ASSERT(proxies->origin_of(again, "10.0.0.1:1").address == origin.address);
    }
}

// What a proxy appends counts, whatever its client sent before.
void check_appended(std::string_view by_client) {
    if (by_client.contains('\r') || by_client.contains('\n')) return;  // More than one field.
    static const auto by_x = TrustedProxies::parse({"10.0.0.1"}, ProxyWord::x_forwarded_for).value();
    static const auto by_standard = TrustedProxies::parse({"10.0.0.1"}, ProxyWord::forwarded).value();
    for (const std::string_view appended : {"for=203.0.113.5", "for=\"203.0.113.5:80\";proto=http"}) {
        RequestHead head;
        if (!parse(fmt::format("GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {0}, 203.0.113.5\r\n"
                               "Forwarded: {0}, {1}\r\n\r\n",
                               by_client, appended),
                   {}, head))
            return;
        HOSTLER_ASSERT(by_x.origin_of(head, "10.0.0.1:1").address == "203.0.113.5");
        const Origin origin = by_standard.origin_of(head, "10.0.0.1:1");
        HOSTLER_ASSERT(origin.address == "203.0.113.5" || origin.address == "10.0.0.1");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(bytes), size};
    check_preamble(text);
    check_preamble(std::string{"\r\n\r\n\0\r\nQUIT\n", 12} + std::string{text});
    check_origin(text);
    check_appended(text);
    return 0;
}
