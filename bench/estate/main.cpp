// bench-estate: the measuring part of ./dev bench estate, which explains it and holds the gates. It prints
// what it does on standard error, and what it measured, as JSON, on standard output.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "adapters/net/net.h"
#include "bench/estate/players.h"
#include "core/log.h"

namespace {

using namespace hostler;
using namespace hostler::bench;
using std::chrono::seconds;

struct Options {
    std::filesystem::path folder;
    std::size_t hosts = 2'000;
    std::size_t tenants = 2'000;
    std::size_t clients = 128;
    std::size_t samples = 1'000;
    int seconds = 30;
};

constexpr std::size_t gpus_of_host = 8;
constexpr std::size_t part_of_small_fleet = 20;

double mean(const std::vector<double>& values) {
    return values.empty()
               ? 0
               : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
double quantile(std::vector<double> values, double part) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    const auto at = static_cast<std::size_t>(part * static_cast<double>(values.size()));
    return values[std::min(at, values.size() - 1)];
}
double longest_ms(const Turns::Taken& taken) { return quantile(taken.turns_us, 1) / 1e3; }
// What a call costs; sweeps that come between it and its answer are in few of them.
const std::vector<double>& calls(const Turns::Taken& taken, Ask what) {
    return taken.calls_us[static_cast<std::size_t>(what)];
}

// CPU time of each thread of this process, in seconds, by name.
std::map<std::string, double> threads() {
    std::map<std::string, double> found;
    for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
        std::string name;
        double ns = 0;
        std::getline(std::ifstream{task.path() / "comm"}, name);
        std::ifstream{task.path() / "schedstat"} >> ns;
        found[name] += ns / 1e9;
    }
    return found;
}

// What one size of fleet costs.
struct Measured {
    double welcome_s = 0, fill_s = 0;
    Turns::Taken idle, quiet, dry, one_by_one, load;
    double load_s = 0, lives_per_s = 0;
    std::size_t lives_one_by_one = 0;
};

// Measures in a separate thread, so that the estate's thread does only its own work.
class Experiment {
public:
    Experiment(Loop& loop, Loop& estate, Turns& turns, Options options)
        : loop_(loop),
          estate_(estate),
          turns_(turns),
          options_(std::move(options)),
          timers_(net::make_timers(loop)),
          estate_tasks_(estate) {}

    Task<> run() {
        const Measured small = CO_TRY(co_await measure(options_.hosts / part_of_small_fleet, false));
        const Measured whole = CO_TRY(co_await measure(options_.hosts, true));
        print(small, whole);
        co_return Result<>{};
    }

private:
    // Done on the estate's thread.
    Task<> there(std::move_only_function<Task<>()> act) {
        co_return co_await suspend<void>(
            [this, &act](WakerPtr<void> waker) {
                asio::post(estate_, [this, act = std::move(act), waker]() mutable {
                    estate_tasks_.start("experiment", [](auto what, auto told, Loop& back) -> Task<> {
                        auto done = co_await what();
                        asio::post(back,
                                   [told, done = std::move(done)]() mutable { told->wake(std::move(done)); });
                        co_return Result<>{};
                    }(std::move(act), std::move(waker), loop_));
                });
            },
            Cancellable::no);
    }
    Task<Turns::Taken> take() {
        Turns::Taken taken;
        CO_TRY(co_await there([&]() -> Task<> {
            taken = turns_.take();
            co_return Result<>{};
        }));
        co_return taken;
    }

    Task<Measured> measure(std::size_t hosts, bool whole) {
        std::unique_ptr<Cloud> cloud;
        const auto folder = options_.folder / fmt::format("{}-hosts", hosts);
        CO_TRY(co_await there([&]() -> Task<> {
            cloud = std::make_unique<Cloud>(estate_, turns_, folder);
            co_return Result<>{};
        }));
        std::optional<Players> players{std::in_place, loop_, *timers_,        estate_,
                                       *cloud,        hosts, options_.tenants};
        auto measured = co_await measure_with(*cloud, *players, hosts, whole);
        co_await players->close();
        (void)co_await there([&]() -> Task<> {
            (void)co_await cloud->close();
            co_return Result<>{};
        });
        (void)co_await there([&]() -> Task<> {
            cloud.reset();
            co_return Result<>{};
        });
        co_await sleep(*timers_, std::chrono::milliseconds{100});  // What was on its way has come.
        co_return measured;
    }

