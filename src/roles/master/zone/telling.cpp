#include "roles/master/zone/telling.h"

#include "proto/uplink.pb.h"
#include "roles/master/zone/access_points.h"
#include "wire/link.h"

namespace hostler::master {

namespace {

struct AccessTold {
    uplink::AccessList list;
    std::uint64_t told = 0;  // Counts the changes of that list.
    bool all_told = true;    // But for those that greet from here on, which are told then.
};

AccessTold& access_told_of(Term& term) {
    return term.part<AccessTold>([] { return std::make_shared<AccessTold>(); });
}

}  // namespace

void tell_access(Term& term) {
    constexpr int told_max = 500;
    AccessTold& known = access_told_of(term);
    const Desk& desk = term.look();
    uplink::Frame frame;
    write_access_list(desk, *frame.mutable_access_list());
    if (frame.access_list().SerializeAsString() != known.list.SerializeAsString()) {
        known.list = frame.access_list();
        ++known.told;
        known.all_told = false;
    }
    if (known.all_told) return;
    known.all_told = true;
    int told = 0;
    for (auto& [id, host] : desk.live.hosts) {
        if (!host.connected || !host.greeted || host.access_told == known.told) continue;
        if (told++ >= told_max || !term.send_to_host(id, frame))
            known.all_told = false;
        else
            host.access_told = known.told;
        if (told > told_max) break;
    }
}

const uplink::AccessList& access_list_for(Term& term, const std::string& host) {
    const AccessTold& known = access_told_of(term);
    term.look().live.hosts[host].access_told = known.told;
    return known.list;
}

void tell_drains(Term& term) {
    const Desk& desk = term.look();
    for (const auto& [name, link] : term.access_links()) {
        const AccessPoint* row = desk.estate.access_points.find(name);
        auto& told = desk.live.access_points[name].drain_told;
        if (!row || told == row->draining || row->meta.created == 0) continue;
        uplink::Frame frame;
        frame.mutable_drain()->set_draining(row->draining);
        if (link->try_send(frame)) told = row->draining;
    }
}

}  // namespace hostler::master
