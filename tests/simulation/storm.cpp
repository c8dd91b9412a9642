#include "storm.h"

#include <fmt/format.h>

#include "checkers/audit_check.h"
#include "cluster_users.h"
#include "fresh.h"
#include "job_users.h"

namespace hostler::simulation {

namespace {

// What a seed brews: each has faults of its own, so that they meet in many ways. Conditions last for the
// whole storm, strikes come one by one; a case may leave out any of them.
class Brew {
public:
    Brew(Cloud& cloud, const Case& which) : cloud_(cloud), case_(which) {
        if (which.weather == Weather::calm) return;
        faults_.kill = 0.2 + some(0.6);
        faults_.power_cut = some(0.4);
        faults_.reboot_max = 15s;
        if (which.weather == Weather::deaths) return;
        faults_.lose_connections = some(0.5);
        faults_.partition = some(0.6);
        faults_.partition_max = 50s;
        faults_.engine_down = some(0.3);
        faults_.container_dies = some(0.3);
        faults_.disk_fails = some(0.5);
        faults_.disk_full = some(0.3);
        faults_.torn_write = some(0.8);
        faults_.pause = some(0.4);
        faults_.clock_jump = some(0.4);
        sim::Dice gpus = dice_.fork("gpus");
        if (gpus.chance(0.5)) faults_.gpu_breaks = 0.5 + 0.5 * static_cast<double>(gpus.below(5));
    }

    // From now on.
    void pour(Verdict& told) {
        std::vector<sim::Strike> storm;
        for (sim::Strike& strike : sim::brew(faults_, machines(), case_.storm, dice_)) {
            if (!cloud_.world.machines().contains(strike.machine) || !strikes_at(strike)) continue;
            if (!case_.has(case_.strikes, strike.name())) continue;
            // Leases are counted by it: by minutes, either way.
            constexpr int minutes_for_seconds = 3;
            if (strike.machine.starts_with("db-")) strike.jump *= minutes_for_seconds;
            told.strikes.push_back(strike.name());
            storm.push_back(std::move(strike));
        }
        cloud_.world.expect(std::move(storm));
        if (case_.weather == Weather::everything) conditions(told);
    }
    // Of tenants' people, whatever the weather.
    void trouble(Tenants& tenants, Verdict& told) {
        if (!case_.has(case_.conditions, "trouble")) return;
        told.conditions.push_back("trouble");
        tenants.trouble();
    }

private:
    double some(double most) {
        return dice_.chance(0.5) ? most * (0.2 + 0.2 * static_cast<double>(dice_.below(5))) : 0;
    }

    // Of a whole cloud: what a smaller one has not is left out, and the rest stays as it was.
    std::vector<std::string> machines() const {
        std::vector<std::string> all = {"gw", "host-0", "host-1", "lon", "nj"};
        if (case_.clusters) all.insert(all.end(), {"host-2", "host-3", "host-4"});
        if (cloud_.database) all.insert(all.end(), {"db-1", "db-2"});
        all.insert(all.end(), cloud_.masters.begin(), cloud_.masters.end());
        return all;
    }

    // Some things can happen to some machines only.
    static bool strikes_at(const sim::Strike& strike) {
        const bool host = strike.machine.starts_with("host-");
        const bool server = strike.machine.starts_with("db-");
        if (strike.what == sim::Trouble::torn_write) return strike.machine == "master";
        if (strike.what == sim::Trouble::disk_fails || strike.what == sim::Trouble::disk_full)
            return !server && !strike.machine.starts_with("m-");
        if (strike.what == sim::Trouble::engine_down || strike.what == sim::Trouble::container_dies ||
            strike.what == sim::Trouble::gpu_breaks)
            return host;
        return true;
    }

