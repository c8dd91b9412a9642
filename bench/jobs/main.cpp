// bench-jobs: the part of ./dev bench jobs that has very many pending jobs; bench/jobs.py explains it and
// holds the gates. It prints what it does on standard error, and what it measured, as JSON, on standard
// output.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "adapters/net/net.h"
#include "bench/estate/players.h"
#include "core/log.h"
#include "roles/master/job/counts.h"
#include "roles/master/job/queues.h"
#include "roles/master/job/round.h"
#include "roles/master/tenancy/tenancy.h"

namespace {

using namespace hostler;
using namespace hostler::bench;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Options {
    std::filesystem::path folder;
    std::size_t hosts = 125;
    std::size_t pending = 100'000;
    std::size_t queues = 1'000;
    std::size_t changes = 200;
    std::size_t clients = 64;
    std::size_t run = 0;
};

constexpr std::size_t gpus_of_host = 8;
constexpr std::size_t projects = 10;  // Of a tenant.
constexpr Duration between_changes = milliseconds{25};
constexpr Duration patience = seconds{120};

double quantile(std::vector<double> values, double part) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    const auto at = static_cast<std::size_t>(part * static_cast<double>(values.size()));
    return values[std::min(at, values.size() - 1)];
}

double rss_bytes() {
    std::ifstream statm{"/proc/self/statm"};
    double pages = 0, resident = 0;
    statm >> pages >> resident;
    return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

// CPU time of each piece of a round, with the whole turn of the loop that it is in, and of each round.
class Rounds {
public:
    struct Taken {
        std::vector<double> pieces_ms, rounds_ms;
    };
    void look(const master::Desk& desk, double turn_us) {
        const auto& count = desk.live.part<master::RoundCount>();
        if (count.pieces == pieces_) return;
        pieces_ = count.pieces;
        taken_.pieces_ms.push_back(turn_us / 1e3);
        round_ms_ += turn_us / 1e3;
        if (count.rounds == rounds_) return;
        rounds_ = count.rounds;
        taken_.rounds_ms.push_back(std::exchange(round_ms_, 0));
    }
    Taken take() { return std::exchange(taken_, {}); }

private:
    std::uint64_t pieces_ = 0, rounds_ = 0;
    double round_ms_ = 0;
    Taken taken_;
};

struct Phase {
    Rounds::Taken rounds;
    Turns::Taken turns;
    std::string json(std::string_view name) const {
        return fmt::format(
            R"("{0}": {{"rounds": {1}, "round_p50_ms": {2:.3f}, "round_p99_ms": {3:.3f}, "round_max_ms": {4:.3f}, )"
            R"("piece_p50_ms": {5:.3f}, "piece_p99_ms": {6:.3f}, "piece_max_ms": {7:.3f}, "turn_max_ms": {8:.3f}, )"
            R"("busy_percent": {9:.2f}}})",
            name, rounds.rounds_ms.size(), quantile(rounds.rounds_ms, 0.5), quantile(rounds.rounds_ms, 0.99),
            quantile(rounds.rounds_ms, 1), quantile(rounds.pieces_ms, 0.5), quantile(rounds.pieces_ms, 0.99),
            quantile(rounds.pieces_ms, 1), quantile(turns.turns_us, 1) / 1e3,
            100 * turns.cpu_s / std::max(turns.wall_s, 1e-9));
    }
};

struct Measured {
    double submit_s = 0, bytes = 0, full_again_s = 0;
    Phase submitting, quiet, changing, ending, freed;
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
        std::unique_ptr<Cloud> cloud;
        CO_TRY(co_await there([&]() -> Task<> {
            cloud = std::make_unique<Cloud>(estate_, turns_, options_.folder / "cloud");
            co_return Result<>{};
        }));
        std::optional<Players> players{std::in_place, loop_,          *timers_,       estate_,
                                       *cloud,        options_.hosts, options_.queues};
        std::optional<double> rate;
        Result<Measured> measured{};
        if (options_.run > 0) {
            auto ran = co_await run_to_end(*cloud, *players);
            if (ran)
                rate = *ran;
            else
                measured = std::unexpected(ran.error());
        } else {
            measured = co_await measure(*cloud, *players);
        }
        (void)co_await there([&]() -> Task<> {
            turns_.over = nullptr;
            co_return Result<>{};
        });
        co_await players->close();
        (void)co_await there([&]() -> Task<> {
            (void)co_await cloud->close();
            co_return Result<>{};
        });
        (void)co_await there([&]() -> Task<> {
            cloud.reset();
            co_return Result<>{};
        });
        co_await sleep(*timers_, milliseconds{100});  // What was on its way has come.
        if (measured && rate)
            fmt::print("{{\"jobs_per_s\": {:.1f}}}\n", *rate);
        else if (measured)
            print(*measured);
        co_return measured ? Result<>{} : std::unexpected(measured.error());
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
    Task<Phase> take() {
        Phase phase;
        CO_TRY(co_await there([&]() -> Task<> {
            phase = {rounds_.take(), turns_.take()};
            co_return Result<>{};
        }));
        co_return phase;
    }
    Task<> until_running(Cloud& cloud, std::size_t count) {
        co_return co_await until(cloud, [count](const Order& order) {
            return static_cast<std::size_t>(order.running_count()) >= count;
        });
    }
    Task<> until(Cloud& cloud, std::function<bool(const Order&)> so) {
        const Instant end = timers_->now() + patience;
        bool is_so = false;
        std::size_t running = 0;
        while (true) {
            CO_TRY(co_await there([&]() -> Task<> {
                const Order& order = job_queues(cloud.desk()).order();
                is_so = so(order);
                running = static_cast<std::size_t>(order.running_count());
                co_return Result<>{};
            }));
            if (is_so) co_return Result<>{};
            if (timers_->now() > end)
                co_return fail(Code::timeout, fmt::format("{} jobs run, which does not change", running));
            CO_TRY(co_await sleep(*timers_, milliseconds{20}));
        }
    }

    std::string tenant(std::size_t number) const {
        return fmt::format("tenant-{:04}", number % options_.queues / projects);
    }
    static std::string project(std::size_t number) { return fmt::format("project-{}", number % projects); }
    // Each queue has its own command and image, each job its name, half of them a time limit.
    Asked submission(const std::string& name, std::size_t number) const {
        const std::size_t queue = number % options_.queues;
        return {
            .tenant = tenant(number),
            .method = "POST",
            .target = "/v1/jobs",
            .body = fmt::format(
                R"({{"name":"{}","project":"{}","image":"registry.example/team-{}/trainer:2026.11",)"
                R"("cmd":"python3 train.py --run {} --epochs 10","specName":"h100-1","timeLimitSeconds":{}}})",
                name, project(number), queue, number, number % 2 * 36'000)};
    }
    Asked change(const std::string& name, std::size_t number, std::string_view verb) const {
        return {
            .tenant = tenant(number), .method = "POST", .target = fmt::format("/v1/jobs/{}/{}", name, verb)};
    }

    // Jobs a second that are submitted, start and end at once.
    Task<double> run_to_end(Cloud& cloud, Players& players) {
        CO_TRY(co_await begin(cloud, players));
        const Instant begun = timers_->now();
        CO_TRY(co_await players.each(options_.run, options_.clients, [&](std::size_t number) {
            return players.call(
                {.tenant = tenant(0),
                 .method = "POST",
                 .target = "/v1/jobs",
                 .body = fmt::format(R"({{"name":"run-{}","image":"x","cmd":"exit 0","specName":"h100-1"}})",
                                     number)});
        }));
        CO_TRY(co_await until(cloud, [](const Order& order) {
            return order.waiting_count() == 0 && order.running_count() == 0;
        }));
        const double took = std::chrono::duration<double>(timers_->now() - begun).count();
        std::size_t succeeded = 0;
        CO_TRY(co_await there([&]() -> Task<> {
            succeeded = cloud.desk().live.part<master::JobCounts>().ended[JobPhase::succeeded];
            co_return Result<>{};
        }));
        if (succeeded != options_.run)
            co_return fail(Code::internal, fmt::format("{} jobs succeeded of {}", succeeded, options_.run));
        co_return static_cast<double>(options_.run) / took;
    }

    Task<> begin(Cloud& cloud, Players& players) {
        CO_TRY(co_await there([&]() -> Task<> {
            CO_TRY(co_await cloud.begin(players.host_ids()));
            for (std::size_t queue = 0; queue < options_.queues; ++queue)
                master::ensure_project(cloud.desk(), tenant(queue), project(queue));
            turns_.over = [&](double us) { rounds_.look(cloud.term().look(), us); };
            co_return Result<>{};
        }));
        CO_TRY(co_await players.begin());
        co_return Result<>{};
    }

    Task<Measured> measure(Cloud& cloud, Players& players) {
        Measured got;
        const std::size_t running = options_.hosts * gpus_of_host;
        CO_TRY(co_await begin(cloud, players));
        const auto first = [](std::size_t number) { return fmt::format("first-{}", number); };
        CO_TRY(co_await players.each(running, options_.clients, [&](std::size_t number) {
            return players.call(submission(first(number), number));
        }));
        CO_TRY(co_await until_running(cloud, running));
        CO_TRY(co_await sleep(*timers_, seconds{2}));
        say("{} jobs run on {} hosts, which are full", running, options_.hosts);
        CO_TRY(co_await fill(players, got));
        CO_TRY(co_await sleep(*timers_, seconds{5}));
        got.quiet = CO_TRY(co_await take());
        for (std::size_t i = 0; i < options_.changes; ++i) {
            CO_TRY(co_await players.call(
                change(fmt::format("later-{}", i / 2), i / 2, i % 2 ? "release" : "hold")));
            CO_TRY(co_await sleep(*timers_, between_changes));
        }
        got.changing = CO_TRY(co_await take());
        const std::size_t one_by_one = std::min(options_.changes, running / 2);
        for (std::size_t i = 0; i < one_by_one; ++i) {
            CO_TRY(co_await players.call(change(first(i), i, "cancel")));
            CO_TRY(co_await sleep(*timers_, between_changes));
        }
        CO_TRY(co_await until_running(cloud, running));
        got.ending = CO_TRY(co_await take());
        const Instant begun = timers_->now();
        CO_TRY(co_await players.each(running - one_by_one, options_.clients, [&](std::size_t number) {
            return players.call(change(first(one_by_one + number), one_by_one + number, "cancel"));
        }));
        CO_TRY(co_await until_running(cloud, running));
        got.full_again_s = std::chrono::duration<double>(timers_->now() - begun).count();
        say("{} jobs ended and as many began within {:.1f} s", running - one_by_one, got.full_again_s);
        got.freed = CO_TRY(co_await take());
        co_return got;
    }

    Task<> fill(Players& players, Measured& got) {
        const double before = rss_bytes();
        CO_TRY(co_await take());
        const Instant begun = timers_->now();
        CO_TRY(co_await players.each(options_.pending, options_.clients, [&](std::size_t number) {
            return players.call(submission(fmt::format("later-{}", number), number));
        }));
        got.submit_s = std::chrono::duration<double>(timers_->now() - begun).count();
        got.submitting = CO_TRY(co_await take());
        CO_TRY(co_await sleep(*timers_, seconds{12}));  // What the allocator lets go of is gone.
        got.bytes = (rss_bytes() - before) / static_cast<double>(options_.pending);
        say("{} jobs wait in {} queues, submitted {:.0f} a second; {:.0f} bytes each", options_.pending,
            options_.queues, static_cast<double>(options_.pending) / got.submit_s, got.bytes);
        CO_TRY(co_await take());
        co_return Result<>{};
    }

    void print(const Measured& got) const {
        fmt::print(R"({{"bytes": {:.1f}, "submits": {:.1f}, "full_again_s": {:.2f}, {}, {}, {}, {}, {}}})"
                   "\n",
                   got.bytes, static_cast<double>(options_.pending) / got.submit_s, got.full_again_s,
                   got.submitting.json("submitting"), got.quiet.json("quiet"), got.changing.json("changing"),
                   got.ending.json("ending"), got.freed.json("freed"));
    }

    template <class... Args>
    static void say(fmt::format_string<Args...> text, Args&&... args) {
        fmt::print(stderr, "{}\n", fmt::format(text, std::forward<Args>(args)...));
    }

    Loop& loop_;
    Loop& estate_;
    Turns& turns_;
    const Options options_;
    std::unique_ptr<Timers> timers_;
    Rounds rounds_;
    TaskGroup estate_tasks_;
};

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app{"A part of ./dev bench jobs: very many pending jobs"};
    app.add_option("--folder", options.folder, "For the store; empty")->required();
    app.add_option("--hosts", options.hosts, "Of eight GPUs each")
        ->capture_default_str()
        ->check(CLI::Range(1, 5'000));
    app.add_option("--pending", options.pending, "Jobs that wait")
        ->capture_default_str()
        ->check(CLI::Range(1'000, 1'000'000));
    app.add_option("--queues", options.queues, "That they wait in")
        ->capture_default_str()
        ->check(CLI::Range(10, 100'000));
    app.add_option("--changes", options.changes, "Jobs held and released, and jobs ended")
        ->capture_default_str();
    app.add_option("--clients", options.clients, "At once")->capture_default_str()->check(CLI::Range(1, 128));
    app.add_option("--run", options.run, "Instead: jobs that end as soon as they begin");
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
            if (!ended) fmt::print(stderr, "bench-jobs: {}\n", ended.error().message);
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