    Task<Measured> measure_with(Cloud& cloud, Players& players, std::size_t hosts, bool whole) {
        Measured got;
        const std::size_t kept = hosts * gpus_of_host - options_.clients;
        CO_TRY(co_await there([&]() -> Task<> { co_return co_await cloud.begin(players.host_ids()); }));
        const Instant begun = timers_->now();
        CO_TRY(co_await players.begin());
        const Instant welcomed = timers_->now();
        got.welcome_s = std::chrono::duration<double>(welcomed - begun).count();
        say("{} hosts are ready after {:.1f} s", hosts, got.welcome_s);
        CO_TRY(co_await players.fill(kept, options_.clients));
        got.fill_s = std::chrono::duration<double>(timers_->now() - welcomed).count();
        say("{} instances run after {:.1f} s, {:.0f}/s", kept, got.fill_s,
            static_cast<double>(kept) / got.fill_s);
        CO_TRY(co_await sleep(*timers_, seconds{3}));  // What creates leave to do is done.
        CO_TRY(co_await take());
        if (whole) {
            const seconds window{std::min(options_.seconds, 10)};
            CO_TRY(co_await sleep(*timers_, window));
            got.idle = CO_TRY(co_await take());
            players.report(false);
            CO_TRY(co_await sleep(*timers_, seconds{1}));
            CO_TRY(co_await take());
            CO_TRY(co_await sleep(*timers_, window));
            got.quiet = CO_TRY(co_await take());
            players.report(true);
        }
        CO_TRY(co_await players.dry_run(options_.samples));
        got.dry = CO_TRY(co_await take());
        got.lives_one_by_one = CO_TRY(co_await players.live(options_.samples, seconds{20}, 1));
        got.one_by_one = CO_TRY(co_await take());
        const auto before = threads();
        const Instant load_begun = timers_->now();
        const Duration time = whole ? Duration{seconds{options_.seconds}} : Duration{seconds{5}};
        const auto lives = CO_TRY(co_await players.live(SIZE_MAX, time, options_.clients));
        got.load_s = std::chrono::duration<double>(time).count();
        got.lives_per_s = static_cast<double>(lives) / got.load_s;
        std::string shares;
        const double passed = std::chrono::duration<double>(timers_->now() - load_begun).count();
        for (const auto& [name, cpu_s] : threads())
            if (const auto at = before.find(name); at != before.end() && cpu_s - at->second > 0.01 * passed)
                shares += fmt::format("{}{} {:.2f}", shares.empty() ? "" : ", ", name,
                                      (cpu_s - at->second) / passed);
        got.load = CO_TRY(co_await take());
        say("{:.0f} lives a second; cores of each thread: {}", got.lives_per_s, shares);
        tell_turns(got.load);
        co_return got;
    }

    static void tell_turns(const Turns::Taken& taken) {
        const auto& turns = taken.turns_us;
        const auto over = std::ranges::count_if(turns, [](double us) { return us > 5'000; });
        say("  {} turns, {:.1f} us on average, 99.9 % within {:.2f} ms, longest {:.1f} ms ({:.1f} ms by the "
            "clock on the "
            "wall), {} over 5 ms",
            turns.size(), mean(turns), quantile(turns, 0.999) / 1e3, longest_ms(taken), taken.longest_wall_ms,
            over);
    }

    template <class... Args>
    static void say(fmt::format_string<Args...> text, Args&&... args) {
        fmt::print(stderr, "{}\n", fmt::format(text, std::forward<Args>(args)...));
    }

    void print(const Measured& small, const Measured& whole) const {
        const auto life_us = [](const Measured& of_fleet) {
            return 1e6 * of_fleet.load.cpu_s / (of_fleet.lives_per_s * of_fleet.load_s);
        };
        const auto create_us = [](const Measured& of_fleet) {
            return quantile(calls(of_fleet.one_by_one, Ask::create), 0.5);
        };
        const auto& dry = calls(whole.dry, Ask::dry_run);
        fmt::print(
            R"({{"stay_ms": {:.3f}, "stay_wall_ms": {:.3f}, "create_us": {:.1f}, "create_small_us": {:.1f}, )"
            R"("life_us": {:.1f}, "life_small_us": {:.1f}, "dry_run_us": {:.1f}, "dry_run_p99_us": {:.1f}, )"
            R"("sweep_percent": {:.3f}, "idle_percent": {:.3f}, "starts": {:.1f}, "fill": {:.1f}}})"
            "\n",
            longest_ms(whole.load), whole.load.longest_wall_ms, create_us(whole), create_us(small),
            life_us(whole), life_us(small), quantile(dry, 0.5), quantile(dry, 0.99),
            100 * whole.quiet.cpu_s / whole.quiet.wall_s, 100 * whole.idle.cpu_s / whole.idle.wall_s,
            whole.lives_per_s,
            static_cast<double>(options_.hosts * gpus_of_host - options_.clients) / whole.fill_s);
    }

    Loop& loop_;
    Loop& estate_;
    Turns& turns_;
    const Options options_;
    std::unique_ptr<Timers> timers_;
    TaskGroup estate_tasks_;
};

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app{"The measuring part of ./dev bench estate"};
    app.add_option("--folder", options.folder, "For stores; empty")->required();
    app.add_option("--hosts", options.hosts, "Of eight GPUs each; measured beside a twentieth of them")
        ->capture_default_str()
        ->check(CLI::Range(400, 50'000));
    app.add_option("--tenants", options.tenants)->capture_default_str()->check(CLI::Range(1, 100'000));
    app.add_option("--clients", options.clients, "At once")->capture_default_str()->check(CLI::Range(1, 128));
    app.add_option("--samples", options.samples, "Calls one after the other")->capture_default_str();
    app.add_option("--seconds", options.seconds, "Of load")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    set_log_level(Level::warn);
    Loop estate{1}, loop{1};
    Turns turns{estate};
    std::atomic<bool> done = false;
    int status = 1;
    std::thread players{[&] {
        pthread_setname_np(pthread_self(), "players");
        Experiment experiment{loop, estate, turns, options};
        TaskGroup group{loop};
        group.start("experiment", [](Experiment& of, int& to, Loop& on) -> Task<> {
            const auto ended = co_await of.run();
            if (!ended) fmt::print(stderr, "bench-estate: {}\n", ended.error().message);
            to = ended ? 0 : 1;
            on.stop();
            co_return Result<>{};
        }(experiment, status, loop));
        loop.run();
        done = true;
    }};
    turns.run(done);
    players.join();
    return status;
}
