#include <fmt/format.h>

#include <algorithm>

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "roles/master/host_rules.h"
#include "roles/master/links.h"
#include "roles/master/messages.h"
#include "wire/link.h"

namespace hostler::master {

namespace {

using std::chrono::seconds;

// One access point's connection: which session is which host.
struct Sessions {
    TermPtr term;
    wire::Link& link;
    std::string access;
    std::map<std::uint64_t, std::string> hosts;  // An empty host may only join.

    void send(std::uint64_t session, const uplink::Frame& frame) {
        term->send_to_session(access, session, frame);
    }

    void fail_call(std::uint64_t session, std::uint64_t call, const Error& error) {
        uplink::Frame frame = wire::failure_frame(error);
        frame.set_answer_to(call);
        send(session, frame);
    }

    void up(const uplink::SessionUp& up) {
        hosts[up.session()] = up.host();
        if (up.host().empty()) return;
        Desk& desk = term->desk("host/" + up.host());
        if (const auto known = host_connected(desk, up.host(), access, up.session()); !known) {
            hosts.erase(up.session());
            term->cut_off(up.host(), known.error().message);
            return;
        }
        term->hosts_moved({up.host()});
    }

    void down(const uplink::SessionDown& down) {
        const auto host = hosts.find(down.session());
        if (host == hosts.end()) return;
        const std::string id = std::exchange(host->second, {});
        hosts.erase(host);
        if (id.empty()) return;
        host_disconnected(term->desk("host/" + id), id, access, down.session());
        term->hosts_moved({id});
    }

    // The session that counts is the newest: what an older one still says is past.
    bool current(const std::string& host, std::uint64_t session) const {
        const auto live = term->look().live.hosts.find(host);
        return live != term->look().live.hosts.end() && live->second.connected &&
               live->second.access == access && live->second.session == session;
    }

    void relayed(const uplink::Relayed& relayed) {
        const auto at = hosts.find(relayed.session());
        uplink::Frame frame;
        if (at == hosts.end() || !frame.ParseFromString(relayed.frame())) return;
        if (at->second.empty()) {
            if (frame.has_join_request()) join(relayed.session(), frame);
            return;
        }
        const std::string host = at->second;
        // Any session may greet; the newest greeting says which one counts from then on.
        if (frame.has_agent_hello()) return hello(host, relayed.session(), frame.call(), frame.agent_hello());
        if (frame.has_renew_request()) return renew(host, relayed.session(), frame);
        if (frame.has_report() && asked_again(host, relayed.session())) return;
        if (!current(host, relayed.session())) return;
        if (const auto call = frame.answer_to(); call != 0) return term->answered(call, std::move(frame));
        switch (frame.body_case()) {
            case uplink::Frame::kReport: return report(host, relayed.session(), frame.report());
            case uplink::Frame::kCommandUpdate:
                return update(host, relayed.session(), frame.command_update());
            default: log_warn("host {} sent a frame that is not for a master", host);
        }
    }

    // Reports are numbered from a hello on, and in this term none was heard: what they follow is not known.
    // Acknowledging one would tell the host that all before it are safe, too.
    bool asked_again(const std::string& host, std::uint64_t session) {
        HostLive& live = term->desk("host/" + host).live.hosts[host];
        if (live.greeted) return false;
        if (std::exchange(live.asked_on, session) == session) return true;
        uplink::Frame frame;
        frame.mutable_agent_welcome()->set_epoch(term->epoch());
        send(session, frame);
        return true;
    }

    void join(std::uint64_t session, const uplink::Frame& frame) {
        const uplink::JoinRequest& request = frame.join_request();
        const std::uint64_t call = frame.call();
        const std::string token = request.token().substr(0, request.token().find('.'));
        const std::string hash = term->ports().digest.sha256(token);
        const auto key = term->ports().authority.key_fingerprint(request.csr());
        if (!key) return fail_call(session, call, key.error());
        Desk& desk = term->desk("host");
        auto joined = join_host(desk, hash, *key, request.hostname().substr(0, 253));
        if (!joined) return fail_call(session, call, joined.error());
        if (joined->certificate.empty()) {
            auto made =
                term->ports().authority.sign(request.csr(), {"host", joined->host}, term->estate().time(),
                                             term->settings().certificate_life);
            HOSTLER_ASSERT(made);  // key_fingerprint() has read the same request.
            joined->certificate = made->certificate;
            keep_certificate(desk, hash, joined->certificate);
        }
        uplink::Frame answer;
        answer.set_answer_to(call);
        answer.mutable_join_answer()->set_host(joined->host);
        answer.mutable_join_answer()->set_zone(joined->zone);
        answer.mutable_join_answer()->set_certificate(joined->certificate);
        answer.mutable_join_answer()->set_authority(term->ports().authority.certificate());
        after(session, std::move(answer));
    }

