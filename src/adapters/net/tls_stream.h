// TLS 1.3 over any Stream.
#pragma once

#include "adapters/net/tls_context.h"

namespace hostler::net {

// As Net::secure.
Task<StreamPtr> handshake(Timers& timers, TlsContexts& contexts, StreamPtr raw, Secure how, Side side,
                          Duration deadline);

}  // namespace hostler::net
