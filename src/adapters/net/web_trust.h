// How a web server proves who it is, RFC 9110 section 4.3.4: by a host name that an authority vouches for,
// where our own roles prove a hostler:// identity.
#pragma once

#include "adapters/net/tls_context.h"

namespace hostler::net {

// "api.example.com" of "https://api.example.com" or "https://[::1]", which is how Secure::expect names a web
// server.
// "": it names none.
std::string_view web_host(std::string_view expect);

// A client's context for web servers: TLS 1.2 or 1.3, believing `own`'s authority, or this machine's roots
// where there is none. Errors: invalid (the authority cannot be read).
Result<ContextPtr> make_web_context(const Credentials* own);

// Asks the server for the certificate of `host`, a name or an IP address, and takes no other. Errors:
// invalid.
Result<> expect_web_host(SSL& ssl, std::string_view host);

// Why OpenSSL has refused the server: for people in `refusal`, for programs in `reason`.
void explain_web_refusal(X509_STORE_CTX& chain, PeerCheck& peer);

}  // namespace hostler::net