    void renew(const std::string& host, std::uint64_t session, const uplink::Frame& frame) {
        Desk& desk = term->desk("host/" + host);
        const auto key = term->ports().authority.key_fingerprint(frame.renew_request().csr());
        if (!key) return fail_call(session, frame.call(), key.error());
        if (const auto own = check_renewal(desk, host, *key); !own) {
            log_warn("{}, through access point {}", own.error().message, access);
            return fail_call(session, frame.call(), own.error());
        }
        auto made = term->ports().authority.sign(frame.renew_request().csr(), {"host", host},
                                                 term->estate().time(), term->settings().certificate_life);
        if (!made) return fail_call(session, frame.call(), made.error());
        uplink::Frame answer;
        answer.set_answer_to(frame.call());
        answer.mutable_join_answer()->set_host(host);
        answer.mutable_join_answer()->set_zone(term->look().estate.hosts.at(host).zone);
        answer.mutable_join_answer()->set_certificate(made->certificate);
        answer.mutable_join_answer()->set_authority(term->ports().authority.certificate());
        send(session, answer);
    }

    void hello(const std::string& host, std::uint64_t session, std::uint64_t call,
               const uplink::AgentHello& hello) {
        if (hello.epoch() > term->epoch()) {
            term->outranked("host " + host, hello.epoch());
            return;
        }
        Desk& desk = term->desk("host/" + host);
        if (const auto greeted = host_greets(desk, host, access, session, hello.life().substr(0, 128),
                                             hello.turn(), hello.settled());
            !greeted)
            return fail_call(session, call, greeted.error());
        term->hosts_moved({host});
        note_report(desk, host, report_of(hello), term->ports().timers.now());
        uplink::Frame welcome;
        welcome.set_answer_to(call);
        welcome.mutable_agent_welcome()->set_epoch(term->epoch());
        welcome.mutable_agent_welcome()->set_report_interval_ms(
            static_cast<std::uint32_t>(term->settings().report_interval.count()));
        *welcome.mutable_agent_welcome()->mutable_access() = term->access_list();
        term->knows_access(host);
        after(session, std::move(welcome), [term = term, host] { term->send_commands(host); });
    }

    void report(const std::string& host, std::uint64_t session, const uplink::Report& report) {
        const std::uint64_t sequence = report.sequence();
        Desk& desk = term->desk("host/" + host);
        HostLive& live = desk.live.hosts[host];
        live.rtt_us = report.rtt_us();
        live.reports_dropped = report.dropped();
        // One that came before is acknowledged again, and noted once: later ones may have been noted since.
        switch (count_report(desk, host, sequence, report.missing())) {
            case ReportIs::next:
                note_report(desk, host, report_of(report), term->ports().timers.now());
                break;
            case ReportIs::known: term->heard(host); break;
            case ReportIs::astray: asked_again(host, session); return;
        }
        uplink::Frame ack;
        ack.mutable_report_ack()->set_sequence(sequence);
        after(session, std::move(ack));
    }

    void update(const std::string& host, std::uint64_t session, const uplink::CommandUpdate& update) {
        Desk& desk = term->desk("host/" + host);
        term->heard(host);
        if (update.state() == "running") {
            note_progress(desk, host, update.id(), update.phase(), update.message());
            return term->commit_then(nullptr);
        }
        note_answer(desk, host, update.id(), answer_of(update));
        uplink::Frame ack;
        ack.mutable_command_ack()->set_id(update.id());
        after(session, std::move(ack));
    }

    // Answers once what was just decided is durable.
    void after(std::uint64_t session, uplink::Frame frame, std::function<void()> then = nullptr) {
        term->commit_then(
            [term = term, name = access, session, frame = std::move(frame), then = std::move(then)] {
                term->send_to_session(name, session, frame);
                if (then) then();
            });
    }
};

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

    term->add_access(name, frame.access_hello().version(), frame.access_hello().sessions_max(), link);
    Sessions sessions{term, link, name, {}};
    Result<> ended;
    while (!term->ended()) {
        auto received = co_await link.receive();
        if (!received) {
            ended = std::unexpected(received.error());
            break;
        }
        switch (received->body_case()) {
            case uplink::Frame::kSessionUp: sessions.up(received->session_up()); break;
            case uplink::Frame::kSessionDown: sessions.down(received->session_down()); break;
            case uplink::Frame::kRelayed: sessions.relayed(received->relayed()); break;
            case uplink::Frame::kAccessStatus:
                term->note_status(name, received->access_status().tunnels(),
                                  received->access_status().banned());
                break;
            default: break;  // A newer access point may say more.
        }
    }
    term->drop_access(name, link);
    co_return ended;
}

}  // namespace hostler::master
