#include "bench/agents/hosts.h"

#include "adapters/net/authority.h"
#include "roles/master/state/estate.h"

namespace hostler::bench {

namespace {

constexpr std::size_t commit_max = 500;  // Hosts.
constexpr std::chrono::hours certificate_life{30 * 24};
constexpr std::chrono::hours clock_tolerance{1};

Result<JoinedHost> certify(Keys& keys, Authority& authority, Random& random, WallTime now, Host& row) {
    const Identity identity{"host", new_id(random, "h")};
    const KeyRequest request = TRY(keys.make(identity));
    const SignedCertificate made = TRY(authority.sign(request.csr_pem, identity, {}, now - clock_tolerance,
                                                      certificate_life + clock_tolerance));
    row.id = identity.id;
    row.key = made.facts.key_fingerprint;
    row.joined_at = now.time_since_epoch().count();
    return JoinedHost{identity.id, std::make_shared<const Credentials>(Credentials{
                                       made.certificate, request.key_pem, authority.certificate()})};
}

}  // namespace

Task<std::vector<JoinedHost>> join_hosts(Store& store, Authority& authority, Random& random, Timers& timers,
                                         std::string zone, std::size_t count) {
    const auto keys = net::make_keys();
    const Lease lease = CO_TRY(co_await store.lead({"bench", ""}, std::chrono::seconds{10}, 0));
    Snapshot snapshot = CO_TRY(co_await store.load());
    std::vector<JoinedHost> hosts;
    while (hosts.size() < count) {
        master::Estate estate;
        estate.begin("bench", timers.wall());
        for (std::size_t i = 0; i < commit_max && hosts.size() < count; ++i) {
            Host row{.zone = zone, .message = "it has not reported yet"};
            hosts.push_back(CO_TRY(certify(*keys, authority, random, timers.wall(), row)));
            estate.hosts.add(std::move(row));
        }
        std::vector<master::Touched> touched;
        CO_TRY(co_await store.commit(estate.take(lease.epoch, ++snapshot.number, touched)));
    }
    co_return hosts;
}

}  // namespace hostler::bench
