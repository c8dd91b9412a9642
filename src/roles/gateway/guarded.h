// A request that ends in its middle when what opened it is over: a WebSocket, a download, a watch.
#pragma once

#include "core/task.h"
#include "http/proxy.h"
#include "roles/gateway/stays.h"

namespace hostler::gateway {

// `forwarding` for as long as the credential of `by` is good. Of an answer that is cut the client is told
// that it is not whole.
Task<http::Outcome> guarded(Loop& loop, Stays& stays, Question by, http::Inlet& inlet,
                            Task<http::Outcome> forwarding);

}  // namespace hostler::gateway
