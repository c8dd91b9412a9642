#include "roles/agent/leases.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/log.h"
#include "core/task_group.h"
#include "proto/uplink.pb.h"
#include "roles/agent/supervisor.h"

namespace hostler::agent {

namespace {

constexpr Duration supervisor_deadline = seconds{15};  // To begin to watch over a lease.
constexpr Duration supervisor_again = seconds{1};      // It may have ended for want of leases at that moment.
constexpr Duration supervisor_look = milliseconds{20};
// A lease that is about to run out is not renewed: its supervisor may have read it already.
constexpr std::int64_t guard_max_us = 10'000'000;

std::unexpected<Error> is_over(const std::string& instance, std::uint64_t generation) {
    return fail(Code::conflict,
                fmt::format("the lease of instance {}, generation {}, has run out", instance, generation),
                "lease_ended");
}

}  // namespace

std::uint64_t Leases::stamp_us() const { return static_cast<std::uint64_t>(since_boot_us(ports_.timers)); }

Task<> Leases::load(std::string boot) {
    boot_ = std::move(boot);
    if (!kept()) co_return Result<>{};
    for (const RunLease& lease : CO_TRY(co_await ports_.leases->granted())) held_[lease.instance] = lease;
    durable_ = held_;
    co_return Result<>{};
}

Task<> Leases::hold(std::string instance, std::uint64_t generation, uplink::Lease granted) {
    if (!kept())
        co_return fail(Code::unavailable, "this host keeps no leases, and so runs nothing that may move",
                       "no_leases");
    const auto known = held_.find(instance);
    if (known != held_.end() && known->second.generation > generation)
        co_return is_over(instance, generation);
    constexpr std::uint64_t most_us = std::uint64_t{1} << 52;
    const std::uint64_t length_us = std::min(granted.length_ms(), most_us / 1000) * 1000;
    RunLease lease{instance, generation, granted.boot_id(),
                   static_cast<std::int64_t>(std::min(granted.stamp_us(), most_us) + length_us),
                   static_cast<std::int64_t>(length_us)};
    // A copy of the command may be older than what was renewed since.
    if (known != held_.end() && known->second.generation == generation) lease = known->second;
    if (has_run_out(lease, boot_, since_boot_us(ports_.timers))) co_return is_over(instance, generation);
    if (known == held_.end() && held_.size() >= LeaseBook::leases_max)
        co_return fail(Code::exhausted, "this host keeps as many leases as it can", "too_many_leases");
    held_[instance] = std::move(lease);
    ++wanted_;
    CO_TRY(co_await write());
    CO_TRY(co_await await_supervisor(instance, generation));
    if (ended(instance, generation)) co_return is_over(instance, generation);
    co_return Result<>{};
}

Task<> Leases::await_supervisor(std::string instance, std::uint64_t generation) {
    const Instant until = ports_.timers.now() + supervisor_deadline;
    std::optional<Instant> asked;
    while (true) {
        if (!asked || ports_.timers.now() - *asked >= supervisor_again) {
            asked = ports_.timers.now();
            CO_TRY(co_await ports_.leases->supervise(boot_));
        }
        const auto watched = CO_TRY(co_await ports_.leases->watched());
        if (std::ranges::any_of(watched, [&](const WatchedLease& one) {
                return one.instance == instance && one.generation == generation;
            }))
            co_return Result<>{};
        if (ports_.timers.now() >= until)
            co_return fail(Code::unavailable, "the supervisor of leases does not answer", "no_supervisor");
        CO_TRY(co_await sleep(ports_.timers, supervisor_look));
    }
}

Task<> Leases::renew(uplink::ReportAck ack, std::uint64_t epoch) {
    if (!kept() || ack.epoch() < epoch) co_return Result<>{};
    const std::int64_t now = since_boot_us(ports_.timers);
    bool changed = false;
    for (const auto& confirmed : ack.leases()) {
        const auto found = held_.find(confirmed.instance());
        if (found == held_.end() || found->second.generation != confirmed.generation()) continue;
        RunLease& lease = found->second;
        const std::int64_t until =
            std::min<std::int64_t>(now, static_cast<std::int64_t>(ack.stamp_us())) + lease.length_us;
        if (is_too_late_for(lease) || until <= lease.until_us) continue;
        lease.until_us = until;
        changed = true;
    }
    if (!changed) co_return Result<>{};
    ++wanted_;
    const auto written = co_await write();
    CO_TRY(co_await check_cancelled());
    if (!written) log_warn("leases are not renewed yet: {}", written.error().message);
    co_return Result<>{};
}

const RunLease& Leases::enforced(const RunLease& lease) const {
    const auto found = durable_.find(lease.instance);
    return found != durable_.end() && found->second.generation == lease.generation ? found->second : lease;
}

bool Leases::is_too_late_for(const RunLease& lease) const {
    const std::int64_t guard = std::min(lease.length_us / 10, guard_max_us);
    return has_run_out(enforced(lease), boot_, since_boot_us(ports_.timers) + guard);
}

bool Leases::holds(const std::string& instance, std::uint64_t generation) const {
    const auto found = held_.find(instance);
    return found != held_.end() && found->second.generation == generation && !ended(instance, generation);
}

bool Leases::ended(const std::string& instance, std::uint64_t generation) const {
    const auto found = held_.find(instance);
    return found != held_.end() && found->second.generation == generation &&
           has_run_out(enforced(found->second), boot_, since_boot_us(ports_.timers));
}

Task<> Leases::drop(std::string instance) {
    if (held_.erase(instance) == 0) co_return Result<>{};
    ++wanted_;
    const auto written = co_await write();
    CO_TRY(co_await check_cancelled());
    if (!written) log_warn("the lease of {} is not dropped yet: {}", instance, written.error().message);
    co_return Result<>{};
}

Task<> Leases::look(const Workloads& workloads, const std::function<bool(const std::string&)>& busy) {
    if (!kept()) co_return Result<>{};
    std::vector<std::string> gone;
    for (const auto& [instance, lease] : held_)
        if (workloads.known() && !workloads.find(instance) && !busy(instance) &&
            ended(instance, lease.generation))
            gone.push_back(instance);
    for (std::string& instance : gone) CO_TRY(co_await drop(std::move(instance)));
    if (written_ != wanted_) (void)co_await write();
    if (!held_.empty()) {
        const auto there = co_await ports_.leases->supervise(boot_);
        CO_TRY(co_await check_cancelled());
        if (!there) log_warn("no supervisor watches over leases: {}", there.error().message);
    }
    co_return co_await check_cancelled();
}

// One at a time; who comes meanwhile is written with the next.
Task<> Leases::write() {
    const std::uint64_t mine = wanted_;
    while (writing_) CO_TRY(co_await wrote_.wait());
    if (written_ >= mine) co_return Result<>{};
    struct Turn {
        bool& writing;
        Signal& over;
        explicit Turn(bool& flag, Signal& signal) : writing(flag), over(signal) { writing = true; }
        ~Turn() {
            writing = false;
            over.notify_all();
        }
        Turn(const Turn&) = delete;
    } const turn{writing_, wrote_};
    const std::uint64_t upto = wanted_;
    std::vector<RunLease> all;
    std::map<std::string, RunLease> durable;
    for (auto& [instance, lease] : held_) {
        if (is_too_late_for(lease)) lease = enforced(lease);
        durable[instance] = lease;
        all.push_back(lease);
    }
    CO_TRY(co_await ports_.leases->grant(std::move(all)));
    durable_ = std::move(durable);
    written_ = upto;
    co_return Result<>{};
}

}  // namespace hostler::agent
