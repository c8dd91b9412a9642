// Requests to the API at a master that does not lead, passed on to the one that does.
#pragma once

#include "http/client.h"
#include "http/server.h"
#include "roles/master/http/api.h"

namespace hostler::master {

// Who asked a master for what it passes on; believed from masters alone.
inline constexpr std::string_view caller_header = "X-Hostler-Caller";
// By which scheme, "https" or "http"; believed from masters alone.
inline constexpr std::string_view scheme_header = "X-Hostler-Scheme";
// A master that passes a request on tells its id; believed from masters alone.
inline constexpr std::string_view request_header = "X-Request-Id";
// The release of a master that follows; it tells it where it asks for series.
inline constexpr std::string_view version_header = "X-Hostler-Version";
bool is_from_master(const http::Exchange& exchange);
// Of who asked first: a master that passes a request on tells it, and nobody else is believed.
std::string_view address_of(const http::Exchange& exchange);

// Whether who asked first came by TLS, to a master or to a proxy that it trusts.
bool is_by_tls(const http::Exchange& exchange, const http::Arrival& arrival);

// Whoever sends this without a credential, for operations that are open to strangers.
api::Caller stranger_of(const http::Exchange& exchange);

// Id of this request: that of the master which passed it on, else a new one, "r-9f86d081884c7d65".
std::string request_id_of(const http::Exchange& exchange, Random& random);

class Forward {
public:
    Forward(const Ports& ports, Lead& lead);

    // Streams the bodies both ways. What `lead` says is looked at all the while: the moment that `to` is not
    // the leader any more this ends, however `to` hangs. Errors: unavailable (no_leader; the answer may have
    // begun), cancelled, the client's.
    Task<> pass(http::Exchange& exchange, Contender to);

private:
    struct Passing;
    Task<> watch(std::shared_ptr<Passing> passing);
    Task<> carry(http::Exchange& exchange, std::shared_ptr<Passing> passing);
    Task<> exchange_with(http::Exchange& exchange, Contender to);

    const Ports& ports_;
    Lead& lead_;
    http::Client client_;
};

}  // namespace hostler::master
