#include "roles/agent/agent.h"

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "roles/agent/activity.h"
#include "roles/agent/engine_watch.h"
#include "roles/agent/executor.h"
#include "roles/agent/jupyter.h"
#include "roles/agent/layers_ahead.h"
#include "roles/agent/memory_watch.h"
#include "roles/agent/pod_gpus.h"
#include "roles/agent/retest.h"
#include "roles/agent/session.h"
#include "roles/agent/speed.h"
#include "roles/agent/tunnels.h"
#include "roles/agent/within.h"

namespace hostler::agent {

class Agent::State {
public:
    State(Settings with, Ports on)
        : settings(std::move(with)),
          ports(std::move(on)),
          book(ports.journal, ports.timers, ports.sealer),
          member(settings, ports),
          workloads(ports.engine, ports.journal, ports.timers, settings.engine_grace,
                    [this](const Workload& changed) { note(changed); }),
          engine_watch(settings, ports, workloads, [this] { return look(); }),
          leases(ports),
          activity(ports.timers),
          sampler(settings, ports, [this] { reporter.touch(); }),
          ahead(ports.layers, [this] { return executor.starting(); }),
          memory(settings, ports, workloads),
          pod_gpus(settings, ports, sampler),
          reporter(settings, ports, workloads, activity, sampler, leases, book, ahead, memory, pod_gpus),
          sessions(settings, ports, workloads, activity),
          notebooks(settings, ports, workloads, activity),
          tunnels(settings, ports, member, workloads, activity, sessions),
          executor(settings, ports, book, workloads, leases,
                   {.send = [this](const uplink::CommandUpdate& update) { session.send(update); },
                    .stopping = [this](const std::string& instance) { tunnels.close_all(instance); },
                    .cdi_name = [this](const std::string& uuid) { return sampler.cdi_name(uuid); },
                    .engine = [this] { return reporter.engine(); },
                    .pulled = [this](const std::string& image) { reporter.note_image(image); },
                    .test_gpu = [this](const std::string& uuid) { return sampler.test_gpu(uuid); },
                    .gpu_user = [this] { return sampler.gpu_user(); },
                    .unused = [this](const std::string& instance,
                                     std::uint64_t generation) -> std::optional<Duration> {
                        const auto use = activity.of(instance, generation);
                        return use ? std::optional{use->unused} : std::nullopt;
                    },
                    .node_made = [this](std::string node) { return pod_gpus.begin(std::move(node)); },
                    .node_ends = [this] { return pod_gpus.end(); }}),
          way_back(settings, ports, sampler, executor),
          speed(settings, ports, sampler),
          session(settings, ports, member, book, reporter,
                  {.stamp = [this] { return leases.stamp_us(); },
                   .confirmed =
                       [this](uplink::ReportAck ack) {
                           if (ack.epoch() > 0) ahead.want(ack.layers_ahead(), ack.layer_bytes());
                           if (ack.leases_size() > 0)
                               tasks.start("leases", leases.renew(std::move(ack), book.epoch()));
                       },
                   .command = [this](uplink::Command command) { executor.take(std::move(command)); },
                   .path = [this](uplink::ChallengePath path) { executor.tell_path(path); },
                   .speed = [this](uplink::SpeedOrder order) { speed.answer(std::move(order)); },
                   .tunnel = [this](uplink::TunnelOrder order) { tunnels.open(std::move(order)); },
                   .logs = [this](std::string instance,
                                  LogsWanted wanted) { return executor.logs(std::move(instance), wanted); }}),
          tasks(ports.loop) {}

    Task<> run();
    Task<> begin();
    Task<> look();
    Task<> watch();
    Task<> sweep();
    void note(const Workload& changed) {
        engine_watch.note_change();
        activity.note(changed);
        reporter.note(changed);
        if (changed.state == WorkloadState::running) return;
        tunnels.close_all(changed.instance);
        sessions.instance_ended(changed.instance);
    }

