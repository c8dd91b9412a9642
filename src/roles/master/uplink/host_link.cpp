#include "roles/master/uplink/host_link.h"

#include <fmt/format.h>

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "roles/master/benchmark/qualification.h"
#include "roles/master/host/lifecycle.h"
#include "roles/master/pki/authority.h"
#include "roles/master/run/failover.h"
#include "roles/master/run/layers.h"
#include "roles/master/series/instances.h"
#include "roles/master/series/parts.h"
#include "roles/master/series/recorder.h"
#include "roles/master/unmanaged/unmanaged.h"
#include "roles/master/uplink/messages.h"
#include "roles/master/uplink/outbox.h"
#include "roles/master/volume/disks.h"
#include "roles/master/zone/telling.h"
#include "wire/link.h"

namespace hostler::master {

namespace {

using std::chrono::seconds;

constexpr Duration handshake_time = seconds{10};
constexpr Duration leases_told_within = seconds{5};  // Of the report that they count from.
constexpr Duration visit_time = seconds{20};         // For who may only join or renew.
constexpr wire::LinkLimits host_limits{.sending_bytes_max = 2 << 20};
constexpr wire::LinkLimits visitor_limits{
    .frame_size_max = 64 * 1024, .sending_bytes_max = 128 * 1024, .received_bytes_max = 128 * 1024};

SignedCertificate certify(Term& term, const std::string& csr, const std::string& host) {
    auto made = term.ports().authority.sign(csr, {"host", host}, {}, term.estate().time() - clock_tolerance,
                                            term.settings().certificate_life + clock_tolerance);
    HOSTLER_ASSERT(made);  // Its key's fingerprint was read from the same request.
    return std::move(*made);
}

// Reports of the host up to this number are durable, samples and all.
void note_acknowledged(Term& term, const std::string& host, std::uint64_t sequence) {
    auto& hosts = term.look().live.hosts;
    if (const auto live = hosts.find(host); live != hosts.end())
        live->second.acknowledged = std::max(live->second.acknowledged, sequence);
}

// What was decided is answered once it is durable.
void after(Term& term, std::shared_ptr<wire::Link> link, uplink::Frame frame,
           std::function<void()> then = nullptr) {
    term.commit_then([link = std::move(link), frame = std::move(frame), then = std::move(then)] {
        (void)link->try_send(frame);
        if (then) then();
    });
}

uplink::Frame refused(std::uint64_t call, const Error& error) {
    uplink::Frame frame = wire::failure_frame(error);
    frame.set_answer_to(call);
    return frame;
}

// Errors: those of its rules.
Result<uplink::Frame> renewed(Term& term, const std::string& host, const std::string& csr) {
    Desk& desk = term.desk("host/" + host);
    TRY(check_host(desk, host));
    const std::string key = TRY(term.ports().authority.key_fingerprint(csr));
    // Of one that came back after a restore: it has shown the certificate of the key that it joined with.
    if (desk.estate.hosts.at(host).key.empty()) desk.estate.hosts.edit(host).key = key;
    TRY(check_renewal(desk, host, key));
    uplink::Frame answer;
    auto& into = *answer.mutable_join_answer();
    into.set_host(host);
    into.set_zone(term.look().estate.hosts.at(host).zone);
    into.set_certificate(certify(term, csr, host).certificate);
    into.set_authority(term.ports().authority.certificate());
    return answer;
}

Result<uplink::Frame> joined(Term& term, const uplink::JoinRequest& request) {
    const std::string token = request.token().substr(0, request.token().find('.'));
    const std::string hash = term.ports().digest.sha256(token);
    const std::string key = TRY(term.ports().authority.key_fingerprint(request.csr()));
    Desk& desk = term.desk("host");
    Joined host = TRY(join_host(desk, hash, key, request.hostname().substr(0, 253)));
    if (host.certificate.empty()) {
        host.certificate = certify(term, request.csr(), host.host).certificate;
        keep_certificate(desk, hash, host.certificate);
    }
    uplink::Frame answer;
    auto& into = *answer.mutable_join_answer();
    into.set_host(host.host);
    into.set_zone(host.zone);
    into.set_certificate(host.certificate);
    into.set_authority(term.ports().authority.certificate());
    return answer;
}

// ── A host in good standing

struct Words {
    TermPtr term;
    const HostSession& from;
    std::shared_ptr<wire::Link> link;
    const std::string& host = from.host;
    std::optional<ProofCheck> to_check{};
    series::Millis last_time = 0;            // Of the newest samples,
    std::vector<SeriesDevicePtr> devices{};  // and of whom they are.

