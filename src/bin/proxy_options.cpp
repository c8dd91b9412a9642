#include "bin/proxy_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

namespace hostler::bin {

namespace {

const std::map<std::string, http::ProxyWord> words{{"x-forwarded-for", http::ProxyWord::x_forwarded_for},
                                                   {"forwarded", http::ProxyWord::forwarded},
                                                   {"proxy-protocol", http::ProxyWord::proxy_protocol}};

}  // namespace

void ProxyOptions::add_to(CLI::App& app) {
    app.add_option("--trusted-proxy", networks,
                   "Address or network of proxies that are believed about their clients, as 10.0.0.0/24; may "
                   "be repeated")
        ->delimiter(',');
    app.add_option("--client-from", client_from,
                   "How those proxies tell the client: x-forwarded-for, forwarded (the headers), or "
                   "proxy-protocol (version 2)")
        ->check(CLI::IsMember(words))
        ->capture_default_str();
}

Result<std::shared_ptr<const http::TrustedProxies>> ProxyOptions::read() const {
    if (networks.empty() && client_from != ProxyOptions{}.client_from)
        return fail(Code::invalid, fmt::format("--client-from {} also needs --trusted-proxy", client_from));
    if (networks.empty()) return nullptr;
    auto proxies = http::TrustedProxies::parse(networks, words.at(client_from));
    if (!proxies) return fail(Code::invalid, fmt::format("--trusted-proxy: {}", proxies.error().message));
    return std::make_shared<const http::TrustedProxies>(std::move(*proxies));
}

}  // namespace hostler::bin
