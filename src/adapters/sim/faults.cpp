#include "adapters/sim/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace hostler::sim {

namespace {

double in_seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

// What may happen to one machine within one second, in turn.
class Second {
public:
    Second(const Faults& faults, const std::vector<std::string>& machines, Dice& dice)
        : faults_(faults), machines_(machines), dice_(dice) {}

    template <class Into>
    void each(Into into) {
        constexpr std::chrono::seconds soon{30};
        constexpr std::uint64_t calls_max = 50, free_max = 64 << 10;
        const auto when = [&](double a_minute, Strike strike) {
            if (a_minute > 0 && dice_.chance(a_minute / 60)) into(std::move(strike));
        };
        // Thrown whether or not it strikes, so that one rate does not shift what another one does.
        const bool one_way = dice_.chance(0.5);
        when(faults_.partition, {.what = one_way ? Trouble::partition_one_way : Trouble::partition,
                                 .other = machines_[dice_.below(machines_.size())],
                                 .lasts = up_to(faults_.partition_max)});
        when(faults_.lose_connections, {.what = Trouble::lose_connections, .number = dice_.next()});
        when(faults_.engine_down, {.what = Trouble::engine_down, .lasts = up_to(soon)});
        when(faults_.container_dies, {.what = Trouble::container_dies, .number = dice_.next()});
        when(faults_.disk_fails, {.what = Trouble::disk_fails, .number = 1 + dice_.below(calls_max)});
        when(faults_.disk_full,
             {.what = Trouble::disk_full, .lasts = up_to(soon), .number = dice_.below(free_max)});
        const Duration jump = up_to(faults_.jump_max) * (dice_.chance(0.5) ? 1 : -1);
        when(faults_.clock_jump,
             {.what = Trouble::clock_jump, .lasts = up_to(faults_.jump_max), .jump = jump});
        when(faults_.pause, {.what = Trouble::pause, .lasts = up_to(faults_.pause_max)});
        when(faults_.torn_write, {.what = Trouble::torn_write,
                                  .lasts = up_to(faults_.reboot_max),
                                  .number = 1 + dice_.below(calls_max)});
        when(faults_.power_cut, {.what = Trouble::power_cut, .lasts = up_to(faults_.reboot_max)});
        when(faults_.kill, {.what = Trouble::kill, .lasts = up_to(faults_.reboot_max)});
    }

private:
    Duration up_to(Duration most) {
        return Duration{static_cast<std::int64_t>(dice_.below(static_cast<std::uint64_t>(most.count()) + 1))};
    }
    const Faults& faults_;
    const std::vector<std::string>& machines_;
    Dice& dice_;
};

}  // namespace

std::string Strike::name() const { return fmt::format("{}.{}", machine, count); }

std::string Strike::words() const {
    const double time = in_seconds(lasts);
    switch (what) {
        case Trouble::lose_connections: return fmt::format("{} loses half of its connections", machine);
        case Trouble::kill: return fmt::format("{} is killed, for {:.1f} s", machine, time);
        case Trouble::power_cut: return fmt::format("{} loses power, for {:.1f} s", machine, time);
        case Trouble::pause: return fmt::format("{} is stopped, for {:.1f} s", machine, time);
        case Trouble::clock_jump:
            return fmt::format("the clock of {} jumps by {:.1f} s, for {:.1f} s", machine, in_seconds(jump),
                               time);
        case Trouble::partition:
            return fmt::format("{} and {} are cut off from each other, for {:.1f} s", machine, other, time);
        case Trouble::partition_one_way:
            return fmt::format("messages from {} to {} do not arrive, for {:.1f} s", machine, other, time);
        case Trouble::engine_down:
            return fmt::format("the engine of {} does not answer, for {:.1f} s", machine, time);
        case Trouble::container_dies: return fmt::format("a container of {} dies", machine);
        case Trouble::disk_fails: return fmt::format("the disk of {} fails at call {}", machine, number);
        case Trouble::disk_full: return fmt::format("the disk of {} is full, for {:.1f} s", machine, time);
        case Trouble::torn_write:
            return fmt::format("{} loses power at call {} to its disk, for {:.1f} s", machine, number, time);
        case Trouble::gpu_breaks: return fmt::format("a GPU of {} breaks, for {:.1f} s", machine, time);
    }
    return "";
}

std::vector<Strike> brew(const Faults& faults, const std::vector<std::string>& machines, Duration time,
                         const Dice& dice) {
    std::vector<Strike> all;
    for (const std::string& machine : machines) {
        Dice mine = dice.fork(machine);
        int count = 0;
        for (Duration second{}; second < time; second += std::chrono::seconds{1}) {
            const Duration part{static_cast<std::int64_t>(mine.below(1'000'000'000))};
            Second{faults, machines, mine}.each([&](Strike strike) {
                strike.at = second + part;
                strike.machine = machine;
                strike.count = ++count;
                if (strike.other != machine) all.push_back(std::move(strike));
            });
        }
        // With dice of their own: the other blows are the same with and without them.
        Dice gpus = dice.fork(machine + " gpus");
        constexpr std::uint64_t lasts_max_ms = 60'000;
        for (Duration second{}; second < time && faults.gpu_breaks > 0; second += std::chrono::seconds{1}) {
            if (!gpus.chance(faults.gpu_breaks / 60)) continue;
            Strike strike{.at = second, .what = Trouble::gpu_breaks, .machine = machine, .count = ++count};
            strike.lasts = std::chrono::milliseconds{gpus.below(lasts_max_ms)};
            strike.number = gpus.next();
            all.push_back(std::move(strike));
        }
    }
    std::ranges::sort(all, {}, [](const Strike& one) { return std::tie(one.at, one.machine, one.count); });
    return all;
}

}  // namespace hostler::sim
