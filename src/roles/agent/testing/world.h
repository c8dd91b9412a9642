// For tests: one agent, and an access point with a master behind it that does as it is told.
#pragma once

#include "core/testing/run.h"
#include "proto/uplink.pb.h"
#include "roles/agent/agent.h"
#include "roles/agent/testing/fakes.h"
#include "wire/channel.h"
#include "wire/link.h"

namespace hostler::agent::testing {

using namespace std::chrono_literals;

inline const std::string authority = "CA-1";
inline const std::string token = "ht_secret-secret." + std::string(64, '1');

inline std::string certificate(std::string identity, std::int64_t from = 0, std::int64_t until = 9e18,
                               std::string key = "KEY-0") {
    return Words{std::move(identity), authority, std::move(key), from, until}.text();
}

// Access point and master in one.
class FakeMaster {
public:
    FakeMaster(Loop& loop, Timers& timers, Net& net) : loop_(loop), timers_(timers), net_(net), tasks_(loop) {
        credentials =
            std::make_shared<Credentials>(Credentials{certificate("access/a-1"), "KEY-0", authority});
        master = std::make_shared<Credentials>(Credentials{certificate("master/m-1"), "KEY-0", authority});
    }
    void listen(std::string address) { tasks_.start("listen", accept(std::move(address))); }

    void send(uplink::Frame frame) {
        if (frame.has_tunnel_order()) return say_in_the_clear(frame);  // Tunnels are the access point's.
        if (link) (void)link->try_send(frame);
    }
    void order(const uplink::Command& command) {
        uplink::Frame frame;
        *frame.mutable_command() = command;
        send(std::move(frame));
    }
    // As the access point, to whoever spoke last: not sealed.
    void say_in_the_clear(const uplink::Frame& frame) {
        if (outer) (void)outer->try_send(frame);
    }
    void cut() {
        if (outer) outer->close();
    }
    // Another master, who knows nothing of what was said: it invites anew.
    void invite() {
        if (outer) invite(*outer);
    }

    // The answer that ended the command, if one came.
    const uplink::CommandUpdate* answer(const std::string& id) const {
        for (const auto& update : updates)
            if (update.id() == id && update.state() != "running") return &update;
        return nullptr;
    }
    std::vector<std::string> phases(const std::string& id) const {
        std::vector<std::string> made;
        for (const auto& update : updates)
            if (update.id() == id && update.state() == "running" &&
                (made.empty() || made.back() != update.phase()))
                made.push_back(update.phase());
        return made;
    }

    std::shared_ptr<Credentials> credentials;  // The access point's,
    std::shared_ptr<Credentials> master;       // and the master's.
    bool invites = true;
    std::string invited_authority = authority;
    std::uint64_t epoch = 1;
    std::uint32_t report_interval_ms = 10'000;
    bool acknowledge_reports = true;
    std::uint32_t layers_ahead = 0;  // As answers to reports say.
    std::uint64_t layer_bytes = 0;
    std::map<std::string, std::uint64_t> confirm;  // Leases, by instance.
    std::optional<std::uint64_t> confirm_epoch;
    bool welcomes = true;
    uplink::AccessList ways;  // What it tells of access points.
    bool acknowledge_answers = true;
    std::optional<Error> refuse_join;
    std::string join_authority = authority;
    std::int64_t certificate_until = static_cast<std::int64_t>(9e18);

