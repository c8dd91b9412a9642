#include "bench/estate/players.h"

#include <fmt/format.h>

#include "bench/agents/load.h"
#include "core/version.h"
#include "proto/uplink.pb.h"
#include "roles/agent/messages.h"

namespace hostler::bench {

namespace {

using std::chrono::seconds;

constexpr Duration report_interval = seconds{10};
constexpr Duration patience = seconds{60};  // Of a client, and of a host for its welcome.

}  // namespace

// One agent, as far as a master can tell: it obeys at once, answers as agents do and reports what runs.
class Players::PlayedHost {
public:
    PlayedHost(Players& players, std::size_t index)
        : players_(players), index_(index), id_(fmt::format("h-{:05}", index)), load_(index, 8, 1) {}
    const std::string& id() const { return id_; }

    // Each end of the channel lives on the loop of who reads there.
    void connect() {
        struct Ends {
            std::weak_ptr<wire::Channel> host, master;
        };
        const auto ends = std::make_shared<Ends>();
        const auto carry = [ends](Loop& to, std::weak_ptr<wire::Channel> Ends::* end) {
            return [ends, &to, end](std::string piece) -> Task<> {
                asio::post(to, [ends, end, piece = std::move(piece)]() mutable {
                    if (const auto there = ((*ends).*end).lock()) (void)there->feed(std::move(piece));
                });
                co_return Result<>{};
            };
        };
        channel_ = std::make_shared<wire::Channel>(players_.loop_, "the master",
                                                   carry(players_.estate_, &Ends::master));
        const auto master =
            std::make_shared<wire::Channel>(players_.estate_, id_, carry(players_.loop_, &Ends::host));
        ends->host = channel_;
        ends->master = master;
        link_ = std::make_unique<wire::Link>(players_.loop_, players_.timers_, channel_->stream());
        asio::post(players_.estate_,
                   [cloud = &players_.cloud_, id = id_, master] { cloud->serve(id, master); });
        players_.tasks_.start("host", live());
        players_.tasks_.start("reports", report());
    }

private:
    Task<> live() {
        players_.tasks_.start("hello", greet());
        while (true) {
            const uplink::Frame frame = CO_TRY(co_await link_->receive());
            if (frame.has_command()) obey(frame.command());
            if (frame.has_command_ack()) answers_.erase(frame.command_ack().id());
        }
    }

    Task<> greet() {
        uplink::Frame frame;
        auto& hello = *frame.mutable_agent_hello();
        hello.set_version(std::string{version});
        hello.set_boot_id("boot-" + id_);
        HostFacts facts = load_.facts();
        facts.unmeasurable = "its GPUs are simulated";
        *hello.mutable_facts() = agent::facts_message(facts, health::Book{std::chrono::minutes{1}});
        hello.mutable_facts()->set_engine("simulated");
        hello.set_life("life-" + id_);
        hello.set_turn(1);
        hello.set_keeps_leases(true);
        agent::name_metrics(hello);
        CO_TRY(co_await link_->ask(std::move(frame), patience));
        ++players_.welcomed_;
        players_.welcomed_changed_.notify_all();
        make_report();
        co_return Result<>{};
    }

    // Spread evenly, as those of real hosts are.
    Task<> report() {
        const auto part = static_cast<std::int64_t>(index_ % 1000);
        CO_TRY(co_await sleep(players_.timers_, report_interval + report_interval * part / 1000));
        while (true) {
            if (players_.reporting_) make_report();
            CO_TRY(co_await sleep(players_.timers_, report_interval));
        }
    }

