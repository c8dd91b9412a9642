// The page where somebody shows an API key to open an instance in a browser.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "domain/inventory/zone.h"

namespace hostler::master {

std::string sign_in_page(std::string_view return_to, std::string_view complaint);

// The route that `return_to` opens, if it is an address of one of the gateways: their addresses are the only
// places to which a code is ever sent. Errors: invalid.
struct Return {
    std::string origin;  // "http://8080-i-7f3k.localhost:8443"
    std::string path;    // "/lab?x=1"
    std::string route;   // "8080-i-7f3k"; empty: by its own port,
    int own_port = 0;    // which is this.
};
Result<Return> parse_return(std::string_view return_to, const Gateway& gateway);

}  // namespace hostler::master