    Settings settings;
    Ports ports;
    CommandBook book;
    MemberBook member;
    Workloads workloads;
    EngineWatch engine_watch;
    Leases leases;
    Activity activity;
    Sampler sampler;
    LayersAhead ahead;
    MemoryWatch memory;
    PodGpus pod_gpus;
    Reporter reporter;
    Sessions sessions;
    JupyterWatch notebooks;
    Tunnels tunnels;
    Executor executor;
    Retests way_back;
    SpeedAnswers speed;
    Session session;
    Signal never;
    TaskGroup tasks;
};

Task<> Agent::State::run() {
    auto ended = co_await begin();
    if (ended) ended = co_await never.wait();
    (void)co_await tasks.close();
    (void)co_await executor.close();
    (void)co_await tunnels.close();
    (void)co_await speed.close();
    (void)co_await sessions.close();
    (void)co_await pod_gpus.close();
    (void)co_await sampler.close();
    co_return ended;
}

Task<> Agent::State::begin() {
    book.load();
    if (auto hidden = co_await book.seal(); !hidden) {
        if (hidden.error().code == Code::cancelled) co_return hidden;
        log_warn("entries of an older agent may stay in the journal for a while: {}", hidden.error().message);
    }
    member.load();
    if (!member.joined() || member.beyond_renewal()) {
        if (settings.token.empty())
            co_return fail(Code::invalid,
                           "this host has not joined yet, or its certificate expired too long ago to be "
                           "renewed; make a token with `hostler host token create` and give it to the agent");
        CO_TRY(co_await member.join());
    }
    workloads.belong_to(member.member().host);
    executor.belong_to(member.member().host);
    // Commands that were begun need to know what is here.
    CO_TRY(co_await sampler.discover());
    CO_TRY(co_await leases.load(sampler.facts().boot_id));
    CO_TRY(co_await look());
    pod_gpus.load();
    executor.begin();
    tasks.start("telemetry", sampler.watch());
    if (ports.gpu_bench) tasks.start("GPUs on their way back", way_back.run());
    tasks.start("containers", engine_watch.run());
    tasks.start("events of the container engine", engine_watch.follow(member.member().host));
    tasks.start("leases", watch());
    tasks.start("reports", reporter.run());
    tasks.start("notebooks", notebooks.run());
    tasks.start("processes killed for memory", memory.run());
    tasks.start("layers ahead", ahead.run());
    if (ports.pod_devices) tasks.start("GPUs of pods", pod_gpus.run(settings.watch_interval));
    tasks.start("journal", sweep());
    tasks.start("session", session.run());
    co_return Result<>{};
}

Task<> Agent::State::look() {
    const bool known = workloads.known();
    const std::string error = workloads.engine_error();
    const auto seen = co_await within(ports.loop, ports.timers, settings.engine_deadline,
                                      "the container engine", workloads.refresh());
    CO_TRY(co_await check_cancelled());
    if (!seen && seen.error().code == Code::timeout) workloads.note_silent(seen.error().message);
    if (known != workloads.known() || error != workloads.engine_error()) reporter.touch();
    co_return Result<>{};
}

Task<> Agent::State::watch() {
    while (true) {
        CO_TRY(co_await sleep(ports.timers, settings.watch_interval));
        activity.look();
        CO_TRY(co_await leases.look(workloads, [this](const std::string& id) { return executor.busy(id); }));
    }
}

Task<> Agent::State::sweep() {
    while (true) {
        CO_TRY(co_await sleep(ports.timers, minutes{1}));
        const auto swept = co_await book.sweep();
        if (!swept && swept.error().code == Code::cancelled) co_return swept;
        if (!swept) log_warn("the journal is not swept: {}", swept.error().message);
    }
}

Agent::Agent(Settings settings, Ports ports)
    : state_(std::make_unique<State>(std::move(settings), std::move(ports))) {}

Agent::~Agent() = default;

Task<> Agent::run() { return state_->run(); }

std::string Agent::host() const {
    return state_->member.joined() ? state_->member.member().host : std::string{};
}

bool Agent::connected() const { return state_->session.connected(); }

const std::vector<GpuFacts>& Agent::gpus() const { return state_->sampler.gpus(); }

const ReportQueue* Agent::reports() const { return &state_->reporter.queue(); }

}  // namespace hostler::agent
