// The parts of a certificate that is made here.
#pragma once

#include <string>

#include "adapters/net/certificate.h"
#include "core/random.h"

namespace hostler::net {

inline constexpr int x509_version_3 = 2;  // As X.509 counts.

KeyPtr new_key();  // P-256.
void add_extension(X509& to, X509& issuer, int kind, const std::string& value);
void set_serial(X509& certificate, Random& random);
void set_name(X509& certificate, const std::string& common_name);
void set_dates(X509& certificate, WallTime not_before, WallTime not_after);

}  // namespace hostler::net
