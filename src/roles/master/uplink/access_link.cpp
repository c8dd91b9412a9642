#include <fmt/format.h>

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "roles/master/benchmark/network_speed.h"
#include "roles/master/host/lifecycle.h"
#include "roles/master/pki/authority.h"
#include "roles/master/unmanaged/unmanaged.h"
#include "roles/master/uplink/host_link.h"
#include "roles/master/uplink/links.h"
#include "roles/master/uplink/outbox.h"
#include "roles/master/zone/telling.h"
#include "wire/link.h"

namespace hostler::master {

namespace {

using std::chrono::seconds;

// One access point's connection: the sessions of hosts there, who are invited to speak. What they say is
// sealed; the access point's own word about them opens ways for tunnels, and nothing else.
struct Sessions {
    struct Row {
        std::string host;           // As the access point says; empty: it may only join or renew.
        std::uint64_t channel = 0;  // That it is invited to; 0: it is to be invited.
        std::uint64_t invitation = 0;
        std::shared_ptr<wire::Channel> open{};  // Since it has said something.
    };
    TermPtr term;
    wire::Link& link;
    std::string access;
    std::map<std::uint64_t, Row> rows{};
    TaskGroup tasks{term->ports().loop};

    void up(const uplink::SessionUp& up) {
        const auto number = up.session();
        if (!up.host().empty()) {
            Desk& desk = term->desk("host/" + up.host());
            if (may_come_back(desk, up.host())) return add(up);  // If it can show its certificate.
            if (const auto known = host_connected(desk, up.host(), access, number); !known)
                return refuse(number, up.host(), known.error());
            Outbox::of(*term).hosts_moved({up.host()});
        }
        add(up);
    }

    void add(const uplink::SessionUp& up) {
        forget(up.session());
        rows[up.session()] = {.host = up.host()};
        invite(up.session());
    }

    // Who was removed is cut off everywhere. Of a host that never was only this access point has heard.
    void refuse(std::uint64_t session, const std::string& host, const Error& why) {
        if (term->look().estate.hosts.find(host)) return term->cut_off(host, why.message);
        uplink::Frame frame;
        frame.mutable_session_down()->set_session(session);
        frame.mutable_session_down()->set_why(why.message);
        (void)link.try_send(frame);
    }

    void down(const uplink::SessionDown& down) {
        const auto row = rows.find(down.session());
        if (row == rows.end()) return;
        const std::string id = row->second.host;
        forget(down.session());
        if (id.empty()) return;
        host_disconnected(term->desk("host/" + id), id, access, down.session());
        Outbox::of(*term).hosts_moved({id});
    }

    void forget(std::uint64_t session) {
        const auto row = rows.find(session);
        if (row == rows.end()) return;
        if (row->second.open) row->second.open->end({Code::unavailable, "the host's session has ended"});
        rows.erase(row);
    }

    // Not now when there were too many of late: invite_all() comes back to it.
    void invite(std::uint64_t number) {
        Row& row = rows.at(number);
        HostLimits& limits = term->host_limits();
        const Instant now = term->ports().timers.now();
        if (!(row.host.empty() ? limits.visited.take(now) : limits.invited.take(row.host, now))) return;
        row.channel = random_number(term->ports().random) | 1;
        row.invitation = ++limits.invitation;
        uplink::Frame frame;
        frame.mutable_invite()->set_channel(row.channel);
        // One alone, for whose fingerprint is in a token; what stands beside it comes with the certificate.
        if (row.host.empty())
            frame.mutable_invite()->set_authority(term->ports().authority.all().front().certificate);
        if (!pass(link, number, frame)) row.channel = 0;
    }

    Task<> invite_all() {
        while (true) {
            CO_TRY(co_await sleep(term->ports().timers, seconds{1}));
            for (const auto& [number, row] : rows)
                if (row.channel == 0) invite(number);
        }
    }

    static Result<> pass(wire::Link& to, std::uint64_t session, const uplink::Frame& frame) {
        uplink::Frame relayed;
        relayed.mutable_relayed()->set_session(session);
        frame.SerializeToString(relayed.mutable_relayed()->mutable_frame());
        return to.try_send(relayed);
    }

