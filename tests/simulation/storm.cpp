#include "storm.h"

#include <fmt/format.h>

namespace hostler::simulation {

namespace {

// Each seed has faults of its own, so that they meet in many ways.
void brew(Cloud& cloud, Weather weather) {
    sim::Dice dice = cloud.world.dice.fork("weather");
    const auto some = [&](double most) {
        return dice.chance(0.5) ? most * (0.2 + 0.2 * static_cast<double>(dice.below(5))) : 0;
    };
    sim::Faults& faults = cloud.world.faults;
    if (weather == Weather::calm) return;
    faults.kill = 0.2 + some(0.6);
    faults.power_cut = some(0.4);
    faults.reboot_max = 15s;
    if (weather == Weather::deaths) return;
    faults.lose_connection = some(1);
    faults.partition = some(0.6);
    faults.partition_max = 50s;
    faults.engine_down = some(0.3);
    faults.container_dies = some(0.3);
    faults.disk_fails = some(0.5);
    faults.disk_full = some(0.3);
    faults.torn_write = some(0.8);
    cloud.world.network.faults.delay = some(0.02);
    cloud.world.network.faults.refuse_dial = some(0.1);
    cloud.late_messages = dice.chance(0.7);
    cloud.master().vfs.faults.slow_sync = some(0.02);
    for (const std::string& host : cloud.hosts) {
        cloud.world.machine(host).disk.faults.fail = some(0.01);
        cloud.world.machine(host).engine.faults.refuse_start = some(0.1);
        cloud.world.machine(host).engine.faults.slow =
            std::chrono::milliseconds{static_cast<std::int64_t>(some(500))};
    }
}

}  // namespace

StormReport ride(std::uint64_t seed, Weather weather, Mistakes mistakes, Length length) {
    const std::vector<std::string> names = {"red-team", "blue-team"};
    Cloud cloud{seed, std::move(mistakes)};
    Tenants tenants{cloud, names};
    StormReport report{.seed = seed};
    if (!cloud.begin(names)) {
        cloud.found.report(Invariant::settled, "the cloud did not begin: " + cloud.unsettled());
    } else {
        tenants.start();
        const auto look = [&] {
            if (const auto term = cloud.term()) tenants.check_idle(*term);
        };
        cloud.world.run(20s);
        brew(cloud, weather);
        for (Duration passed{}; passed < length.storm && !cloud.found.any(); passed += 5s)
            cloud.world.run(5s), look();
        cloud.world.note("calm");
        tenants.stop();
        cloud.world.allow_reboots(true);
        cloud.forget_faults();
        const auto settled = [&] {
            if (!cloud.found.any() && !tenants.done()) return false;
            return cloud.found.any() ||
                   (cloud.unsettled().empty() && tenants.unsettled(*cloud.term()).empty());
        };
        for (Duration passed{}; passed < length.calm_max && !settled(); passed += 1s) {
            cloud.world.run(1s), look();
            cloud.forget_faults();
        }
        if (!settled())
            cloud.found.report(
                Invariant::settled,
                fmt::format("{}; {}", tenants.done() ? "all was answered" : "a call is never answered",
                            cloud.unsettled() + (cloud.term() ? tenants.unsettled(*cloud.term()) : "")));
        if (const auto term = cloud.term(); term && !cloud.found.any()) tenants.check(*term);
    }
    report.digest = cloud.world.digest();
    report.found = cloud.found;
    report.story = cloud.world.story;
    report.calls = tenants.calls;
    report.acknowledged = tenants.acknowledged;
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