    void conditions(Verdict& told) {
        sim::Dice dice = dice_.fork("conditions");
        const auto with = [&](const std::string& name, double chance, auto effect) {
            const double value = dice.chance(0.5) ? 0.2 + 0.2 * static_cast<double>(dice.below(5)) : 0;
            if (value == 0 || !case_.has(case_.conditions, name)) return;
            told.conditions.push_back(name);
            effect(value * chance);
        };
        sim::World& world = cloud_.world;
        const auto everywhere = [&world](auto effect) {
            for (auto& [name, machine] : world.machines()) effect(*machine);
        };
        with("delay", 0.02, [&](double chance) { world.network.faults.delay = chance; });
        with("refuse_dial", 0.1, [&](double chance) { world.network.faults.refuse_dial = chance; });
        with("late_messages", 1, [&](double) { cloud_.late_messages = true; });
        with("slow_sync", 0.02, [&](double chance) { cloud_.master().vfs.faults.slow_sync = chance; });
        with("disk_fails", 0.01, [&](double chance) {
            everywhere([chance](Machine& machine) { machine.disk.faults.fail = chance; });
        });
        with("refuse_start", 0.1, [&](double chance) {
            everywhere([chance](Machine& machine) { machine.engine.faults.refuse_start = chance; });
        });
        with("slow_engine", 500, [&](double most_ms) {
            const std::chrono::milliseconds slow{static_cast<std::int64_t>(most_ms)};
            everywhere([slow](Machine& machine) { machine.engine.faults.slow = slow; });
        });
        with("supervisors_die", 0.03, [&](double chance) { cloud_.supervisors_die = chance; });
        with("late_news", 1500, [&](double most_ms) {
            const std::chrono::milliseconds late{static_cast<std::int64_t>(most_ms)};
            everywhere([late](Machine& machine) { machine.engine.faults.late_news = late; });
        });
        with("end_news", 0.2, [&](double chance) {
            everywhere([chance](Machine& machine) { machine.engine.faults.end_news = chance; });
        });
        with("drop_news", 0.1, [&](double chance) {
            everywhere([chance](Machine& machine) { machine.engine.faults.drop_news = chance; });
        });
        if (!case_.clusters) return;
        with("steps_fail", 0.2, [&](double chance) {
            everywhere([chance](Machine& machine) { machine.node_host.faults.fail = chance; });
        });
        with("steps_hang", 0.1, [&](double chance) {
            everywhere([chance](Machine& machine) { machine.node_host.faults.hang = chance; });
        });
        with("slow_steps", 15'000, [&](double most_ms) {
            const std::chrono::milliseconds slow{static_cast<std::int64_t>(most_ms)};
            everywhere([slow](Machine& machine) { machine.node_host.faults.time_max = slow; });
        });
        with("pods_fail", 0.9, [&](double chance) {
            everywhere([chance](Machine& machine) { machine.pod_host.faults.fail = chance; });
        });
        with("pods_hang", 0.5, [&](double chance) {
            everywhere([chance](Machine& machine) { machine.pod_host.faults.hang = chance; });
        });
        with("slow_pods", 2500, [&](double most_ms) {
            const std::chrono::milliseconds slow{static_cast<std::int64_t>(most_ms)};
            everywhere([slow](Machine& machine) { machine.pod_host.faults.time_max = slow; });
        });
    }

    Cloud& cloud_;
    const Case& case_;
    sim::Dice dice_ = cloud_.world.dice.fork("weather");
    sim::Faults faults_;
};

// In the calm it is looked at in a moment; a term that ended meanwhile is followed by another.
void look_at_audit_of(Cloud& cloud) {
    constexpr int tries_max = 30;
    const auto checked = std::make_shared<AuditChecked>();
    for (int tries = 0; tries < tries_max && !checked->done; ++tries) {
        if (const auto term = cloud.term()) check_audit(term, cloud.found, checked);
        cloud.world.run(1s);
    }
    if (!checked->done) cloud.found.report(Invariant::settled, "the audit could not be read");
}

// Whoever uses the cloud.
struct Users {
    Tenants& tenants;
    Readers& readers;
    JobUsers* jobs;
    ClusterUsers* clusters;

    void start(Cloud& cloud) {
        tenants.start();
        if (cloud.database) readers.start();
        if (jobs) jobs->start();
        if (clusters) clusters->start();
        cloud.on_recovery = [this, before = cloud.on_recovery](master::Term& term) {
            before(term);
            if (jobs) jobs->check(term);
            if (clusters) clusters->check(term);
        };
    }
    void stop() {
        tenants.stop();
        readers.stop();
        if (jobs) jobs->stop();
        if (clusters) clusters->stop();
    }
    bool done() const { return tenants.done() && (!jobs || jobs->done()) && (!clusters || clusters->done()); }
    std::string unsettled(const master::Term& term) const {
        std::string text = tenants.unsettled(term);
        if (text.empty() && jobs) text = jobs->unsettled(term);
        return text.empty() && clusters ? clusters->unsettled(term) : text;
    }
    void check(const master::Term& term) const {
        tenants.check(term);
        if (jobs) jobs->check(term);
        if (clusters) clusters->check(term);
    }
};

void storm_and_calm(Cloud& cloud, Users users, const Case& which, Verdict& told,
                    const std::function<void(const Verdict&)>& brewed) {
    Tenants& tenants = users.tenants;
    users.start(cloud);
    const auto look = [&] {
        if (const auto term = cloud.term()) tenants.check_idle(*term);
    };
    cloud.world.run(20s);
    const Instant began = cloud.world.timers.now();
    Brew brew{cloud, which};
    brew.pour(told);
    brew.trouble(tenants, told);
    if (brewed) brewed(told);
    while (cloud.world.timers.now() - began < which.storm && !cloud.found.any()) cloud.world.run(1s), look();
    cloud.world.note("calm");
    users.stop();
    cloud.forget_faults();
    const auto settled = [&] {
        if (!cloud.found.any() && !users.done()) return false;
        return cloud.found.any() || (cloud.unsettled().empty() && users.unsettled(*cloud.term()).empty());
    };
    for (Duration passed{}; passed < which.calm_max && !settled(); passed += 1s) {
        cloud.world.run(1s), look();
        cloud.forget_faults();
    }
    if (!settled())
        cloud.found.report(
            Invariant::settled,
            fmt::format("{}; {}", users.done() ? "all was answered" : "a call is never answered",
                        cloud.unsettled() + (cloud.term() ? users.unsettled(*cloud.term()) : "")));
    if (const auto term = cloud.term(); term && !cloud.found.any()) users.check(*term);
    if (!cloud.found.any()) look_at_audit_of(cloud);
    told.found_at = cloud.world.timers.now() - began;
}

}  // namespace