    std::shared_ptr<wire::Link> link;     // To the agent, sealed,
    std::shared_ptr<wire::Link> outer;    // and its connection to the access point.
    std::string passed;                   // Every byte that the access point could read.
    std::vector<uplink::Frame> unsealed;  // What was said to the access point alone.
    std::vector<uplink::JoinRequest> joins;
    std::vector<uplink::AgentHello> hellos;
    std::vector<uplink::Report> reports;
    std::vector<uplink::CommandUpdate> updates;
    std::vector<uplink::Frame> others;
    int renewals = 0;
    bool holds_renewals = false;  // They wait for answer_renewals().
    void answer_renewals() {
        for (auto& [to, frame] : std::exchange(held_, {})) {
            uplink::Frame answer;
            sign(*answer.mutable_join_answer(), frame.renew_request().csr());
            answer.set_answer_to(frame.call());
            (void)to->try_send(answer);
        }
    }

private:
    Task<> accept(std::string address) {
        ListenerPtr listener = CO_TRY(co_await net_.listen(address));
        while (true) {
            StreamPtr raw = CO_TRY(co_await listener->accept());
            tasks_.start("serve", serve(std::move(raw)));
        }
    }
    Task<> serve(StreamPtr raw) {
        StreamPtr stream =
            CO_TRY(co_await net_.secure(std::move(raw), {credentials, false, ""}, Side::server, 5s));
        auto mine = std::make_shared<wire::Link>(loop_, timers_, std::move(stream));
        std::unique_ptr<wire::Channel> channel;
        if (invites) invite(*mine);
        while (true) {
            auto frame = co_await mine->receive();
            if (!frame) break;
            passed += frame->SerializeAsString();
            if (!frame->has_sealed()) {
                unsealed.push_back(std::move(*frame));
                continue;
            }
            const auto& sealed = frame->sealed();
            if (sealed.channel() != invited_[mine.get()]) continue;
            if (sealed.end()) {
                channel = nullptr;
                if (invites) invite(*mine);
                continue;
            }
            if (!channel || opened_[mine.get()] != sealed.channel()) {
                opened_[mine.get()] = sealed.channel();
                channel = open(mine, sealed.channel());
            }
            (void)channel->feed(sealed.bytes());
        }
        if (outer == mine) outer = link = nullptr;
        co_return Result<>{};
    }
    void invite(wire::Link& to) {
        uplink::Frame frame;
        frame.mutable_invite()->set_channel(invited_[&to] = ++channels_);
        frame.mutable_invite()->set_authority(invited_authority);
        (void)to.try_send(frame);
    }
    std::unique_ptr<wire::Channel> open(std::shared_ptr<wire::Link> over, std::uint64_t number) {
        auto channel = std::make_unique<wire::Channel>(loop_, "agent", [over, number](std::string piece) {
            uplink::Frame frame;
            frame.mutable_sealed()->set_channel(number);
            frame.mutable_sealed()->set_bytes(std::move(piece));
            return over->send(std::move(frame));
        });
        tasks_.start("sealed", converse(over, number, channel->stream()));
        return channel;
    }
    Task<> converse(std::shared_ptr<wire::Link> over, std::uint64_t number, StreamPtr raw) {
        StreamPtr stream = CO_TRY(
            co_await net_.secure(std::move(raw), {.own = master, .peer_required = false}, Side::server, 5s));
        auto mine = std::make_shared<wire::Link>(loop_, timers_, std::move(stream));
        while (true) {
            auto frame = co_await mine->receive();
            if (!frame) break;
            if (frame->has_agent_hello()) outer = over;
            handle(mine, std::move(*frame));
        }
        if (link == mine) link = nullptr;
        if (invited_[over.get()] != number) co_return Result<>{};
        uplink::Frame over_and_out;
        over_and_out.mutable_sealed()->set_channel(number);
        over_and_out.mutable_sealed()->set_end(true);
        (void)over->try_send(over_and_out);
        if (invites) invite(*over);
        co_return Result<>{};
    }
    void handle(std::shared_ptr<wire::Link> from, uplink::Frame frame) {
        uplink::Frame answer;
        if (frame.has_join_request()) {
            joins.push_back(frame.join_request());
            if (refuse_join)
                answer = wire::failure_frame(*refuse_join);
            else
                sign(*answer.mutable_join_answer(), frame.join_request().csr());
        } else if (frame.has_renew_request()) {
            ++renewals;
            if (holds_renewals) return held_.emplace_back(from, std::move(frame)), void();
            sign(*answer.mutable_join_answer(), frame.renew_request().csr());
        } else if (frame.has_agent_hello()) {
            hellos.push_back(frame.agent_hello());
            link = from;
            if (!welcomes) return;
            *answer.mutable_agent_welcome()->mutable_access() = ways;
            answer.mutable_agent_welcome()->set_epoch(epoch);
            answer.mutable_agent_welcome()->set_report_interval_ms(report_interval_ms);
        } else if (frame.has_report()) {
            reports.push_back(frame.report());
            if (acknowledge_reports) {
                auto& ack = *answer.mutable_report_ack();
                ack.set_sequence(frame.report().sequence());
                ack.set_epoch(confirm_epoch.value_or(epoch));
                ack.set_stamp_us(frame.report().stamp_us());
                ack.set_layers_ahead(layers_ahead);
                ack.set_layer_bytes(layer_bytes);
                for (const auto& [instance, generation] : confirm) {
                    auto& held = *ack.add_leases();
                    held.set_instance(instance);
                    held.set_generation(generation);
                }
            }
        } else if (frame.has_command_update()) {
            updates.push_back(frame.command_update());
            if (acknowledge_answers && frame.command_update().state() != "running")
                answer.mutable_command_ack()->set_id(frame.command_update().id());
        } else {
            others.push_back(std::move(frame));
            return;
        }
        answer.set_answer_to(frame.call());
        if (answer.body_case() != uplink::Frame::BODY_NOT_SET) (void)from->try_send(answer);
    }
    void sign(uplink::JoinAnswer& answer, const std::string& csr) {
        answer.set_host("h-1");
        answer.set_zone("nj");
        answer.set_certificate(certificate("host/h-1", timers_.wall().time_since_epoch().count(),
                                           certificate_until, csr.substr(4)));
        answer.set_authority(join_authority);
    }

