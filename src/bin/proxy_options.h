// Which proxies a role's listener trusts: options, and what they come to.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "http/trusted_proxies.h"

namespace CLI {
class App;
}

namespace hostler::bin {

struct ProxyOptions {
    std::vector<std::string> networks;  // Empty: none is trusted.
    std::string client_from = "x-forwarded-for";

    void add_to(CLI::App& app);
    // Once the arguments are read; null: none is trusted. Errors: invalid, with the option.
    Result<std::shared_ptr<const http::TrustedProxies>> read() const;
};

}  // namespace hostler::bin
