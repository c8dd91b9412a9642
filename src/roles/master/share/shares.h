// Share links: a secret with an end that opens one port of one instance in a browser, without an account.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::master {

inline constexpr std::string_view share_prefix = "hl_";
inline constexpr std::size_t shares_instance_max = 64;

// The host name's first label of an instance's port: "8080-i-7f3k2m9qxy".
std::string route_name(const Instance& instance, int port);

// It has not expired, and its instance still runs or will. While policies forbid share links, it opens
// nothing all the same.
bool is_open(const Desk& desk, const Share& share);

bool are_allowed(const Desk& desk, const std::string& tenant);
// Those that a change of this policy may close or open, by id.
std::vector<std::string> shares_under(const Desk& desk, const std::string& policy);

// Errors: not_found (port_not_declared), conflict (not_running), exhausted.
Result<const Share*> make_share(Desk& desk, const Instance& instance, int port, std::chrono::seconds life,
                                const std::string& secret_hash, const std::string& by);
void revoke_share(Desk& desk, const std::string& id);
// Takes out those that have expired, and those of instances that no longer have what was shared. By level.
void close_shares(Desk& desk);

}  // namespace hostler::master
