// The simulated world: machines whose processes live, die and come back, in one thread, from one seed.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "adapters/sim/authority.h"
#include "adapters/sim/bench.h"
#include "adapters/sim/clock.h"
#include "adapters/sim/engine.h"
#include "adapters/sim/faults.h"
#include "adapters/sim/leases.h"
#include "adapters/sim/network.h"
#include "adapters/sim/node_steps.h"
#include "adapters/sim/passwords.h"
#include "adapters/sim/pods.h"
#include "adapters/sim/storage.h"
#include "adapters/sim/telemetry.h"
#include "adapters/sim/worker.h"
#include "core/log.h"
#include "core/task_group.h"

namespace hostler::sim {

class World;
class Machine;

// What one life of a process stands on. When it dies all of this goes dead first: nothing that its tasks
// still do while they are taken down is seen by anybody.
class Life {
public:
    Life(Machine& machine, std::uint64_t number);

    std::shared_ptr<const void> alive = std::make_shared<char>();  // Reset when it dies.
    Loop loop;
    SimTimers timers;
    SimNet net;
    SimRandom random;
    SimWorker worker;
    SimJournal journal;
    SimVolumes volumes;
    SimNetworks networks;
    SimLogStore logs;
    SimLeases leases;
    SimNodeSteps node_steps;
    SimPodDevices pod_devices;
    SimTelemetry telemetry;
    SimHostTelemetry host;
    SimGpuBench gpu_bench;
    SimDiskBench disk_bench;
    SimKeys keys;
    SimDigest digest;
    SimPasswords passwords;
    std::unique_ptr<Engine> engine;      // The machine's, for this life.
    Images& images;                      // Of that engine.
    KeptLayers& layers;                  // The same,
    EngineEvents& events;                // and again,
    Processes& processes;                // and again.
    std::unique_ptr<Net> container_net;  // `net`, and the machine's containers.
    Machine& machine;
    TaskGroup tasks;
    std::shared_ptr<void> program;  // The role.
};

enum class Death {
    kill,   // The process ends at once: its system closes its connections and keeps what it wrote.
    power,  // The machine ends at once: silence, what was not synced is torn, containers end.
};

class Machine {
public:
    // Makes a role on a life, starts its tasks in life.tasks, and gives it back to be kept while the life
    // lasts.
    using Program = std::function<std::shared_ptr<void>(Life&)>;

    Machine(World& world, std::string name, int gpu_count, Skew skew);
    ~Machine();

    void boot(Program program);
    void boot() { boot(program_); }  // The same again.
    void crash(Death death = Death::kill);
    // The process is stopped (SIGSTOP): its system keeps its connections, and it does nothing at all. When it
    // goes on, all its timers are due at once and it knows nothing of what happened meanwhile.
    void pause();
    void go_on();
    void jump(std::chrono::microseconds by);  // Its wall clock; the monotonic one never does.
    void mend_clock() { jump(-std::exchange(jumped_, {})); }
    bool up() const { return life_ != nullptr; }
    bool awake() const { return up() && !paused_; }
    Life& life() { return *life_; }
    template <class Role>
    Role& role() {
        return *std::static_pointer_cast<Role>(life_->program);
    }

    World& world;
    const std::string name;
    Dice dice;
    Skew skew;
    SimVfs vfs;
    Disk disk;
    LeaseFiles lease_files;
    NodeHost node_host;
    PodHost pod_host;
    Gpus gpus;
    Loop engine_loop;  // Containers outlive the process.
    SimTimers engine_timers;
    SimNet engine_net;
    SimEngine engine;
    // What runs beside the process, and ends with the machine's power.
    SimTimers beside_timers;
    SimLeases beside_leases;
    std::unique_ptr<TaskGroup> beside;
    void end_beside();

private:
    friend class World;
    friend class Life;
    void bury(std::unique_ptr<Life> life);

    Program program_;
    std::unique_ptr<Life> life_;
    std::uint64_t lives_ = 0;
    std::uint64_t boots_ = 1;
    bool paused_ = false;
    std::chrono::microseconds jumped_{};
    Duration torn_for_{};  // When its power goes in a write: until it boots again.
};

class World {
public:
    explicit World(std::uint64_t seed);
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    Machine& machine(const std::string& name, int gpu_count = 0, Skew skew = {});  // Made at its first use.
    std::map<std::string, std::unique_ptr<Machine>>& machines() { return machines_; }

    // Lets everybody do all they can, then moves to the next wake-up, and so on for `time`.
    void run(Duration time);
    // Until `done`, at most for `time`. false: it never was.
    bool run_until(const std::function<bool()>& done, Duration time);
    // The answer of a task on the world's own loop, within `time`; else `timeout`.
    template <class T>
    Result<T> ask(Task<T> task, Duration time = std::chrono::seconds{60}) {
        auto answer = std::make_shared<std::optional<Result<T>>>();
        TaskGroup group{loop};
        group.start("ask", [](std::shared_ptr<std::optional<Result<T>>> into, Task<T> inner) -> Task<> {
            into->emplace(co_await std::move(inner));
            co_return Result<>{};
        }(answer, std::move(task)));
        const bool answered = run_until([&] { return answer->has_value(); }, time);
        group.cancel();
        settle();
        if (!answered) return fail(Code::timeout, "the world did not answer in time");
        return std::move(**answer);
    }
    void settle();  // All that can be done without time passing.

    std::uint64_t digest() const { return clock.digest.value(); }
    void note(std::string_view what);              // Goes into the digest, and into the story.
    std::vector<std::string> story;                // The last notes, for whoever looks at a failed seed.
    std::function<void()> after_each_step;         // Checkers.
    std::function<void(std::string_view)> on_log;  // The same, for each line that the living log.
    void allow_reboots(bool allowed) { reboots_ = allowed; }
    void strike(const Strike& strike);
    // Strikes as they come, from now on.
    void expect(std::vector<Strike> storm);

    const std::uint64_t seed;
    Dice dice;
    Clock clock;
    Network network;
    Faults faults;
    Loop loop;  // Of the test and of whoever has no machine.
    SimTimers timers;
    SimNet net;
    SimRandom random;
    SimAuthority authority;
    SimKeys keys;
    SimDigest hasher;

private:
    friend class Machine;
    static void tell(Level level, std::string_view line);
    void tick();
    void strike(Machine& machine, const Strike& strike);
    void down(Machine& machine, Death death, Duration time);
    void reboot(Machine& machine, Duration after);
    void later(Duration time, std::function<void()> what);
    std::size_t poll();

    std::map<std::string, std::unique_ptr<Machine>> machines_;
    std::vector<std::pair<std::string, std::uint64_t>>
        torn_;  // Machines whose power went in a job, and their lives.
    bool reboots_ = true;
    std::uint64_t ticks_ = 0;
    const Machine* busy_ = nullptr;  // Whose turn it is.
};

}  // namespace hostler::sim