    // Null: nothing is to be read from it at the moment.
    std::shared_ptr<wire::Channel> relayed(const uplink::Relayed& relayed) {
        const auto at = rows.find(relayed.session());
        uplink::Frame frame;
        if (at == rows.end() || !frame.ParseFromString(relayed.frame()) || !frame.has_sealed())
            return nullptr;
        Row& row = at->second;
        if (row.channel == 0 || frame.sealed().channel() != row.channel) return nullptr;
        if (frame.sealed().end()) {
            if (row.open) row.open->end({Code::unavailable, "the host has ended the channel"});
            row.open = nullptr;
            row.channel = 0;
            return nullptr;
        }
        if (!row.open && term->host_limits().handshakes >= HostLimits::handshakes_max) {
            end_channel(relayed.session(), row);
            return nullptr;
        }
        if (!row.open) open(relayed.session(), row);
        (void)row.open->feed(std::move(*frame.mutable_sealed()->mutable_bytes()));
        return row.open;
    }

    void open(std::uint64_t number, Row& row) {
        const auto carry = [to = &link, number, channel = row.channel](std::string piece) {
            uplink::Frame sealed;
            sealed.mutable_sealed()->set_channel(channel);
            sealed.mutable_sealed()->set_bytes(std::move(piece));
            uplink::Frame frame;
            frame.mutable_relayed()->set_session(number);
            sealed.SerializeToString(frame.mutable_relayed()->mutable_frame());
            return to->send(std::move(frame));
        };
        row.open = std::make_shared<wire::Channel>(
            term->ports().loop,
            fmt::format("{} through {}", row.host.empty() ? "a visitor" : row.host, access), carry);
        tasks.start("host", converse({.access = access,
                                      .number = number,
                                      .host = row.host,
                                      .channel = row.channel,
                                      .invitation = row.invitation},
                                     row.open));
    }

    Task<> converse(HostSession session, std::shared_ptr<wire::Channel> channel) {
        co_await serve_host(term, session, channel);
        channel->end({Code::unavailable, "it is over"});
        CO_TRY(co_await check_cancelled());
        const auto row = rows.find(session.number);
        if (row != rows.end() && row->second.open == channel) end_channel(session.number, row->second);
        co_return Result<>{};
    }

    // The host may be invited again, when that is due.
    void end_channel(std::uint64_t number, Row& row) {
        uplink::Frame frame;
        frame.mutable_sealed()->set_channel(row.channel);
        frame.mutable_sealed()->set_end(true);
        (void)pass(link, number, frame);
        row.open = nullptr;
        row.channel = 0;
    }

