// Which registries an engine is sent to, since tenants write the names of images.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "domain/network/outside.h"

namespace hostler::docker {

inline constexpr std::size_t registries_max = 64;

struct Registries {
    std::vector<std::string> allowed{};  // "registry.lan:5000", or "registry.lan" for all of its ports.
    bool only = false;                   // No others, also where they are public.

    bool names(std::string_view registry) const;
};

// Errors: invalid, naming the word: more than registries_max, or not HOST[:PORT]; `only` without any.
Result<Registries> parse_registries(const std::vector<std::string>& words, bool only);

// "docker.io/library/nginx:1" → "docker.io"; of a full name.
std::string registry_of(std::string_view full_image_name);

// Networks of this host with its own addresses in them, IPv4 and IPv6. Errors: unavailable.
Result<std::vector<IpRange>> networks_of_host();

// Why a registry at `addresses` ("192.0.2.7:443", "[2001:db8::1]:443") is not one for tenants to name; empty:
// it is. All of them have to be public, and in none of `networks`.
std::string refusal_of(const std::vector<std::string>& addresses, const std::vector<IpRange>& networks);

}  // namespace hostler::docker