    // The session that counts is that of the last hello: what an older one still says is past.
    bool current() const {
        const auto live = term->look().live.hosts.find(host);
        return live != term->look().live.hosts.end() && live->second.connected &&
               live->second.access == from.access && live->second.session == from.number;
    }

    void hear(uplink::Frame frame) {
        // Any session may greet; the newest greeting says which one counts from then on.
        if (frame.has_agent_hello()) return hello(frame.call(), frame.agent_hello());
        if (frame.has_renew_request()) return renew(frame);
        if (frame.has_holding()) return holds(frame.holding());
        if (frame.has_report() && asked_again()) return;
        if (!current()) return;
        switch (frame.body_case()) {
            case uplink::Frame::kReport: return report(frame.report());
            case uplink::Frame::kTelemetry: return telemetry(frame.telemetry());
            case uplink::Frame::kCommandUpdate: return update(frame.command_update());
            default: log_warn("host {} sent a frame that is not for a master", host);
        }
    }

    void refuse(std::uint64_t call, const Error& error) { (void)link->try_send(refused(call, error)); }

    // Reports are numbered from a hello on, and on this link none was heard: what they follow is not known.
    // Acknowledging one would tell the host that all before it are safe, too.
    bool asked_again() {
        HostLive& live = term->desk("host/" + host).live.hosts[host];
        if (live.greeted) return false;
        if (std::exchange(live.asked_on, from.channel) == from.channel) return true;
        uplink::Frame frame;
        frame.mutable_agent_welcome()->set_epoch(term->epoch());
        (void)link->try_send(frame);
        return true;
    }

    void renew(const uplink::Frame& frame) {
        const auto answer = renewed(*term, host, frame.renew_request().csr());
        if (!answer) {
            log_warn("{}, through access point {}", answer.error().message, from.access);
            return refuse(frame.call(), answer.error());
        }
        uplink::Frame said = *answer;
        said.set_answer_to(frame.call());
        (void)link->try_send(said);
    }

    void holds(const uplink::Holding& said) {
        note_holding(term->desk("host/" + host), term->ports().authority, term->ports().digest,
                     "host/" + host, said.certificate(), said.authority());
        term->commit_then(nullptr);
    }

    void hello(std::uint64_t call, const uplink::AgentHello& hello) {
        if (hello.epoch() > term->epoch()) return term->outranked("host " + host, hello.epoch());
        Desk& desk = term->desk("host/" + host);
        if (may_come_back(desk, host)) take_back(desk, host, from.access);
        if (const auto ours = check_host(desk, host); !ours) return refuse(call, ours.error());
        if (const auto boot = check_boot(desk, host, hello.boot_id().substr(0, 256), from.invitation,
                                         term->host_limits().invitation);
            !boot) {
            log_warn("host {} through access point {}: {}", host, from.access, boot.error().message);
            if (boot.error().reason == "host_quarantined") term->hang_up(host);
            Outbox::of(*term).hosts_moved({host});
            uplink::Frame frame = refused(call, boot.error());
            return after(*term, link, std::move(frame));
        }
        if (const auto greeted = host_greets(desk, host, from.access, from.number,
                                             hello.life().substr(0, 128), hello.turn(), hello.settled());
            !greeted)
            return refuse(call, greeted.error());
        desk.live.hosts[host].keeps_leases = hello.keeps_leases() && !hello.boot_id().empty();
        desk.live.hosts[host].takes_secrets = hello.takes_secrets();
        desk.live.hosts[host].boot_id = hello.boot_id().substr(0, 256);
        desk.live.hosts[host].measures_speed = hello.measures_speed();
        learn_order(hello, desk.live.hosts[host]);
        term->add_host(host, link);
        Outbox::of(*term).hosts_moved({host});
        note_report(desk, host, report_of(hello), term->ports().timers.now());
        uplink::Frame welcome;
        welcome.set_answer_to(call);
        welcome.mutable_agent_welcome()->set_epoch(term->epoch());
        welcome.mutable_agent_welcome()->set_report_interval_ms(static_cast<std::uint32_t>(
            report_interval(term->settings(), desk.estate.hosts.at(host)).count()));
        welcome.mutable_agent_welcome()->set_telemetry_interval_ms(
            static_cast<std::uint32_t>(term->settings().telemetry_interval.count()));
        *welcome.mutable_agent_welcome()->mutable_access() = access_list_for(*term, host);
        after(*term, link, std::move(welcome),
              [term = term, host = host] { Outbox::of(*term).send_commands(host); });
    }

