// bench-agents: the load of ./dev bench agents. It makes hosts that have joined, then obeys lines on standard
// input and answers each with one on standard output:
//   connect ADDRESS   begins to connect them to the access point there
//   count             how they are, as JSON
//   mark              waits for the next report: "HOST MARKER SECONDS" of it, the seconds since 1970
//   rest              makes no more reports
// It ends with its input.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "adapters/net/authority.h"
#include "adapters/net/net.h"
#include "adapters/net/stdio.h"
#include "adapters/sqlite/store.h"
#include "bench/agents/fleet.h"
#include "core/worker.h"

namespace {

using namespace hostler;
using namespace hostler::bench;

struct Options {
    std::string data;  // Of the master that is not running yet.
    std::string zone = "bench";
    std::size_t agents = 100;
    FleetSettings fleet;
};

void answer(const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

std::string json_of(const Fleet::Count& count) {
    return fmt::format(
        R"({{"agents": {}, "welcomed": {}, "made": {}, "acknowledged": {}, "sentAgain": {}, "connections": {}, )"
        R"("lost": {}, "lateMs": {}}})",
        count.agents, count.welcomed, count.made, count.acknowledged, count.sent_again, count.connections,
        count.lost, count.late.count());
}

class Session {
public:
    Session(Loop& loop, Options options)
        : loop_(loop),
          options_(std::move(options)),
          timers_(net::make_timers(loop)),
          net_(net::make_net(loop)),
          random_(net::make_random()) {}

    Task<> run() {
        std::vector<JoinedHost> hosts = CO_TRY(co_await join());
        answer(fmt::format("joined {}", hosts.size()));
        const StreamPtr input = net::stdio_stream(loop_);
        std::string text;
        std::array<char, 256> piece;
        while (const std::size_t size = CO_TRY(co_await read_some(*input, piece))) {
            text.append(piece.data(), size);
            for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
                CO_TRY(co_await obey(text.substr(0, end), hosts));
                text.erase(0, end + 1);
            }
        }
        if (fleet_) (void)co_await fleet_->close();
        co_return Result<>{};
    }

private:
    Task<std::vector<JoinedHost>> join() {
        const std::filesystem::path data = options_.data;
        std::filesystem::create_directories(data / "authority");
        for (const auto& folder : {data, data / "authority"})
            std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
        const auto authority =
            CO_TRY(net::open_authority((data / "authority").string(), *random_, timers_->wall()));
        const auto worker = make_worker(loop_, "store");
        const auto store = CO_TRY(open_sqlite((data / "store.db").string(), *worker));
        co_return co_await join_hosts(*store, *authority, *random_, *timers_, options_.zone, options_.agents);
    }

    Task<> obey(std::string line, std::vector<JoinedHost>& hosts) {
        constexpr std::string_view connect = "connect ";
        if (line.starts_with(connect) && !fleet_) {
            options_.fleet.access = line.substr(connect.size());
            fleet_ = std::make_unique<Fleet>(loop_, *timers_, *net_, *random_, options_.fleet,
                                             std::exchange(hosts, {}));
            fleet_->start();
            answer("connecting");
        } else if (line == "count" && fleet_) {
            answer(json_of(fleet_->count()));
        } else if (line == "mark" && fleet_) {
            const auto marked = CO_TRY(co_await fleet_->mark());
            answer(fmt::format("{} {} {:.6f}", marked.host, marked.marker,
                               static_cast<double>(marked.sampled.time_since_epoch().count()) / 1e6));
        } else if (line == "rest" && fleet_) {
            fleet_->rest();
            answer("resting");
        } else {
            co_return fail(Code::invalid, fmt::format("'{}' is nothing to do now", line));
        }
        co_return Result<>{};
    }

    Loop& loop_;
    Options options_;
    std::unique_ptr<Timers> timers_;
    std::unique_ptr<Net> net_;
    std::unique_ptr<Random> random_;
    std::unique_ptr<Fleet> fleet_;
};

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app{
        "The load of ./dev bench agents: hosts with simulated GPUs, each with a connection of its own"};
    app.add_option("--data", options.data, "Data folder of a master that is not running: they join there")
        ->required();
    app.add_option("--zone", options.zone)->capture_default_str();
    app.add_option("--agents", options.agents)->capture_default_str();
    app.add_option("--gpus", options.fleet.gpus, "Of each host")->capture_default_str();
    app.add_option("--ramp", options.fleet.connects_per_second, "Agents that connect in a second")
        ->capture_default_str();
    app.add_option("--seed", options.fleet.seed)->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    Loop loop{1};
    Session session{loop, std::move(options)};
    TaskGroup group{loop};
    int status = 0;
    group.start("bench-agents", [](Session& of, Loop& on, int& to) -> Task<> {
        const auto ended = co_await of.run();
        if (!ended) fmt::print(stderr, "bench-agents: {}\n", ended.error().message);
        to = ended ? 0 : 1;
        on.stop();
        co_return Result<>{};
    }(session, loop, status));
    loop.run();
    return status;
}