    Task<> close() {
        for (const auto& [number, row] : rows)
            if (row.open) row.open->end({Code::unavailable, "the access point has gone"});
        return tasks.close();
    }
};

// One way after the other, so that none is slow for another's sake.
Task<> measure_speeds(TermPtr term, wire::Link& link, std::string access) {
    while (!term->ended()) {
        CO_TRY(co_await sleep(term->ports().timers, speed_look));
        const auto host = host_to_measure(term->look(), access);
        if (!host) continue;
        uplink::Frame frame;
        frame.mutable_speed_request()->set_host(*host);
        frame.mutable_speed_request()->set_busy_kbit_s(
            busy_kbit_s(speed_to(term->look().estate.hosts.at(*host).network, access)));
        auto answer = co_await link.ask(std::move(frame), speed_deadline);
        CO_TRY(co_await check_cancelled());
        if (term->ended()) break;
        Result<SpeedFigures> figures = fail(Code::invalid, "the access point gave no figures");
        if (!answer)
            figures = std::unexpected(answer.error());
        else if (answer->has_speed_answer())
            figures = SpeedFigures{
                .round_trip_us = static_cast<std::int64_t>(answer->speed_answer().round_trip_us()),
                .down_kbit_s = static_cast<std::int64_t>(answer->speed_answer().down_kbit_s()),
                .up_kbit_s = static_cast<std::int64_t>(answer->speed_answer().up_kbit_s())};
        note_speed(term->desk("access/" + access), *host, access, figures);
        term->commit_then(nullptr);
    }
    co_return Result<>{};
}

// Its zone is what it says, if there is such a zone; an access point without one serves nobody.
Result<> register_access(TermPtr term, const std::string& name, const uplink::AccessHello& hello) {
    Desk& desk = term->desk("access/" + name);
    if (!desk.estate.zones.find(hello.zone()))
        return fail(Code::invalid,
                    fmt::format("access point {} says it stands in zone '{}', and there is none of that name",
                                name, hello.zone()),
                    "zone_unknown");
    AccessPoint now{.name = name,
                    .zone = hello.zone(),
                    .uplink_address = hello.uplink_address(),
                    .tunnel_address = hello.tunnel_address(),
                    .control_address = hello.control_address()};
    if (const AccessPoint* before = desk.estate.access_points.find(name)) {
        now.created_at = before->created_at;
        now.meta = before->meta;
        now.draining = before->draining;
        if (std::tie(before->zone, before->uplink_address, before->tunnel_address, before->control_address) !=
            std::tie(now.zone, now.uplink_address, now.tunnel_address, now.control_address))
            desk.estate.access_points.edit(name) = now;
    } else {
        now.created_at = desk.estate.micros();
        desk.estate.event("access_point", name, "", "registered",
                          fmt::format("Access point {} of zone {} said hello.", name, now.zone));
        desk.estate.access_points.add(std::move(now));
    }
    return {};
}

void add_access(Term& term, const std::string& name, const uplink::AccessHello& hello, wire::Link& link) {
    term.add_access(name, link);
    term.look().live.access_points[name] = {.connected = true,
                                            .version = hello.version(),
                                            .sessions_max = hello.sessions_max()};
    tell_access(term);
}

void drop_access(Term& term, const std::string& name, wire::Link& link) {
    if (!term.drop_access(name, link)) return;
    const Desk& desk = term.look();
    AccessLive& live = desk.live.access_points[name];
    live.connected = false;
    live.seen_at = term.ports().timers.wall().time_since_epoch().count();
    std::set<std::string> moved;
    for (auto& [id, host] : desk.live.hosts) {
        const auto way = host.ways.find(name);
        if (way == host.ways.end()) continue;
        host_disconnected(term.desk("access/" + name), id, name, std::uint64_t{way->second});
        moved.insert(id);
    }
    Outbox::of(term).hosts_moved(moved);
    tell_access(term);
}

void note_status(Term& term, const std::string& access, const uplink::AccessStatus& status) {
    AccessLive& live = term.look().live.access_points[access];
    live.tunnels = status.tunnels();
    live.banned = status.banned();
}

}  // namespace

Task<> serve_access(TermPtr term, wire::Link& link, std::string name) {
    uplink::Frame frame = CO_TRY(co_await link.receive());
    if (!frame.has_access_hello())
        co_return fail(Code::invalid, fmt::format("access point {} did not say hello", name));
    if (frame.access_hello().epoch() > term->epoch()) {
        term->outranked("access point " + name, frame.access_hello().epoch());
        co_return Result<>{};
    }
    if (const auto registered = register_access(term, name, frame.access_hello()); !registered) {
        CO_TRY(co_await link.send(wire::failure_frame(registered.error())));
        CO_TRY(co_await link.flush(seconds{1}));
        co_return registered;
    }
    CO_TRY(co_await term->commit());
    uplink::Frame welcome;
    welcome.mutable_access_welcome()->set_epoch(term->epoch());
    welcome.mutable_access_welcome()->set_zone(term->look().estate.access_points.at(name).zone);
    welcome.mutable_access_welcome()->set_draining(term->look().estate.access_points.at(name).draining);
    for (const auto& [id, host] : term->look().estate.hosts.all())
        if (host.phase == HostPhase::retired) welcome.mutable_access_welcome()->add_revoked(id);
    CO_TRY(co_await link.send(std::move(welcome)));
    log_info("access point {} is here, from {}", name, link.address());

    add_access(*term, name, frame.access_hello(), link);
    Sessions sessions{term, link, name};
    sessions.tasks.start("invitations", sessions.invite_all());
    if (frame.access_hello().measures_speed())
        sessions.tasks.start("speeds", measure_speeds(term, link, name));
    Result<> ended;
    while (ended && !term->ended()) {
        auto received = co_await link.receive();
        if (!received) {
            ended = std::unexpected(received.error());
            break;
        }
        switch (received->body_case()) {
            case uplink::Frame::kSessionUp: sessions.up(received->session_up()); break;
            case uplink::Frame::kSessionDown: sessions.down(received->session_down()); break;
            case uplink::Frame::kRelayed:
                // Nobody reads while we go on with the next frame: a loud host is listened to in between.
                if (const auto channel = sessions.relayed(received->relayed()))
                    ended = co_await channel->calm();
                break;
            case uplink::Frame::kRenewRequest:
                ended = co_await answer_renewal(term, link, std::move(*received));
                break;
            case uplink::Frame::kHolding:
                note_holding(term->desk("access/" + name), term->ports().authority, term->ports().digest,
                             "access/" + name, received->holding().certificate(),
                             received->holding().authority());
                term->commit_then(nullptr);
                break;
            case uplink::Frame::kAccessStatus: note_status(*term, name, received->access_status()); break;
            default: break;  // A newer access point may say more.
        }
    }
    co_await sessions.close();
    drop_access(*term, name, link);
    co_return ended;
}

}  // namespace hostler::master
