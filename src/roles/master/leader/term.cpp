#include "roles/master/leader/term.h"

#include <fmt/format.h>

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "roles/master/alert/watch.h"
#include "roles/master/benchmark/qualification.h"
#include "roles/master/command/commands.h"
#include "roles/master/consolidation/execution.h"
#include "roles/master/drain/drain.h"
#include "roles/master/host/lifecycle.h"
#include "roles/master/http/caller.h"
#include "roles/master/instance/auto_stop.h"
#include "roles/master/instance/failover.h"
#include "roles/master/instance/lifecycle.h"
#include "roles/master/network/subnets.h"
#include "roles/master/pki/authority.h"
#include "roles/master/report/watch.h"
#include "roles/master/sealing/sealing.h"
#include "roles/master/state/retention.h"
#include "roles/master/stock/images.h"
#include "roles/master/stock/slots.h"
#include "roles/master/uplink/messages.h"
#include "roles/master/volume/volumes.h"
#include "roles/master/zone/access_points.h"
#include "wire/link.h"

namespace hostler::master {

using std::chrono::seconds;

Term::Term(const Ports& ports, const Settings& settings, AddressPool pool, std::uint64_t epoch,
           std::uint64_t number, std::shared_ptr<const Tenure> tenure)
    : ports_(ports),
      settings_(settings),
      pool_(pool),
      epoch_(epoch),
      tenure_(std::move(tenure)),
      desk_{estate_, live_, settings_, pool_, ports_.random},
      feed_(settings.feed_max, number),
      number_(number),
      durable_(number),
      access_list_(std::make_unique<uplink::AccessList>()),
      recorder_(ports.timers, ports.series),
      tasks_(ports.loop),
      queries_(ports.timers, ports.series, tasks_) {
    estate_.seal_with(ports_.sealer);
}

Term::~Term() = default;

void Term::begin_with(Estate estate) {
    estate_ = std::move(estate);
    estate_.seal_with(ports_.sealer);
}

Desk& Term::desk(std::string actor) {
    estate_.begin(std::move(actor), ports_.timers.wall());
    return desk_;
}

Task<> Term::commit() {
    const auto self = shared_from_this();  // A caller may be all that keeps an ended term.
    if (read_only_) co_return std::unexpected(*read_only_);
    commit_then(nullptr);
    co_return co_await durable();
}

Task<> Term::settled() {
    const auto self = shared_from_this();
    CO_TRY(co_await durable());
    if (ended()) end(lease_lost());
    if (ended_) co_return std::unexpected(*ended_);
    co_return Result<>{};
}

Task<> Term::durable() {
    const std::uint64_t target = number_;
    while (durable_ < target) {
        if (ended_) co_return std::unexpected(*ended_);
        CO_TRY(co_await durable_changed_.wait());
    }
    if (ended_) co_return std::unexpected(*ended_);
    co_return Result<>{};
}

void Term::commit_then(std::move_only_function<void()> then) {
    if (ended_ || read_only_) return;
    if (!estate_.unchanged()) {
        std::vector<Touched> touched;
        Changes changes = estate_.take(epoch_, ++number_, touched);
        tasks_.start("commit", write(std::move(changes), std::move(touched)));
    }
    if (!then) return;
    if (durable_ >= number_)
        then();
    else
        afterwards_.emplace(number_, std::move(then));
}

Task<> Term::write(Changes changes, std::vector<Touched> touched) {
    const std::uint64_t number = changes.number;
    if (const auto done = co_await ports_.store.commit(std::move(changes)); !done) {
        if (done.error().code != Code::cancelled) end(done.error());
        co_return Result<>{};
    }
    durable_ = std::max(durable_, number);
    publish(number, std::move(touched));
    while (!afterwards_.empty() && afterwards_.begin()->first <= durable_) {
        auto then = std::move(afterwards_.begin()->second);
        afterwards_.erase(afterwards_.begin());
        then();
    }
    durable_changed_.notify_all();
    co_return Result<>{};
}

void Term::end(Error why) {
    if (ended_) return;
    ended_ = std::move(why);
    if (ended_->code == Code::conflict) ended_->code = Code::unavailable;  // Somebody else leads: ask again.
    feed_.close();
    durable_changed_.notify_all();
    ending_.notify_all();
    afterwards_.clear();  // They hold this term.
    recorder_.forget();
    for (auto& [host, link] : std::exchange(said_hello_, {})) link->close();
}

void Term::outranked(const std::string& who, std::uint64_t epoch) {
    outranked_by_ = std::max(outranked_by_, epoch);
    end({Code::unavailable, fmt::format("{} has obeyed epoch {}, this term is {}", who, epoch, epoch_),
         "epoch_behind"});
}

Task<> Term::run() {
    const auto self = shared_from_this();
    tasks_.start("sweep", sweep());
    tasks_.start("archive", archive());
    tasks_.start("prune", prune());
    tasks_.start("series", recorder_.run());
    start_alerts(*this);
    start_sealing(*this);
    start_reports(*this);
    while (!ended_) {
        if (const auto woken = co_await ending_.wait(); !woken) {
            end({Code::unavailable, "the master is shutting down"});
            co_await tasks_.close();
            co_return woken;
        }
    }
    co_await tasks_.close();
    co_return std::unexpected(*ended_);
}

// By level: whatever an edge should have done and did not, this does.
Task<> Term::sweep() {
    while (!ended_) {
        Desk& now = desk("master");
        watch_silence(now, ports_.timers.now());
        expire_commands(now);
        watch_measuring(now, ports_.checker != nullptr);
        for (const std::string& id : instances_to_reconcile(now))
            reconcile_instance(now, id), go_on_elsewhere(now, id);
        follow_drains(now);
        follow_schedules(now);
        follow_moves(now, ports_.timers.now());
        follow_consolidations(now);
        reconcile_volumes(now);
        reconcile_subnets(now);
        fill_stock(now);
        reconcile_images(now);
        forget_what_is_over(now);
        commit_then(nullptr);
        tell_access();
        tell_drains();
        rotate();
        if (ports_.timers.now() - beat_ >= seconds{15}) {
            beat_ = ports_.timers.now();
            feed_.beat();
        }
        for (const auto& [id, command] : estate_.commands.all()) {
            const auto sent = sent_.find(id);
            if (sent == sent_.end() || ports_.timers.now() - sent->second > seconds{30})
                send_command(command);
        }
        std::erase_if(live_.rest_until, [&](const auto& row) { return row.second <= estate_.micros(); });
        std::erase_if(sent_, [&](const auto& row) { return !estate_.commands.find(row.first); });
        CO_TRY(co_await sleep(ports_.timers, seconds{1}));
    }
    co_return Result<>{};
}

// By level: the keys follow what the store says of them, and whoever does not yet stand on them as it should
// is asked to renew its certificate, a part of them at a time.
void Term::rotate() {
    constexpr int asked_max = 500;
    constexpr Duration pause = seconds{30};
    if (estate_.authorities.all().empty() || read_only_) return;
    for (const auto& [fingerprint, row] : estate_.authorities.all())
        if (row.meta.version == 0 || row.meta.version > durable_) return;
    if (const auto followed = follow_authority(estate_, ports_.authority); !followed)
        return log_error("master: the authority's keys are not as they should be yet: {}",
                         followed.error().message);
    std::string aim;
    for (const AuthorityFacts& one : ports_.authority.all())
        aim += one.fingerprint + (one.issues ? "! " : " ");
    if (std::exchange(asked_for_, aim) != aim) renewed_.clear();  // The next step is told at once.
    uplink::Frame frame;
    frame.mutable_renew_wanted();
    const Instant now = ports_.timers.now();
    std::erase_if(renewed_, [&](const auto& row) { return now - row.second > pause; });
    int asked = 0;
    for (const Holding& one : holdings(estate_, ports_.authority, ports_.digest)) {
        if (one.current || renewed_.contains(one.name)) continue;
        if (asked >= asked_max) break;
        if (!send_to(one.name, frame)) continue;
        renewed_[one.name] = now;
        ++asked;
    }
}

bool Term::send_to(const std::string& name, const uplink::Frame& frame) {
    const auto slash = name.find('/');
    const std::string id = name.substr(slash + 1);
    if (name.starts_with("host/")) return send_to_host(id, frame);
    if (name.starts_with("access/")) {
        const auto link = access_.find(id);
        return link != access_.end() && link->second->try_send(frame).has_value();
    }
    bool sent = false;  // To all who say that they are this gateway: one may be a thief.
    for (wire::Link* one : gateways_)
        if (one->identity() == name) sent |= one->try_send(frame).has_value();
    return sent;
}

Task<> Term::archive() {
    constexpr Duration pause = seconds{1}, pause_of_many = std::chrono::milliseconds{20};
    while (!ended_) {
        const bool more = archive_instances(desk("master"));
        commit_then(nullptr);
        CO_TRY(co_await sleep(ports_.timers, more ? pause_of_many : pause));
    }
    co_return Result<>{};
}

// What is long over is taken out of the store once a day, the first time soon after the start.
Task<> Term::prune() {
    Duration pause = std::chrono::minutes{10};
    while (true) {
        CO_TRY(co_await sleep(ports_.timers, pause));
        pause = std::chrono::hours{24};
        const auto done = co_await ports_.store.prune(ports_.timers.wall() - settings_.history_kept);
        CO_TRY(co_await check_cancelled());
        if (!done)
            log_warn("master: records older than {} days were not deleted from the store: {}",
                     settings_.history_kept.count() / 24, done.error().message);
    }
}

void Term::publish(std::uint64_t number, std::vector<Touched> touched) {
    for (const Touched& one : touched)
        if (one.kind == Kind<UsedName>::name) live_.archiving.erase(one.id);
    for (const Touched& one : touched)
        if (one.kind == Kind<HostCommand>::name)
            if (const HostCommand* command = estate_.commands.find(one.id);
                command && !sent_.contains(one.id))
                send_command(*command);
    send_routes(touched);
    send_ended(touched);
    feed_.publish(number, std::move(touched));
}

// ── Hosts

void Term::add_access(const std::string& name, std::string version, std::uint32_t sessions_max,
                      wire::Link& link) {
    access_[name] = &link;
    live_.access_points[name] = {.connected = true,
                                 .version = std::move(version),
                                 .seen_at = ports_.timers.wall().time_since_epoch().count(),
                                 .sessions_max = sessions_max};
    tell_access();
}

void Term::drop_access(const std::string& name, wire::Link& link) {
    if (const auto at = access_.find(name); at == access_.end() || at->second != &link) return;
    access_.erase(name);
    live_.access_points[name].connected = false;
    std::set<std::string> moved;
    for (auto& [id, host] : live_.hosts) {
        const auto way = host.ways.find(name);
        if (way == host.ways.end()) continue;
        host_disconnected(desk_, id, name, std::uint64_t{way->second});
        moved.insert(id);
    }
    hosts_moved(moved);
    tell_access();
}

void Term::note_status(const std::string& access, std::uint32_t tunnels, std::uint32_t banned) {
    live_.access_points[access].tunnels = tunnels;
    live_.access_points[access].banned = banned;
}

// By level: whoever has not the list as it is now gets it, a part of them at a time.
void Term::tell_access() {
    constexpr int told_max = 500;
    uplink::Frame frame;
    write_access_list(desk_, *frame.mutable_access_list());
    if (frame.access_list().SerializeAsString() != access_list_->SerializeAsString()) {
        *access_list_ = frame.access_list();
        ++access_told_;
    }
    int told = 0;
    for (auto& [id, host] : live_.hosts) {
        if (!host.connected || !host.greeted || host.access_told == access_told_) continue;
        if (told++ >= told_max) break;
        if (send_to_host(id, frame)) host.access_told = access_told_;
    }
}

void Term::tell_drains() {
    for (auto& [name, link] : access_) {
        const AccessPoint* row = estate_.access_points.find(name);
        auto& told = live_.access_points[name].drain_told;
        if (!row || told == row->draining || row->meta.created == 0) continue;
        uplink::Frame frame;
        frame.mutable_drain()->set_draining(row->draining);
        if (link->try_send(frame)) told = row->draining;
    }
}

// The host says hello elsewhere. An older link is closed: were there another machine at its end, it would be
// invited anew, and found out.
void Term::add_host(const std::string& host, std::shared_ptr<wire::Link> link) {
    if (const auto before = std::exchange(said_hello_[host], link); before && before != link) before->close();
}

void Term::hang_up(const std::string& host) {
    if (const auto at = said_hello_.find(host); at != said_hello_.end()) at->second->close();
}

bool Term::drop_host(const std::string& host, const std::shared_ptr<wire::Link>& link) {
    const auto at = said_hello_.find(host);
    if (at == said_hello_.end() || at->second != link) return false;
    said_hello_.erase(at);
    return true;
}

bool Term::send_to_host(const std::string& host, const uplink::Frame& frame) {
    const auto link = said_hello_.find(host);
    return link != said_hello_.end() && link->second->try_send(frame).has_value();
}

void Term::acknowledged(const std::string& host, std::uint64_t sequence) {
    const auto live = live_.hosts.find(host);
    if (live != live_.hosts.end()) live->second.acknowledged = std::max(live->second.acknowledged, sequence);
}

void Term::watch_telemetry(const std::string& host) {
    constexpr std::chrono::milliseconds watched{15'000};
    const auto live = live_.hosts.find(host);
    const Instant now = ports_.timers.now();
    if (live == live_.hosts.end() || live->second.watched_until - now > watched / 2) return;
    uplink::Frame frame;
    frame.mutable_watch_telemetry()->set_interval_ms(
        static_cast<std::uint32_t>(settings_.watched_interval.count()));
    frame.mutable_watch_telemetry()->set_for_ms(static_cast<std::uint32_t>(watched.count()));
    if (send_to_host(host, frame)) live->second.watched_until = now + watched;
}

void Term::send_command(const HostCommand& command) {
    if (command.meta.created == 0 || command.meta.created > durable_)
        return;  // Intent is durable before any act.
    uplink::Frame frame;
    if (!write_command(desk_, epoch_, command, *frame.mutable_command())) return;
    if (send_to_host(command.host, frame)) sent_[command.id] = ports_.timers.now();
}

void Term::send_commands(const std::string& host) {
    for (const HostCommand* command : estate_.commands.by().host.of(host)) send_command(*command);
}

Task<uplink::Frame> Term::ask_host(std::string host, uplink::Frame frame, Duration deadline) {
    const auto self = shared_from_this();
    const auto at = said_hello_.find(host);
    if (at == said_hello_.end())
        co_return fail(Code::unavailable, fmt::format("host {} is not connected at the moment", host),
                       "host_unreachable");
    const auto link = at->second;
    auto answer = co_await link->ask(std::move(frame), deadline);
    CO_TRY(co_await check_cancelled());
    if (answer) co_return answer;
    if (ended_) co_return std::unexpected(*ended_);
    if (answer.error().code == Code::timeout)
        co_return fail(Code::timeout, fmt::format("host {} did not answer in time", host));
    if (link->closed())
        co_return fail(Code::unavailable, fmt::format("host {} went away before it had answered", host),
                       "host_unreachable");
    co_return answer;
}

void Term::cut_off(const std::string& host, const std::string& why) {
    uplink::Frame frame;
    frame.mutable_cut_off()->set_host(host);
    frame.mutable_cut_off()->set_why(why);
    frame.mutable_cut_off()->set_revoked(true);
    hang_up(host);
    // A link that is too full for this is too slow to be trusted with it: it comes back and is told at its
    // hello.
    for (auto& [name, link] : access_)
        if (!link->try_send(frame)) link->close();
}

// ── Gateways

void Term::add_gateway(wire::Link& link) {
    if (gateways_.empty()) live_.gateways_since = ports_.timers.wall().time_since_epoch().count();
    gateways_.push_back(&link);
    live_.gateways = static_cast<int>(gateways_.size());
}
void Term::drop_gateway(wire::Link& link) {
    std::erase(gateways_, &link);
    live_.gateways = static_cast<int>(gateways_.size());
}

void Term::send_all_routes(wire::Link& gateway) {
    uplink::Frame frame;
    uplink::Routes& routes = *frame.mutable_routes();
    routes.set_complete(true);
    routes.set_epoch(epoch_);
    routes.set_sign_in(settings_.public_url + "/sign-in");
    for (const auto& [id, instance] : estate_.instances.all()) add_routes(instance, routes);
    if (!gateway.try_send(frame)) gateway.close();
}

void Term::add_routes(const Instance& instance, uplink::Routes& routes) {
    write_routes(desk_, instance, routes);
    auto& names = routed_[instance.id];
    names.clear();
    for (const InstancePort& port : instance.spec.ports) names.push_back(route_name(instance, port.port));
}

void Term::hosts_moved(const std::set<std::string>& hosts) {
    if (hosts.empty()) return;
    std::set<std::string> there;
    for (const std::string& host : hosts)
        for (const Instance* instance : estate_.instances.by().host.of(host)) there.insert(instance->id);
    std::vector<Touched> touched;
    for (const std::string& id : there) touched.push_back({std::string{Kind<Instance>::name}, id});
    send_routes(touched);
}

void Term::send_routes(const std::vector<Touched>& touched) {
    uplink::Frame frame;
    uplink::Routes& routes = *frame.mutable_routes();
    routes.set_epoch(epoch_);
    routes.set_sign_in(settings_.public_url + "/sign-in");
    for (const Touched& one : touched) {
        if (one.kind != Kind<Instance>::name) continue;
        if (const Instance* instance = estate_.instances.find(one.id)) {
            add_routes(*instance, routes);
            continue;
        }
        for (const std::string& name : routed_[one.id]) routes.add_gone(name);
        routed_.erase(one.id);
    }
    if (routes.routes_size() == 0 && routes.gone_size() == 0) return;
    for (wire::Link* gateway : gateways_)
        if (!gateway->try_send(frame)) gateway->close();  // It comes back and gets them all.
}

// Gateways believe in an outage what they have not heard to be over.
void Term::send_ended(const std::vector<Touched>& touched) {
    uplink::Frame frame;
    for (std::string& mark : ended_marks(*this, touched))
        frame.mutable_credentials_ended()->add_marks(std::move(mark));
    if (!frame.has_credentials_ended()) return;
    for (wire::Link* gateway : gateways_)
        if (!gateway->try_send(frame))
            gateway->close();  // It comes back and asks about all that it believes.
}

}  // namespace hostler::master