    void make_report() {
        uplink::Frame frame;
        auto& report = *frame.mutable_report();
        report.set_sequence(++sequence_);
        report.set_time(players_.timers_.wall().time_since_epoch().count());
        report.set_turn(1);
        report.set_workloads_complete(true);
        for (const auto& [id, workload] : workloads_) *report.add_workloads() = workload;
        for (auto& workload : *report.mutable_workloads()) workload.set_unused_ms(60'000);
        for (const std::string& network : networks_) report.add_networks(network);
        (void)link_->try_send(frame);
    }

    void obey(const uplink::Command& command) {
        if (const auto before = answers_.find(command.id()); before != answers_.end()) {
            (void)link_->try_send(before->second);
            return;
        }
        uplink::Frame frame;
        auto& done = *frame.mutable_command_update();
        done.set_id(command.id());
        done.set_state("done");
        if (command.has_start_workload()) {
            progress(command.id(), "starting", "starting the container");
            progress(command.id(), "probing", "waiting for it to answer");
            *done.mutable_workload() = begin(command);
        } else if (command.has_stop_workload()) {
            workloads_.erase(command.stop_workload().instance());
            done.mutable_workload()->set_instance(command.stop_workload().instance());
            done.mutable_workload()->set_generation(command.generation());
            done.mutable_workload()->set_state("absent");
        } else if (command.has_remove_network()) {
            networks_.erase(command.remove_network().network());
        }
        answers_[command.id()] = frame;
        (void)link_->try_send(frame);
        if (command.has_start_workload()) end_if_it_does_nothing(command.start_workload());
    }

    // As an agent tells of a program that has ended.
    void end_if_it_does_nothing(const uplink::StartWorkload& start) {
        if (start.command_size() != 2 || start.command(0) != "exit") return;
        uplink::Frame frame;
        auto& report = *frame.mutable_report();
        report.set_sequence(++sequence_);
        report.set_time(players_.timers_.wall().time_since_epoch().count());
        report.set_turn(1);
        uplink::Workload& ended = workloads_[start.instance()];
        ended.set_state("exited");
        ended.set_ready(false);
        *report.add_workloads() = ended;
        (void)link_->try_send(frame);
    }

    void progress(const std::string& id, const std::string& phase, const std::string& message) {
        uplink::Frame frame;
        frame.mutable_command_update()->set_id(id);
        frame.mutable_command_update()->set_state("running");
        frame.mutable_command_update()->set_phase(phase);
        frame.mutable_command_update()->set_message(message);
        (void)link_->try_send(frame);
    }

    const uplink::Workload& begin(const uplink::Command& command) {
        const auto& start = command.start_workload();
        networks_.insert(start.network().network());
        uplink::Workload& made = workloads_[start.instance()];
        made.set_instance(start.instance());
        made.set_generation(command.generation());
        made.set_state("running");
        made.set_ready(true);
        made.set_address(start.address());
        made.set_tenant(start.tenant());
        *made.mutable_gpus() = start.gpus();
        made.set_cpu_milli(start.cpu_milli());
        made.set_memory_bytes(start.memory_bytes());
        made.set_name(start.name());
        made.set_image(start.image());
        made.set_network(start.network().network());
        *made.mutable_ports() = start.ports();
        return made;
    }

    Players& players_;
    const std::size_t index_;
    const std::string id_;
    HostLoad load_;
    std::shared_ptr<wire::Channel> channel_;
    std::unique_ptr<wire::Link> link_;
    std::uint64_t sequence_ = 0;
    std::map<std::string, uplink::Workload> workloads_;
    std::set<std::string> networks_;
    std::map<std::string, uplink::Frame> answers_;  // Without an acknowledgement.
};

// Of an instance that a client waits for.
struct Players::Life {
    std::string phase;
    Signal changed{};
};

// On the estate's thread; what it is sent goes to the clients.
class Players::Watcher final : public api::EventSink {
public:
    explicit Watcher(Players& players) : players_(players) {}
    Task<> send(std::string bytes) override {
        asio::post(players_.loop_, [to = &players_, bytes = std::move(bytes)] { to->hear(bytes); });
        co_return Result<>{};
    }

private:
    Players& players_;
};

Players::Players(Loop& loop, Timers& timers, Loop& estate, Cloud& cloud, std::size_t hosts,
                 std::size_t tenants)
    : loop_(loop), timers_(timers), estate_(estate), cloud_(cloud), tenants_(tenants), tasks_(loop) {
    for (std::size_t i = 0; i < hosts; ++i) hosts_.push_back(std::make_unique<PlayedHost>(*this, i));
}

Players::~Players() = default;

std::vector<std::string> Players::host_ids() const {
    std::vector<std::string> ids;
    for (const auto& host : hosts_) ids.push_back(host->id());
    return ids;
}

Task<> Players::begin() {
    watcher_ = std::make_unique<Watcher>(*this);
    asio::post(estate_, [cloud = &cloud_, sink = watcher_.get()] {
        cloud->ask({.method = "GET", .target = "/v1/instances?watch=true"}, sink, [](const api::Reply&) {});
    });
    for (const auto& host : hosts_) host->connect();
    const Instant begun = timers_.now();
    while (welcomed_ < hosts_.size()) {
        CO_TRY(co_await welcomed_changed_.wait());
        if (timers_.now() - begun > patience) co_return fail(Code::timeout, "hosts were not welcomed");
    }
    co_return co_await sleep(timers_, seconds{2});  // Their first reports.
}

Task<> Players::close() { return tasks_.close(); }

std::string Players::tenant(std::size_t number) const {
    return fmt::format("tenant-{:04}", number % tenants_);
}

Task<> Players::call(Asked asked) {
    const std::string what = fmt::format("{} {}", asked.method, asked.target);
    const api::Reply reply = CO_TRY(co_await suspend<api::Reply>(
        [this, &asked](WakerPtr<api::Reply> waker) {
            asio::post(estate_, [cloud = &cloud_, back = &loop_, waker, asked = std::move(asked)]() mutable {
                cloud->ask(std::move(asked), nullptr, [waker, back](api::Reply answer) mutable {
                    asio::post(*back, [waker, answer = std::move(answer)]() mutable {
                        waker->wake(std::move(answer));
                    });
                });
            });
        },
        Cancellable::no));
    if (reply.status / 100 != 2)
        co_return fail(Code::internal, fmt::format("{}: {} {}", what, reply.status, reply.body));
    co_return Result<>{};
}

Task<> Players::create(Ask what, std::string name, std::string of, std::string more) {
    Asked asked{.what = what, .tenant = of, .method = "POST", .target = "/gpu-instances"};
    if (what == Ask::dry_run) asked.target += "?dryRun=true";
    asked.body = fmt::format(
        R"({{"instanceID":"{}","tenantID":"{}","tenantName":"","image":"docker.io/library/nginx:1.27","storageID":"",)"
        R"("specName":"h100-1",{}"template":{{"ports":[{{"port":8080,"isProbe":true}}],"envs":[{{"name":"MODE","value":"bench"}}]}}}})",
        name, of, more);
    return call(std::move(asked));
}

Task<> Players::until(std::string name, std::string phase) {
    bool late = false;
    Life& life = lives_[name];
    const Deadline deadline{timers_, patience, [&] {
                                late = true;
                                life.changed.notify_all();
                            }};
    while (life.phase != phase) {
        CO_TRY(co_await life.changed.wait());
        if (late || life.phase == "failed")
            co_return fail(Code::timeout, fmt::format("{} is '{}', not '{}'", name, life.phase, phase));
    }
    co_return Result<>{};
}

Task<> Players::live_once(std::size_t number) {
    const std::string name = fmt::format("short-{}", number), of = tenant(number);
    lives_[name];
    CO_TRY(co_await create(Ask::create, name, of));
    CO_TRY(co_await until(name, "running"));
    CO_TRY(co_await call({.tenant = of, .method = "DELETE", .target = "/gpu-instances/" + name}));
    CO_TRY(co_await until(name, "stopped"));
    lives_.erase(name);
    co_return Result<>{};
}

namespace {

// Runs `next` up to `at_once` times in parallel, again and again until it returns false.
Task<> side_by_side(Loop& loop, std::size_t at_once, std::function<Task<bool>()> next) {
    TaskGroup group{loop};
    Signal ended;
    std::size_t running = at_once;
    Result<> all{};
    for (std::size_t i = 0; i < at_once; ++i)
        group.start("client", [](auto& one, std::size_t& left, Signal& over, Result<>& into) -> Task<> {
            while (into) {
                const auto more = co_await one();
                if (!more) into = std::unexpected(more.error());
                if (!more || !*more) break;
            }
            --left;
            over.notify_all();
            co_return Result<>{};
        }(next, running, ended, all));
    while (running > 0) CO_TRY(co_await ended.wait());
    co_await group.close();
    co_return all;
}

}  // namespace

Task<> Players::fill(std::size_t count, std::size_t at_once) {
    std::size_t begun = 0;
    const auto next = [&]() -> Task<bool> {
        if (begun == count) co_return false;
        const std::size_t number = begun++;
        const std::string name = fmt::format("kept-{}", number);
        lives_[name];
        CO_TRY(co_await create(Ask::create, name, tenant(number),
                               number % 2 == 0 ? R"("inactivityTimeoutSeconds":86400,)" : ""));
        CO_TRY(co_await until(name, "running"));
        lives_.erase(name);
        co_return true;
    };
    co_return co_await side_by_side(loop_, at_once, next);
}

Task<> Players::each(std::size_t count, std::size_t at_once, std::function<Task<>(std::size_t)> act) {
    std::size_t begun = 0;
    const auto next = [&]() -> Task<bool> {
        if (begun == count) co_return false;
        CO_TRY(co_await act(begun++));
        co_return true;
    };
    co_return co_await side_by_side(loop_, at_once, next);
}

Task<std::size_t> Players::live(std::size_t count, Duration time, std::size_t at_once) {
    const Instant end = timers_.now() + time;
    std::size_t begun = 0, ended = 0;
    const auto next = [&]() -> Task<bool> {
        if (begun == count || timers_.now() >= end) co_return false;
        ++begun;
        CO_TRY(co_await live_once(made_++));
        if (timers_.now() < end) ++ended;
        co_return true;
    };
    CO_TRY(co_await side_by_side(loop_, at_once, next));
    co_return ended;
}

Task<> Players::dry_run(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) CO_TRY(co_await create(Ask::dry_run, "never", tenant(i)));
    co_return Result<>{};
}

// No JSON is parsed: these two fields are found by their names.
void Players::hear(const std::string& events) {
    const auto field = [&](std::string_view name) -> std::string {
        const auto at = events.find(name);
        if (at == events.npos) return {};
        const auto begin = at + name.size();
        return events.substr(begin, events.find('"', begin) - begin);
    };
    const auto life = lives_.find(field("\"instanceID\":\""));
    if (life == lives_.end()) return;
    life->second.phase = field("\"phase\":\"");
    life->second.changed.notify_all();
}

}  // namespace hostler::bench