    void report(const uplink::Report& report) {
        const std::uint64_t sequence = report.sequence();
        Desk& desk = term->desk("host/" + host);
        HostLive& live = desk.live.hosts[host];
        live.rtt_us = report.rtt_us();
        live.reports_dropped = report.dropped();
        if (readmitted(live)) return;
        // One that came before is acknowledged again, and noted once: later ones may have been noted since.
        HostReport said = report_of(report, live);
        const std::map<std::string, InstanceSample> instances = std::move(said.instances);
        const series::Millis time = measured_at(said.time, said.age_us, term->ports().timers.wall());
        Measurement samples;
        switch (count_report(desk, host, sequence, report.missing())) {
            case ReportIs::next: {
                const bool sampled = said.telemetry.has_value(), disks = said.disks.has_value();
                note_report(desk, host, std::move(said), term->ports().timers.now());
                if (!sampled) break;
                samples = measured(desk, host, apart(time), live.samples, live.sample, devices,
                                   PodChanges{live.pod_changes, term->ports().timers.now()});
                if (disks && live.disks)
                    add_disks(desk, host, *live.disks, ReportIs::next, live.disk_rows, samples);
                add_instances(desk, host, instances, ReportIs::next, live.instance_rows, samples);
                break;
            }
            case ReportIs::known:
                term->heard(host);
                // It is not known whether they were stored: the same moment is stored once.
                if (said.telemetry)
                    samples = measured(desk, host, time, said.telemetry->gpus, said.telemetry->host, devices,
                                       std::nullopt);
                if (said.telemetry && said.disks)
                    add_disks(desk, host, only_there(desk, host, std::move(*said.disks)), ReportIs::known,
                              live.disk_rows, samples);
                if (said.telemetry)
                    add_instances(desk, host, instances, ReportIs::known, live.instance_rows, samples);
                break;
            case ReportIs::astray: asked_again(); return;
        }
        term->commit_then(nullptr);
        answer_report(report, live.acknowledged, std::move(samples));
    }

    // Reports that were held up arrive together, and have one time where the host's clock is not believed:
    // they are not one moment, of which the series would keep the first.
    series::Millis apart(series::Millis time) {
        constexpr series::Millis together = 100;
        if (time <= last_time && time > last_time - together) time = last_time + 1;
        return last_time = time;
    }

    // Once what was decided and its samples are durable. While samples wait, the host is told that it was
    // heard, and which leases go on; it keeps the report.
    void answer_report(const uplink::Report& report, std::uint64_t acknowledged, Measurement samples) {
        Recorder& recorder = recorder_of(*term);
        uplink::Frame ack;
        ack.mutable_report_ack()->set_sequence(report.sequence());
        if (!term->ended()) grant(report.stamp_us(), *ack.mutable_report_ack());
        uplink::Frame heard = ack;
        heard.mutable_report_ack()->set_sequence(acknowledged);
        const bool behind = recorder.behind();
        const Instant now = term->ports().timers.now();
        const bool taken =
            recorder.take(host, std::move(samples),
                          [to = term.get(), link = link, host = host, ack = std::move(ack), now]() mutable {
                              if (to->ports().timers.now() - now > leases_told_within)
                                  ack.mutable_report_ack()->clear_leases();
                              note_acknowledged(*to, host, ack.report_ack().sequence());
                              after(*to, std::move(link), std::move(ack));
                          });
        if (!taken || behind) after(*term, link, std::move(heard));
    }

    // Some of its reports had no room among the samples that wait: it is to send all that have no answer.
    bool readmitted(HostLive& live) {
        Recorder& recorder = recorder_of(*term);
        if (!recorder.turned_away(host) || recorder.behind()) return false;
        recorder.readmit(host);
        live.greeted = false;
        live.asked_on = 0;
        return asked_again();
    }

    // By a leader only, whose successor counts from later on than this host does.
    void grant(std::uint64_t stamp_us, uplink::ReportAck& ack) {
        ack.set_epoch(term->epoch());
        ack.set_stamp_us(stamp_us);
        if (const auto ahead = layers_ahead_on(term->look(), host); ahead > 0) {
            ack.set_layers_ahead(static_cast<std::uint32_t>(ahead));
            ack.set_layer_bytes(static_cast<std::uint64_t>(term->settings().instance_disk_bytes));
        }
        for (const auto& [instance, generation] : leases_on(term->look(), host)) {
            auto& held = *ack.add_leases();
            held.set_instance(instance);
            held.set_generation(generation);
        }
    }

    // Nothing of it is kept, so there is nothing to acknowledge.
    void telemetry(const uplink::Telemetry& telemetry) {
        Desk& desk = term->desk("host/" + host);
        HostLive& live = desk.live.hosts[host];
        if (!live.greeted) return;
        live.telemetry_dropped = telemetry.dropped();
        note_telemetry(desk, host, telemetry_of(telemetry, live));
        term->heard(host);
    }

