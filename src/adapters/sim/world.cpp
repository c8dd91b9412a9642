#include "adapters/sim/world.h"

#include <fmt/format.h>

#include "core/log.h"

namespace hostler::sim {

namespace {

constexpr std::chrono::seconds tick_time{1};

// The machine's engine as one life sees it: a dead process asks for nothing more.
class LifeEngine final : public Engine,
                         public Images,
                         public KeptLayers,
                         public EngineEvents,
                         public Processes {
public:
    LifeEngine(SimEngine& engine, std::weak_ptr<const void> life) : engine_(engine), life_(std::move(life)) {}
    Task<EngineFacts> describe() override {
        return ask<EngineFacts>([this] { return engine_.describe(); });
    }
    Task<> pull(ImageWanted image, PullSeen seen) override {
        return ask<void>(
            [this, image = std::move(image), seen = std::move(seen)] { return engine_.pull(image, seen); });
    }
    Task<Container> launch(ContainerSpec spec) override {
        return ask<Container>([this, spec = std::move(spec)] { return engine_.launch(spec); });
    }
    Task<StopEnd> stop(std::string name, Duration grace) override {
        return ask<StopEnd>([this, name = std::move(name), grace] { return engine_.stop(name, grace); });
    }
    Task<> remove(std::string name, LayerEnd layer) override {
        return ask<void>([this, name = std::move(name), layer] { return engine_.remove(name, layer); });
    }
    Task<std::vector<Container>> list(std::string label, std::string value) override {
        return ask<std::vector<Container>>([this, label = std::move(label), value = std::move(value)] {
            return engine_.list(label, value);
        });
    }
    Task<LogPart> logs(std::string name, LogsWanted wanted) override {
        return ask<LogPart>([this, name = std::move(name), wanted] { return engine_.logs(name, wanted); });
    }
    Task<std::vector<KeptLayer>> kept() override {
        return ask<std::vector<KeptLayer>>([this] { return engine_.kept(); });
    }
    Task<std::map<std::string, DiskUse>> uses() override {
        return ask<std::map<std::string, DiskUse>>([this] { return engine_.uses(); });
    }
    Task<std::size_t> make_ahead(std::size_t count, std::uint64_t bytes) override {
        return ask<std::size_t>([this, count, bytes] { return engine_.make_ahead(count, bytes); });
    }
    Task<std::vector<std::string>> image_names() override {
        return ask<std::vector<std::string>>([this] { return engine_.image_names(); });
    }
    Task<> follow(std::string label, std::string value, std::function<void(EngineNews)> tell) override {
        return ask<void>([this, label = std::move(label), value = std::move(value), tell = std::move(tell)] {
            return engine_.follow(label, value, tell);
        });
    }
    Task<> answers() override {
        return ask<void>([this] { return engine_.answers(); });
    }
    Task<std::vector<std::string>> listening(std::string container, std::uint16_t port) override {
        return ask<std::vector<std::string>>(
            [this, container = std::move(container), port] { return engine_.listening(container, port); });
    }
    Task<std::map<std::string, MemoryKills>> memory_kills(std::vector<std::string> containers) override {
        return ask<std::map<std::string, MemoryKills>>(
            [this, containers = std::move(containers)] { return engine_.memory_kills(containers); });
    }

private:
    template <class T>
    Task<T> ask(std::function<Task<T>()> call) {
        if (life_.expired()) co_return fail(Code::unavailable, "this process is dead");
        CO_TRY(co_await check_cancelled());
        co_return co_await call();
    }
    SimEngine& engine_;
    std::weak_ptr<const void> life_;
};

// What the roles log is part of the story; what the dead log is not.
thread_local World* telling = nullptr;

}  // namespace

void World::tell(Level level, std::string_view line) {
    constexpr std::array<std::string_view, 4> names = {"debug", "info", "warn", "error"};
    if (telling && telling->on_log) telling->on_log(line);
    if (telling && level != Level::debug)
        telling->note(fmt::format("{}: {}: {}", telling->busy_ ? telling->busy_->name : "-",
                                  names[static_cast<std::size_t>(level)], line));
}

Life::Life(Machine& on, std::uint64_t number)
    : timers(on.world.clock, on.skew),
      net(on.world.network, on.name, timers),
      random(on.dice.fork(fmt::format("random {}", number))),
      worker(timers, on.vfs),
      journal(on.disk, timers),
      volumes(on.disk, timers),
      networks(on.disk, timers),
      logs(on.disk, timers),
      leases(on.lease_files, on.disk, timers),
      node_steps(on.node_host, timers, alive),
      pod_devices(on.pod_host, timers),
      telemetry(on.gpus, on.dice.fork(fmt::format("telemetry {}", number))),
      host(on.name, fmt::format("boot-{}-{}", on.name, on.boots_), on.engine),
      gpu_bench(timers, on.gpus),
      disk_bench(timers),
      keys(on.dice.fork(fmt::format("keys {}", number))),
      passwords(timers, on.dice.fork(fmt::format("passwords {}", number))),
      engine(std::make_unique<LifeEngine>(on.engine, alive)),
      images(dynamic_cast<Images&>(*engine)),
      layers(dynamic_cast<KeptLayers&>(*engine)),
      events(dynamic_cast<EngineEvents&>(*engine)),
      processes(dynamic_cast<Processes&>(*engine)),
      container_net(on.engine.container_net(net)),
      machine(on),
      tasks(loop) {}

Machine::Machine(World& in, std::string called, int gpu_count, Skew with)
    : world(in),
      name(std::move(called)),
      dice(in.dice.fork(name)),
      skew(with),
      vfs(dice.fork("vfs").next()),
      disk(dice.fork("disk")),
      node_host(dice.fork("nodes")),
      pod_host(dice.fork("pods")),
      gpus(name, gpu_count),
      engine_timers(in.clock),
      engine_net(in.network, name, engine_timers),
      engine(engine_loop, engine_timers, engine_net, dice.fork("engine")),
      beside_timers(in.clock, with),
      beside_leases(lease_files, disk, beside_timers),
      beside(std::make_unique<TaskGroup>(engine_loop)) {
    engine.networks_in_use = &disk.networks_in_use;
    engine.note = [this](std::string_view what) { world.note(fmt::format("{}: {}", name, what)); };
    for (const auto& gpu : gpus.inventory.gpus) engine.devices.insert(gpu.cdi_name);
    node_host.beside = &beside_timers;
    vfs.faults.sync_time = std::chrono::milliseconds{2};
    vfs.faults.call_time = std::chrono::microseconds{10};
}

Machine::~Machine() {
    if (life_) bury(std::move(life_));
    node_host.power_cut();
    TaskGroup group{engine_loop};
    end_beside();
    group.start("engine", engine.close());
    engine_net.cut(Cut::reset);
    engine_loop.restart();
    while (engine_loop.poll() > 0) engine_loop.restart();
}

void Machine::boot(Program program) {
    HOSTLER_ASSERT(!life_ && "a machine runs one program");
    world.network.power(name, true);
    program_ = std::move(program);
    life_ = std::make_unique<Life>(*this, ++lives_);
    life_->worker.power_went = [this, number = lives_] { world.torn_.emplace_back(name, number); };
    world.note(fmt::format("{} boots", name));
    life_->program = program_(*life_);
}

void Machine::pause() {
    if (!awake()) return;
    world.note(fmt::format("{} stops", name));
    paused_ = true;
    life_->timers.stop();
}

void Machine::go_on() {
    if (!up() || !paused_) return;
    world.note(fmt::format("{} goes on", name));
    paused_ = false;
    life_->timers.go_on();
}

void Machine::jump(std::chrono::microseconds by) {
    skew.wall += by;
    if (life_) life_->timers.jump(by);
}

void Machine::crash(Death death) {
    if (!life_) return;
    world.note(fmt::format("{} {}", name, death == Death::kill ? "is killed" : "loses power"));
    auto life = std::move(life_);
    paused_ = false;
    life->net.cut(death == Death::kill ? Cut::reset : Cut::silence);
    if (death == Death::power) {
        world.network.power(name, false);
        if (!vfs.crashed_on_call()) vfs.crash();
        end_beside();
        engine.power_cut();
        ++boots_;
    } else {
        vfs.close_all();
    }
    vfs.forget_calls();
    bury(std::move(life));
    if (death == Death::power) node_host.power_cut(), pod_host.power_cut();
}

void Machine::end_beside() {
    beside->cancel();
    while (beside->size() > 0) {
        engine_loop.restart();
        const auto done = engine_loop.poll();
        HOSTLER_ASSERT((done > 0 || beside->size() == 0) && "a cancelled task waits for something");
    }
    beside = std::make_unique<TaskGroup>(engine_loop);
}

// Everything that the dead could reach is cut, and only then are its tasks asked to end: what they still do
// is seen by nobody, and their memory is given back in order.
void Machine::bury(std::unique_ptr<Life> life) {
    constexpr int turns_max = 100'000;
    life->net.cut(Cut::reset);
    life->worker.cut();
    life->timers.cut();
    life->alive.reset();
    World* const telling_before = std::exchange(telling, nullptr);
    life->tasks.cancel();
    for (int turn = 0; life->tasks.size() > 0; ++turn) {
        life->loop.restart();
        const auto done = life->loop.poll();
        HOSTLER_ASSERT((done > 0 || life->tasks.size() == 0) && "a cancelled task waits for something");
        HOSTLER_ASSERT(turn < turns_max && "a cancelled task continues");
    }
    life->program.reset();
    life->loop.restart();
    life->loop.poll();
    life.reset();
    telling = telling_before;
}

World::World(std::uint64_t with)
    : seed(with),
      dice(with),
      network(clock, dice.fork("network")),
      timers(clock),
      net(network, "world", timers),
      random(dice.fork("world")),
      authority(dice.fork("authority")),
      keys(dice.fork("keys")) {
    clock.schedule(clock.now() + tick_time, [this] { tick(); });
    telling = this;
    set_log_sink(tell);
}

World::~World() {
    telling = nullptr;  // What the last of them say is told to nobody.
    machines_.clear();
    net.cut(Cut::reset);
    settle();
    set_log_sink(nullptr);
}

Machine& World::machine(const std::string& name, int gpu_count, Skew skew) {
    auto& there = machines_[name];
    if (!there) there = std::make_unique<Machine>(*this, name, gpu_count, skew);
    return *there;
}

std::size_t World::poll() {
    std::size_t done = 0;
    const auto turn = [&](Loop& one) {
        one.restart();
        done += one.poll();
    };
    turn(loop);
    for (auto& [name, machine] : machines_) {
        busy_ = machine.get();
        if (machine->awake()) turn(machine->life_->loop);
        turn(machine->engine_loop);
    }
    busy_ = nullptr;
    return done;
}

void World::settle() {
    constexpr int turns_max = 1'000'000;
    int turn = 0;
    do {
        while (poll() > 0) HOSTLER_ASSERT(++turn < turns_max && "a task is busy without time passing");
        for (const auto& [name, life] : std::exchange(torn_, {}))
            if (auto& torn = *machines_.at(name); torn.lives_ == life)
                down(torn, Death::power, torn.torn_for_);
    } while (poll() > 0);
}

void World::run(Duration time) {
    run_until([] { return false; }, time);
}

bool World::run_until(const std::function<bool()>& done, Duration time) {
    const Instant end = clock.now() + time;
    while (true) {
        settle();
        if (after_each_step) after_each_step();
        if (done()) return true;
        if (!clock.step(end)) return false;
    }
}

void World::note(std::string_view what) {
    constexpr std::size_t story_max = 4096;
    clock.digest.add(what);
    if (story.size() >= story_max) story.erase(story.begin(), story.begin() + story_max / 2);
    story.push_back(fmt::format("{:>12.6f} {}",
                                std::chrono::duration<double>(clock.now().time_since_epoch()).count(), what));
}

void World::later(Duration time, std::function<void()> what) {
    clock.schedule(clock.now() + time, std::move(what));
}

void World::tick() {
    std::vector<std::string> names;
    for (const auto& [name, machine] : machines_) names.push_back(name);
    for (const Strike& one : brew(faults, names, tick_time, dice.fork(fmt::format("tick {}", ++ticks_))))
        strike(one);
    later(tick_time, [this] { tick(); });
}

void World::expect(std::vector<Strike> storm) {
    for (Strike& one : storm) later(one.at, [this, one = std::move(one)] { strike(one); });
}

void World::strike(const Strike& strike) {
    const auto found = machines_.find(strike.machine);
    if (found != machines_.end()) this->strike(*found->second, strike);
}

void World::reboot(Machine& machine, Duration after) {
    if (!reboots_) return;
    later(after, [&machine] {
        if (!machine.up() && machine.program_) machine.boot();
    });
}

void World::down(Machine& machine, Death death, Duration time) {
    if (!machine.up()) return;
    machine.crash(death);
    reboot(machine, time);
}

void World::strike(Machine& machine, const Strike& strike) {
    note(fmt::format("! {}", strike.words()));
    switch (strike.what) {
        case Trouble::lose_connections:
            return network.break_connections(machine.name, 0.5, Dice{strike.number});
        case Trouble::kill: return down(machine, Death::kill, strike.lasts);
        case Trouble::power_cut: return down(machine, Death::power, strike.lasts);
        case Trouble::pause:
            if (!machine.awake()) return;
            machine.pause();
            return later(strike.lasts, [&machine, life = machine.lives_] {
                if (machine.up() && machine.lives_ == life) machine.go_on();
            });
        case Trouble::clock_jump: {
            const auto by = std::chrono::duration_cast<std::chrono::microseconds>(strike.jump);
            machine.mend_clock();
            machine.jumped_ = by;
            machine.jump(by);
            return later(strike.lasts, [&machine] { machine.mend_clock(); });
        }
        case Trouble::partition:
        case Trouble::partition_one_way:
            network.partition(machine.name, strike.other,
                              strike.what == Trouble::partition ? Network::Ways::both : Network::Ways::one);
            return later(strike.lasts, [this, a = machine.name, b = strike.other] { network.heal(a, b); });
        case Trouble::engine_down:
            machine.engine.faults.down = true;
            return later(strike.lasts, [&machine] { machine.engine.faults.down = false; });
        case Trouble::container_dies: {
            const auto standing = machine.engine.standing();
            if (standing.empty()) return;
            return machine.engine.kill(standing[strike.number % standing.size()].spec.name, 139);
        }
        case Trouble::disk_fails:
            machine.disk.faults.fail_next = true;
            return machine.vfs.fail_call(strike.number);
        case Trouble::disk_full:
            machine.vfs.capacity = machine.vfs.used() + strike.number;
            machine.disk.faults.full = true;
            return later(strike.lasts, [&machine] {
                machine.vfs.capacity = UINT64_MAX;
                machine.disk.faults.full = false;
            });
        case Trouble::gpu_breaks: {
            if (machine.gpus.conditions.empty()) return;
            const std::size_t gpu = machine.gpus.break_one(strike.number);
            return later(strike.lasts, [&machine, gpu] { machine.gpus.reset(gpu); });
        }
        case Trouble::torn_write:
            if (!machine.up()) return;
            machine.torn_for_ = strike.lasts;
            return machine.vfs.crash_on_call(strike.number);
    }
}

}  // namespace hostler::sim
