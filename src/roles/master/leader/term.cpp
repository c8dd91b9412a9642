#include "roles/master/leader/term.h"

#include <fmt/format.h>

#include "core/log.h"
#include "ports/audit_chain.h"
#include "proto/uplink.pb.h"
#include "roles/master/state/feature.h"
#include "roles/master/state/retention.h"
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
      changes_(settings.changes_max),
      number_(number),
      durable_(number),
      tasks_(ports.loop) {
    estate_.seal_with(ports_.sealer);
    live_.began_at = ports_.timers.wall().time_since_epoch().count();
}

Term::~Term() = default;

void Term::begin_with(Estate estate) {
    estate_ = std::move(estate);
    estate_.seal_with(ports_.sealer);
    audit_head_ = estate_.audit_state().head;
}

Desk& Term::desk(std::string actor) {
    estate_.begin(std::move(actor), ports_.timers.wall());
    return desk_;
}

Task<> Term::commit() {
    const auto self = shared_from_this();  // A caller may be all that keeps an ended term.
    if (read_only_) co_return std::unexpected(*read_only_);
    commit_then(nullptr);
    co_return co_await wait_durable();
}

Task<> Term::settled() {
    const auto self = shared_from_this();
    CO_TRY(co_await wait_durable());
    if (ended()) end(lease_lost());
    if (ended_) co_return std::unexpected(*ended_);
    co_return Result<>{};
}

Task<> Term::wait_durable() {
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
        chain_lines(ports_.digest, changes.number, changes.audit, audit_head_);
        tasks_.start("commit", write(std::move(changes), std::move(touched), estate_.take_notices()));
    }
    if (!then) return;
    if (durable_ >= number_)
        then();
    else
        afterwards_.emplace(number_, std::move(then));
}

Task<> Term::write(Changes changes, std::vector<Touched> touched, std::vector<Notice> notices) {
    const std::uint64_t number = changes.number;
    if (const auto done = co_await ports_.store.commit(std::move(changes)); !done) {
        if (done.error().code != Code::cancelled) end(done.error());
        co_return Result<>{};
    }
    durable_ = std::max(durable_, number);
    publish(number, std::move(touched), std::move(notices));
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
    changes_.close();
    durable_changed_.notify_all();
    ending_.notify_all();
    afterwards_.clear();  // They hold this term.
    each_feature(&Feature::ended, *this);
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
    tasks_.start("prune", prune());
    each_feature(&Feature::start, *this);
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
        each_feature(&Feature::sweep, *this, now);
        forget_what_is_over(now);
        commit_then(nullptr);
        each_feature(&Feature::tell, *this);
        changes_.beat();
        if (ports_.timers.now() - beat_ >= seconds{15}) {
            beat_ = ports_.timers.now();
            feed_.beat();
        }
        live_.rest_until.erase_if([&](const auto& row) { return row.second <= estate_.micros(); });
        CO_TRY(co_await sleep(ports_.timers, seconds{1}));
    }
    co_return Result<>{};
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
        CO_TRY(co_await prune_audit());
    }
}

Task<> Term::prune_audit() {
    const WallTime before = ports_.timers.wall() - settings_.audit_kept;
    const auto lines = co_await ports_.store.prune_audit(before);
    CO_TRY(co_await check_cancelled());
    if (!lines)
        log_warn("master: lines of the audit older than {} days were not deleted from the store: {}",
                 settings_.audit_kept.count() / 24, lines.error().message);
    else if (*lines > 0)
        log_info("master: {} lines of the audit were older than {} days and are deleted from the store",
                 *lines, settings_.audit_kept.count() / 24);
    live_.audit_pruned += lines.value_or(0);
    co_return Result<>{};
}

void Term::publish(std::uint64_t number, std::vector<Touched> touched, std::vector<Notice> notices) {
    each_feature(&Feature::published, *this, std::span<const Touched>{touched});
    feed_.publish(number, std::move(touched));
    changes_.publish(std::move(notices));
}

// ── Hosts

bool Term::drop_access(const std::string& name, wire::Link& link) {
    const auto at = access_.find(name);
    if (at == access_.end() || at->second != &link) return false;
    access_.erase(at);
    return true;
}

// The host says hello on this link. An older link is closed: another machine at its end would be invited
// again, and its boot would be recognized as a second one.
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

}  // namespace hostler::master
