#include "roles/master/sign_in/throttle.h"

#include "core/ip_address.h"

namespace hostler::master {

namespace {

std::unexpected<Error> too_fast() {
    Error error{Code::exhausted, "there were too many attempts to sign in; try again in some seconds",
                "too_many_sign_ins"};
    return std::unexpected(std::move(error));
}

// Who has an address of IPv6 has a /64 of them.
std::string network_of(const std::string& address) {
    const auto ip = ip_in(address);
    if (!ip) return address;
    constexpr int network_bits = 64;
    return ip->is_v4() ? ip->bare_text() : ip->prefix(network_bits).bare_text();
}

std::string pair_of(const std::string& login, const std::string& address) {
    return login + " " + network_of(address);
}

}  // namespace

Throttle::Throttle(const SignInLimits& limits)
    : limits_(limits),
      logins_{.limit = limits.account_rate},
      known_{.limit = limits.known_rate},
      addresses_{.limit = limits.address_rate} {}

// When there is no room, those with a full budget are forgotten; this is looked for once in a second.
Rate& Throttle::rate_of(Peers& of, const std::string& peer, Instant now) const {
    if (const auto found = of.peers.find(peer); found != of.peers.end()) return found->second;
    if (of.peers.size() >= limits_.peers_max && now >= of.next_look) {
        of.next_look = now + std::chrono::seconds{1};
        std::erase_if(of.peers, [&](const auto& one) { return one.second.full(now); });
    }
    if (of.peers.size() >= limits_.peers_max) return of.others;
    return of.peers.emplace(peer, Rate{of.limit}).first->second;
}

Result<Duration> Throttle::enter(const std::string& login, const std::string& address, bool known,
                                 Instant now) {
    Rate& by_login = known ? rate_of(known_, pair_of(login, address), now) : rate_of(logins_, login, now);
    Rate& by_address = rate_of(addresses_, network_of(address), now);
    const Duration login_wait = by_login.owe(now), address_wait = by_address.owe(now);
    const Duration wait = std::max(login_wait, address_wait);
    if (wait <= limits_.wait_max && (wait == Duration{0} || waiting_ < limits_.waiting_max)) return wait;
    by_login.give_back(now, 1);
    by_address.give_back(now, 1);
    return too_fast();
}

void Throttle::succeeded(const std::string& login, const std::string& address, bool known, Instant now) {
    (known ? rate_of(known_, pair_of(login, address), now) : rate_of(logins_, login, now)).give_back(now, 1);
    rate_of(addresses_, network_of(address), now).give_back(now, 1);
}

}  // namespace hostler::master
