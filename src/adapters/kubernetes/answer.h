// What the API server's refusals mean to us.
#pragma once

#include "adapters/kubernetes/meta.h"
#include "http/message.h"

namespace hostler::kubernetes {

// Error::reason of these refusals; others have the reason of the Status ("Conflict", "Forbidden", ...) or,
// where there is none, the phrase of the HTTP status.
inline constexpr std::string_view expired = "Expired";  // 410: a resource version or page is too old.
inline constexpr std::string_view throttled = "TooManyRequests";  // 429 for any other reason.
inline constexpr std::string_view disruption_budget =
    "disruption_budget";  // An eviction that a budget refuses.

// The Status in the body of a refusal; one of the HTTP status alone where there is none.
Status status_of(int http_status, std::string_view body);

// `call`: "GET /api/v1/nodes", for the message. Codes: 401 unauthenticated, 403 forbidden, 404 not_found, 409
// and 410 conflict, 408 and 504 timeout, 413 and 429 exhausted, other 4xx invalid, 5xx unavailable.
Error error_of(const Status& status, std::string_view call);

// The server's Retry-After in seconds, or the Status's; zero: it names none. A date counts as none.
Duration retry_after(const http::Headers& headers, const Status& status);

}  // namespace hostler::kubernetes
