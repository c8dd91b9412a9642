// The real network, clock and dice. One of each per loop; they live longer than the loop's tasks.
#pragma once

#include <memory>

#include "core/random.h"
#include "core/stream.h"
#include "core/timers.h"

namespace hostler::net {

std::unique_ptr<Timers> make_timers(Loop& loop);

// TCP (IPv4, IPv6, names) and `unix:` sockets. A name with several addresses is tried in the resolver's
// order, each with its share of the deadline. Listening on a `unix:` path replaces a socket that nobody
// serves any more.
// A client's secure() knows web servers, too: with Secure::expect "https://NAME" the server's certificate
// must be for that name or IP address and signed by the authority, or by one of this machine's roots where
// none is given. The name is independent of the address that was dialled. A server that asks for a
// certificate gets ours, if there is one.
std::unique_ptr<Net> make_net(Loop& loop);

std::unique_ptr<Random> make_random();  // getrandom(2). May be used from any thread.

}  // namespace hostler::net
