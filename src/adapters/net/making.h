// The parts of a certificate that is made here.
#pragma once

#include <string>

#include "adapters/net/certificate.h"
#include "core/random.h"
#include "core/server_names.h"

namespace hostler::net {

inline constexpr int x509_version_3 = 2;  // As X.509 counts.

KeyPtr new_key();  // P-256.
// "DNS:localhost,IP:127.0.0.1", of checked() names: OpenSSL reads more than names in it.
std::string alternative_names(const ServerNames& names);
void add_extension(X509& to, X509& issuer, int kind, const std::string& value);
void set_serial(X509& certificate, Random& random);
void set_name(X509& certificate, const std::string& common_name);
void set_dates(X509& certificate, WallTime not_before, WallTime not_after);

}  // namespace hostler::net