    void challenge(Desk& desk, const uplink::CommandUpdate& update) {
        const Instant now = term->ports().timers.now();
        if (update.phase() == "walked")
            to_check = note_walked(desk, host, update.id(), proofs_of(update), now);
        if (update.phase() != "filled") return;
        const auto path_seed = path_for(desk, host, update.id(), now);
        if (!path_seed) return;
        uplink::Frame frame;
        frame.mutable_challenge_path()->set_command(update.id());
        frame.mutable_challenge_path()->set_path_seed(*path_seed);
        (void)link->try_send(frame);
    }

    void update(const uplink::CommandUpdate& update) {
        Desk& desk = term->desk("host/" + host);
        term->heard(host);
        if (update.state() == "running") {
            challenge(desk, update);
            note_progress(desk, host, update.id(), update.phase(), update.message());
            return term->commit_then(nullptr);
        }
        note_answer(desk, host, update.id(), answer_of(update));
        uplink::Frame ack;
        ack.mutable_command_ack()->set_id(update.id());
        after(*term, link, std::move(ack));
    }
};

// What else this host says waits for it.
Task<> walk_again(TermPtr term, std::string host, ProofCheck check) {
    if (!term->ports().checker) co_return Result<>{};
    const Duration took = check.took;
    auto found = co_await run_on<std::vector<std::string>>(
        *term->ports().checker, [check = std::move(check)]() -> Result<std::vector<std::string>> {
            return doubts(check.gpus, check.challenge, check.proofs, check.asked);
        });
    CO_TRY(co_await check_cancelled());
    if (!found || term->ended()) co_return Result<>{};
    note_checked(term->desk("host/" + host), host, took, std::move(*found));
    term->commit_then(nullptr);
    co_return Result<>{};
}

Task<> listen(TermPtr term, HostSession from, std::shared_ptr<wire::Link> link) {
    Words words{term, from, link};
    while (!term->ended()) {
        auto frame = co_await link->receive();
        if (!frame) break;
        words.hear(std::move(*frame));
        if (auto check = std::exchange(words.to_check, std::nullopt))
            if (const auto walked = co_await walk_again(term, from.host, std::move(*check)); !walked) break;
        if (const auto passed = co_await recorder_of(*term).let_pass(from.host); !passed) break;
    }
    if (term->drop_host(from.host, link))
        host_silent(term->desk("host/" + from.host), from.host, from.access, from.number);
    co_return Result<>{};
}

// ── Who is not one yet, or not any more

// Who shows no certificate may join; who shows a host's, expired or not, may renew it. That is all.
Task<> receive_visitor(TermPtr term, HostSession from, std::shared_ptr<wire::Link> link) {
    const Deadline deadline{term->ports().timers, visit_time, [link] { link->close(); }};
    const std::string who{link->identity()};
    while (!term->ended()) {
        const auto frame = co_await link->receive();
        if (!frame) break;
        Result<uplink::Frame> answer =
            fail(Code::forbidden, "this connection serves only certificate requests", "visitor");
        if (who.empty() && frame->has_join_request())
            answer = joined(*term, frame->join_request());
        else if (who.starts_with("host/") && frame->has_renew_request())
            answer = renewed(*term, who.substr(5), frame->renew_request().csr());
        if (!answer) {
            log_info("a visitor through access point {} is refused: {}", from.access, answer.error().message);
            (void)link->try_send(refused(frame->call(), answer.error()));
            continue;
        }
        answer->set_answer_to(frame->call());
        after(*term, link, std::move(*answer));
    }
    co_return Result<>{};
}

}  // namespace

Task<> serve_host(TermPtr term, HostSession session, std::shared_ptr<wire::Channel> channel) {
    HostLimits& limits = term->host_limits();
    const bool visitor = session.host.empty();
    Secure how{.own = term->ports().own.credentials(),
               .peer_required = !visitor,
               .expect = visitor ? "" : "host/" + session.host,
               .grace = visitor ? renewable : Duration{0}};
    ++limits.handshakes;
    auto stream =
        co_await term->ports().net.secure(channel->stream(), std::move(how), Side::server, handshake_time);
    --limits.handshakes;
    if (!stream) {
        if (stream.error().code == Code::unauthenticated)
            log_warn("access point {} claims a connection of host '{}': {}", session.access, session.host,
                     stream.error().message);
        co_return Result<>{};
    }
    const auto link = std::make_shared<wire::Link>(
        term->ports().loop, term->ports().timers, std::move(*stream), visitor ? visitor_limits : host_limits);
    if (visitor)
        co_await receive_visitor(term, session, link);
    else
        co_await listen(term, session, link);
    link->close();
    co_return Result<>{};
}

}  // namespace hostler::master