    Loop& loop_;
    Timers& timers_;
    Net& net_;
    std::map<wire::Link*, std::uint64_t> invited_, opened_;
    std::uint64_t channels_ = 0;
    std::vector<std::pair<std::shared_ptr<wire::Link>, uplink::Frame>> held_;
    TaskGroup tasks_;
};

struct World {
    World() {
        static const bool loud = std::getenv("HOSTLER_TEST_LOG") != nullptr;
        if (!loud) set_log_sink([](Level, std::string_view) {});
        settings.access = {"access:1"};
        settings.token = token;
        settings.version = "0.1";
        master.listen("access:1");
        timers.settle();
    }
    ~World() {
        crash();
        set_log_sink(nullptr);
    }

    void boot() {
        journal.crashed = false;
        ended.reset();
        agent = std::make_unique<Agent>(
            settings,
            Ports{loop,      timers,       net,     random,  engine, networks,   volumes,    journal,
                  logs,      {&telemetry}, host,    keys,    names,  nullptr,    &engine,    leases,
                  gpu_bench, disk_bench,   &engine, nullptr, events, &processes, node_steps, pod_devices});
        running = std::make_unique<TaskGroup>(loop);
        running->start("agent", [](World& world) -> Task<> {
            const auto result = co_await world.agent->run();
            world.ended = result ? Error{} : result.error();
            co_return Result<>{};
        }(*this));
        timers.settle();
    }
    // Ends the agent wherever it is. What it had not written is gone.
    void crash() {
        if (!running) return;
        running->cancel();
        timers.settle();
        HOSTLER_ASSERT(running->size() == 0);
        running.reset();
        agent.reset();
        timers.settle();
    }
    void join() {
        boot();
        timers.advance(3s);
        if (!agent->connected())
            fmt::print(stderr, "not connected; ended: {}; hellos {} dialled {}\n",
                       ended ? ended->message : "no", master.hellos.size(), net.dialled.size());
        HOSTLER_ASSERT(agent->connected());
    }
    // A server in a container, that answers everything with `words`.
    void serve(std::string address, std::string words = "HTTP/1.1 200 OK\r\n\r\n") {
        servers.start("server", [](World& world, std::string at, std::string say) -> Task<> {
            ListenerPtr listener = CO_TRY(co_await world.net.listen(at));
            while (true) {
                StreamPtr peer = CO_TRY(co_await listener->accept());
                char into[4096];
                (void)co_await read_some(*peer, into);
                (void)co_await write_all(*peer, say);
                world.kept_open.push_back(std::move(peer));
            }
        }(*this, std::move(address), std::move(words)));
        timers.settle();
    }
    std::int64_t in(Duration time) const {
        return (timers.wall() + std::chrono::duration_cast<std::chrono::microseconds>(time))
            .time_since_epoch()
            .count();
    }

    uplink::Command start(std::string id = "c-1", std::uint64_t generation = 1) const {
        uplink::Command command;
        command.set_id(std::move(id));
        command.set_epoch(1);
        command.set_subject("i-1");
        command.set_generation(generation);
        command.set_expires(in(1h));
        auto& what = *command.mutable_start_workload();
        what.set_instance("i-1");
        what.set_tenant("t-1");
        what.set_image("demo");
        what.add_gpus("GPU-1");
        what.mutable_network()->set_network("n-1");
        what.mutable_network()->set_subnet("10.201.3.0/24");
        what.set_address("10.201.3.5");
        auto& port = *what.add_ports();
        port.set_port(8080);
        port.set_probe(true);
        what.set_ready_deadline_ms(30'000);
        return command;
    }
    uplink::Command stop(std::string id = "c-2", std::uint64_t generation = 2) const {
        uplink::Command command;
        command.set_id(std::move(id));
        command.set_epoch(1);
        command.set_subject("i-1");
        command.set_generation(generation);
        command.set_expires(in(1h));
        command.mutable_stop_workload()->set_instance("i-1");
        command.mutable_stop_workload()->set_grace_ms(5000);
        return command;
    }

    Loop loop;
    hostler::testing::ManualTimers timers{loop};
    FakeNet net;
    FakeRandom random;
    FakeKeys keys;
    FakeJournal journal;
    FakeLogs logs;
    FakeEngine engine;
    FakeProcesses processes;
    FakeNetworks networks;
    FakeVolumes volumes;
    FakeTelemetry telemetry;
    FakeHost host;
    Settings settings;
    Names* names = nullptr;
    LeaseBook* leases = nullptr;
    GpuBench* gpu_bench = nullptr;
    DiskBench* disk_bench = nullptr;
    EngineEvents* events = nullptr;
    NodeSteps* node_steps = nullptr;
    PodDevices* pod_devices = nullptr;
    FakeMaster master{loop, timers, net};
    std::vector<StreamPtr> kept_open;
    TaskGroup servers{loop};
    std::optional<Error> ended;
    std::unique_ptr<Agent> agent;
    std::unique_ptr<TaskGroup> running;
};

// The first of a report; null: it has none.
inline const uplink::Workload* workload(const uplink::Report& report) {
    return report.workloads().empty() ? nullptr : &report.workloads(0);
}

}  // namespace hostler::agent::testing
