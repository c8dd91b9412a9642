#include "roles/master/pki/rotation.h"

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "roles/master/pki/authority.h"

namespace hostler::master {

namespace {

struct Asked {
    std::map<std::string, Instant> renewed;  // Who was asked to renew its certificate, by name,
    std::string aim;                         // and for which authorities.
};

Asked& asked_of(Term& term) {
    return term.part<Asked>([] { return std::make_shared<Asked>(); });
}

}  // namespace

void rotate(Term& term) {
    constexpr int asked_max = 500;
    constexpr Duration pause = std::chrono::seconds{30};
    const Estate& estate = term.look().estate;
    const Ports& ports = term.ports();
    if (estate.authorities.all().empty() || term.read_only()) return;
    for (const auto& [fingerprint, row] : estate.authorities.all())
        if (row.meta.version == 0 || row.meta.version > term.durable()) return;
    if (const auto followed = follow_authority(estate, ports.authority); !followed)
        return log_error("master: the authority's keys are not as they should be yet: {}",
                         followed.error().message);
    Asked& told = asked_of(term);
    std::string aim;
    for (const AuthorityFacts& one : ports.authority.all())
        aim += one.fingerprint + (one.issues ? "! " : " ");
    if (std::exchange(told.aim, aim) != aim) told.renewed.clear();  // The next step is told at once.
    uplink::Frame frame;
    frame.mutable_renew_wanted();
    const Instant now = ports.timers.now();
    std::erase_if(told.renewed, [&](const auto& row) { return now - row.second > pause; });
    int asked = 0;
    for (const Holding& one : holdings(estate, ports.authority, ports.digest)) {
        if (one.current || told.renewed.contains(one.name)) continue;
        if (asked >= asked_max) break;
        if (!term.send_to(one.name, frame)) continue;
        told.renewed[one.name] = now;
        ++asked;
    }
}

void ask_to_renew_again(Term& term, const std::string& name) { asked_of(term).renewed.erase(name); }

}  // namespace hostler::master