StormReport ride(const Case& which, Mistakes mistakes, const std::function<void(const Verdict&)>& brewed) {
    std::vector<std::string> names = {"red-team", "blue-team"};
    names.resize(std::min(names.size(), static_cast<std::size_t>(which.tenants)));
    Cloud cloud{which.seed,
                std::move(mistakes),
                which.hosts,
                4,
                {which.masters,
                 which.synchronous ? Database::Standby::synchronous : Database::Standby::asynchronous}};
    Tenants tenants{cloud, names};
    Readers readers{cloud};
    // Without a standby that has it all, what was acknowledged last may go with a primary. Hosts have obeyed
    // some of that: of what it told of, an instance may have been placed again, a volume deleted, a later
    // generation begun. All else holds of that, too, and all of everything that it did not tell of.
    if (!which.synchronous)
        cloud.not_of_lost = {Invariant::durable, Invariant::settled, Invariant::one_place, Invariant::layer};
    std::optional<JobUsers> jobs;
    if (which.jobs) jobs.emplace(cloud);
    std::optional<ClusterUsers> clusters;
    if (which.clusters) clusters.emplace(cloud);
    constexpr int actions_beside = 2;  // What they start stays where it is in the calm, too.
    tenants.actions_max =
        which.jobs || which.clusters ? std::min(which.actions_max, actions_beside) : which.actions_max;
    StormReport report;
    if (cloud.begin(names))
        storm_and_calm(cloud, {tenants, readers, jobs ? &*jobs : nullptr, clusters ? &*clusters : nullptr},
                       which, report.verdict, brewed);
    else
        cloud.found.report(Invariant::settled, "the cloud did not begin: " + cloud.unsettled());
    report.digest = cloud.world.digest();
    report.found = cloud.found;
    if (cloud.found.any()) {
        report.verdict.broken = name(cloud.found.all().front().invariant);
        report.verdict.text = cloud.found.text();
    }
    report.story = cloud.world.story;
    report.calls = tenants.calls;
    report.acknowledged = tenants.acknowledged;
    report.reads = readers.reads();
    report.taken = tenants.people.taken;
    report.refused = tenants.people.refused;
    report.watched = tenants.watchers.watched;
    report.cut = tenants.watchers.cut;
    report.over_quota = tenants.over_quota;
    if (jobs)
        report.jobs = jobs->submitted, report.cancelled = jobs->cancelled,
        report.sent_again = jobs->sent_again;
    if (clusters)
        report.clusters = clusters->created, report.scaled = clusters->scaled,
        report.saved = cloud.clusters.saved, report.deleted = clusters->deleted, report.made = clusters->made,
        report.pods = cloud.pods.begun(), report.named = cloud.pods_check.stored;
    report.evictions = cloud.queues.evictions;
    if (cloud.database) report.promoted = cloud.database->promoted(), report.lost = cloud.database->lost();
    for (const auto& [name, tenant] : tenants.all) report.opened += tenant.opened;
    for (const auto& [name, watched] : cloud.obedience) report.commands += watched.begun();
    if (const auto term = cloud.term()) {
        report.epochs = term->epoch();
        for (const auto& [id, instance] : term->look().estate.instances.all())
            report.running += instance.phase == InstancePhase::running;
    }
    cloud.end();  // While the tenants are still there.
    return report;
}

}  // namespace hostler::simulation
