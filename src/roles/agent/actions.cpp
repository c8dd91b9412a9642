// What each command does to the host.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/log.h"
#include "core/log_lines.h"
#include "domain/image/image.h"
#include "proto/uplink.pb.h"
#include "roles/agent/job.h"
#include "roles/agent/messages.h"
#include "roles/agent/probe.h"

namespace hostler::agent {

namespace {

constexpr Duration ready_deadline_default = minutes{10};
constexpr Duration grace_default = seconds{10};
constexpr Duration grace_max = minutes{10};
// What is over sooner is not told of: each word is a commit of the master's.
constexpr Duration tell_after = milliseconds{100};
constexpr Duration probe_try_max = seconds{2};

LayerEnd end_of(bool keep_layer) { return keep_layer ? LayerEnd::kept : LayerEnd::lost; }

Duration grace_of(std::int64_t ms) {
    return ms <= 0 ? grace_default : std::min<Duration>(milliseconds{ms}, grace_max);
}

// A volume's errors are the disk's, never the engine's.
Error of_volume(Error error) {
    if (error.reason.empty()) error.reason = "volume_failed";
    return error;
}

bool is_surprise(const Error& error) {
    return error.reason == Engine::image_missing || error.reason == Engine::name_taken;
}

// A command that was begun before this start: what is kept of it has none.
bool lost_secrets(const uplink::StartWorkload& wanted) {
    return wanted.has_secrets() && wanted.secrets().empty() && !wanted.has_login();
}

std::string last_lines(std::string_view text) {
    constexpr std::size_t lines_max = 10, bytes_max = 1500;
    while (text.ends_with('\n')) text.remove_suffix(1);
    if (text.size() > bytes_max) text.remove_prefix(text.size() - bytes_max);
    std::size_t at = text.size();
    for (std::size_t lines = 0; at != std::string_view::npos && at > 0 && lines < lines_max; ++lines)
        at = text.rfind('\n', at - 1);
    return std::string{at == std::string_view::npos || at == 0 ? text : text.substr(at + 1)};
}

// While it lives, its job must not be cancelled: a half-done call would leave a container that nobody
// expects.
struct Uninterrupted {
    bool& interruptible;
    explicit Uninterrupted(bool& flag) : interruptible(flag) { interruptible = false; }
    ~Uninterrupted() { interruptible = true; }
    Uninterrupted(const Uninterrupted&) = delete;
};

}  // namespace

Error because(Error error, std::string_view reason) {
    const bool away = error.code == Code::unavailable || error.code == Code::timeout;
    if (error.reason.empty()) error.reason = away ? "engine_unavailable" : reason;
    return error;
}

void Executor::progress(Job& job, std::string_view phase, std::string message) {
    uplink::CommandUpdate update;
    update.set_id(job.command.id());
    update.set_state("running");
    update.set_phase(std::string{phase});
    update.set_message(clean_text(message, CommandBook::message_max));
    if (const Workload* seen = workloads_.find(job.command.start_workload().instance()))
        *update.mutable_workload() = workload_message(*seen);
    book_.progress(update);
    hooks_.send(update);
}

Task<> Executor::look(std::string instance) {
    co_return co_await persist(ports_.timers, [&] { return workloads_.refresh(instance); });
}

Task<> Executor::look_at_all() {
    co_return co_await persist(ports_.timers, [&] { return workloads_.refresh(); });
}

Task<> Executor::start(JobPtr job) {
    const auto& wanted = job->command.start_workload();
    if (wanted.instance().empty() || (wanted.image().empty() && !wanted.program()))
        co_return fail(Code::invalid, "a start needs an instance and an image", "malformed");
    auto up = co_await bring_up(job, workloads_.known());
    // Somebody has changed what was known to be here: once more, with open eyes.
    if (!up && is_surprise(up.error())) up = co_await bring_up(job, false);
    CO_TRY(std::move(up));
    if (job->superseded) co_return fail(Code::cancelled, "superseded");
    auto ready = co_await make_ready(job);
    if (!ready && ready.error().code != Code::cancelled) {
        if (ready.error().reason == "exited" && leases_.ended(wanted.instance(), job->command.generation()))
            ready.error().reason = "lease_ended";
        const Uninterrupted whole{job->interruptible};
        co_return co_await give_up(job, ready.error());
    }
    co_return ready;
}

// A container as the command wants it, whatever was there before. `known`: what containers and images are
// here needs no asking.
Task<> Executor::bring_up(JobPtr job, bool known) {
    const auto& wanted = job->command.start_workload();
    const std::string instance = wanted.instance();
    const std::uint64_t generation = job->command.generation();
    if (job->superseded) co_return fail(Code::cancelled, "superseded");
    if (!known)
        if (auto seen = co_await look(instance); !seen)
            co_return std::unexpected(because(seen.error(), "engine_failed"));
    std::optional<Workload> old;
    if (const Workload* found = workloads_.find(instance)) old = *found;
    if (old && old->generation > generation)
        co_return fail(Code::conflict,
                       fmt::format("instance {} already runs generation {}; the command is for {}", instance,
                                   old->generation, generation),
                       "stale_generation");
    if (old && old->generation < generation) {
        const Uninterrupted whole{job->interruptible};
        CO_TRY(co_await take_away(job, *old, grace_of(wanted.stop_grace_ms()), end_of(wanted.keep_layer())));
        old.reset();
    }
    if (old && old->state != WorkloadState::created) co_return Result<>{};
    if (lost_secrets(wanted))
        co_return fail(Code::conflict,
                       "its secrets came with a command that was begun before the agent's start",
                       "secrets_lost");
    const ContainerSpec spec = CO_TRY(co_await prepare(job));
    if (!spec.program && (!known || !images_.contains(spec.image) ||
                          private_images_.is_closed_to(spec.image, login_scope(wanted))))
        CO_TRY(co_await fetch(job, spec.image));
    if (job->superseded) co_return fail(Code::cancelled, "superseded");
    if (wanted.has_lease()) CO_TRY(co_await leases_.hold(instance, generation, wanted.lease()));
    if (job->superseded) co_return fail(Code::cancelled, "superseded");
    const Uninterrupted whole{job->interruptible};
    const Deadline long_since{ports_.timers, tell_after,
                              [&] { progress(*job, "starting", "starting the container"); }};
    auto launched = co_await persist(ports_.timers, [&] { return launch(job, spec); });
    if (!launched) {
        const Error why = std::move(launched).error();
        if (why.code == Code::cancelled || (known && is_surprise(why))) co_return std::unexpected(why);
        co_return co_await give_up(job, because(why, "launch_failed"));
    }
    workloads_.note(*launched);
    co_return Result<>{};
}

// What has a lease is launched within it.
Task<Container> Executor::launch(JobPtr job, ContainerSpec spec) {
    const std::string instance = job->command.start_workload().instance();
    if (!job->command.start_workload().has_lease()) co_return co_await ports_.engine.launch(std::move(spec));
    if (leases_.ended(instance, job->command.generation()))
        co_return fail(Code::conflict, fmt::format("the lease of instance {} has run out", instance),
                       "lease_ended");
    auto launched = co_await ports_.engine.launch(spec);
    if (launched || launched.error().reason != Engine::name_taken) co_return launched;
    CO_TRY(co_await clear_name(instance, job->command.generation()));
    co_return co_await ports_.engine.launch(std::move(spec));
}

// Hosts may share an engine: what an earlier run on another one has left there does not run any more. What is
// kept here of an earlier run yet is the launch's to decide on.
Task<> Executor::clear_name(std::string instance, std::uint64_t generation) {
    for (const Container& left : CO_TRY(co_await ports_.engine.list(std::string{label::instance}, instance)))
        if (left.state == ContainerState::exited && generation_of(left) < generation)
            CO_TRY(co_await ports_.engine.remove(left.name, LayerEnd::kept));
    co_return Result<>{};
}

// What a container is to be, but for what is yet to be made ready for it.
Result<ContainerSpec> Executor::spec_of(const Job& job) const {
    const auto& wanted = job.command.start_workload();
    ContainerSpec spec;
    spec.name = container_name(wanted.instance());
    spec.image = wanted.image();
    spec.command.assign(wanted.command().begin(), wanted.command().end());
    if (wanted.replaces_entrypoint())
        spec.entrypoint.emplace(wanted.entrypoint().begin(), wanted.entrypoint().end());
    spec.no_init = wanted.no_init();
    spec.program = wanted.program();
    spec.shm_bytes = wanted.shm_bytes();
    spec.cpu_milli = wanted.cpu_milli();
    spec.memory_bytes = wanted.memory_bytes();
    spec.pids_max = wanted.pids_max();
    spec.disk_bytes = wanted.disk_bytes();
    spec.disk_limit_required = wanted.disk_limit_required();
    spec.layer = wanted.keep_layer() ? LayerStart::kept : LayerStart::empty;
    spec.layer_end = end_of(wanted.keep_layer());
    spec.network = wanted.network().network();
    spec.gateway = wanted.network().gateway();
    spec.address = wanted.address();
    spec.hostname = wanted.instance();
    for (const auto& uuid : wanted.gpus()) {
        std::string device = hooks_.cdi_name(uuid);
        if (device.empty())
            return fail(Code::not_found,
                        fmt::format("GPU {} is not on this host, or cannot be lent to containers", uuid),
                        "gpu_missing");
        spec.cdi_devices.push_back(std::move(device));
    }
    for (const auto& variable : wanted.environment()) spec.environment[variable.name()] = variable.value();
    for (const auto& secret : wanted.secrets())
        if (secret.variable().empty())
            spec.secret_files.push_back({secret.path(), secret.value()});
        else
            spec.environment[secret.variable()] = secret.value();
    // A program that asks for the number of CPUs is told the host's, and would begin so many threads.
    if (spec.cpu_milli > 0)
        spec.environment.emplace("OMP_NUM_THREADS",
                                 fmt::format("{}", std::max<std::int64_t>(spec.cpu_milli / 1000, 1)));
    spec.environment["HOSTLER_INSTANCE"] = wanted.instance();
    spec.environment["HOSTLER_TENANT"] = wanted.tenant();
    if (!wanted.project().empty()) spec.environment["HOSTLER_PROJECT"] = wanted.project();
    spec.environment["HOSTLER_NAME"] = wanted.name();
    spec.environment["HOSTLER_GPUS"] = fmt::format("{}", fmt::join(wanted.gpus(), ","));
    std::vector<std::uint32_t> ports;
    for (const auto& port : wanted.ports()) ports.push_back(port.port());
    std::vector<std::string> volumes;
    for (const auto& mount : wanted.mounts()) volumes.push_back(mount.volume());
    const auto put = [&](std::string_view key, std::string value) {
        spec.labels[std::string{key}] = std::move(value);
    };
    put(label::host, host_);
    put(label::instance, wanted.instance());
    put(label::generation, fmt::format("{}", job.command.generation()));
    put(label::tenant, wanted.tenant());
    if (!wanted.project().empty()) put(label::project, wanted.project());
    put(label::network, spec.network);
    put(label::address, spec.address);
    put(label::ports, fmt::format("{}", fmt::join(ports, ",")));
    put(label::volumes, fmt::format("{}", fmt::join(volumes, ",")));
    put(label::name, wanted.name());
    put(label::image, spec.image);
    put(label::gpus, fmt::format("{}", fmt::join(wanted.gpus(), ",")));
    put(label::cpu, fmt::format("{}", spec.cpu_milli));
    put(label::memory, fmt::format("{}", spec.memory_bytes));
    std::vector<std::string> probes, mounts;
    for (const auto& port : wanted.ports())
        if (port.probe()) probes.push_back(fmt::format("{}{}", port.port(), port.probe_path()));
    for (const auto& mount : wanted.mounts())
        mounts.push_back((mount.read_only() ? "ro" : "rw") + mount.path());
    put(label::probes, fmt::format("{}", fmt::join(probes, "\n")));
    put(label::mounts, fmt::format("{}", fmt::join(mounts, "\n")));
    if (wanted.jupyter_port() > 0)
        put(label::jupyter, fmt::format("{}{}", wanted.jupyter_port(), wanted.jupyter_path()));
    for (const auto& mount : wanted.mounts()) spec.mounts.push_back({"", mount.path(), mount.read_only()});
    return spec;
}

// Everything the container needs to be there before it is: its network and its volumes, side by side.
Task<ContainerSpec> Executor::prepare(JobPtr job) {
    const auto& wanted = job->command.start_workload();
    ContainerSpec spec = CO_TRY(spec_of(*job));
    spec.ids = CO_TRY(co_await ids_of(wanted.tenant()));
    std::vector<std::string> notes;
    std::vector<Task<>> parts;
    if (!spec.network.empty())
        parts.push_back(
            ensure_network({spec.network, wanted.network().subnet(), wanted.network().gateway()}));
    for (int i = 0; i < wanted.mounts_size(); ++i)
        parts.push_back(
            attach(wanted.mounts(i).volume(), spec.ids, spec.mounts[static_cast<std::size_t>(i)], notes));
    CO_TRY(co_await at_once(ports_.loop, std::move(parts)));
    for (auto& note : notes) progress(*job, "starting", std::move(note));
    co_return spec;
}

Task<> Executor::ensure_network(NetworkSpec network) {
    auto made = co_await persist(ports_.timers, [&] { return ports_.networks.ensure(network); });
    if (!made) co_return std::unexpected(because(made.error(), "network_failed"));
    co_return Result<>{};
}

Task<> Executor::attach(std::string volume, IdRange ids, MountSpec& mount, std::vector<std::string>& notes) {
    auto attached = co_await persist(ports_.timers, [&] { return ports_.volumes.attach(volume, ids); });
    if (!attached && attached.error().code == Code::not_found)
        co_return fail(Code::not_found, fmt::format("volume {} is not on this host", volume),
                       "volume_missing");
    if (!attached) co_return std::unexpected(of_volume(attached.error()));
    if (!attached->note.empty())
        notes.push_back(fmt::format("volume at {}: {}", mount.target, attached->note));
    mount.source = attached->folder;
    co_return Result<>{};
}

Task<IdRange> Executor::ids_of(std::string tenant) {
    auto ids = co_await persist(ports_.timers, [&]() -> Task<IdRange> {
        auto engine = hooks_.engine();
        if (!engine) engine = CO_TRY(co_await ports_.engine.describe());
        co_return co_await tenant_ids_.of(tenant, std::move(*engine));
    });
    if (!ids) co_return std::unexpected(because(ids.error(), "journal_failed"));
    co_return *ids;
}

Task<> Executor::make_ready(JobPtr job) {
    const auto& wanted = job->command.start_workload();
    const std::string instance = wanted.instance();
    const Duration allowed = wanted.ready_deadline_ms() > 0
                                 ? Duration{milliseconds{wanted.ready_deadline_ms()}}
                                 : ready_deadline_default;
    // Also where an agent before this one has begun to wait; one try is made in any case.
    const Instant now = ports_.timers.now_with_sleep();
    const Instant begun = workloads_.probing_since(instance, job->command.generation(), now);
    const Instant until = ports_.timers.now() + std::max<Duration>(allowed - (now - begun), probe_try_max);
    const Workload* seen = workloads_.find(instance);
    if (!seen || !seen->ready) {
        for (const auto& port : wanted.ports())
            if (port.probe()) CO_TRY(co_await probe_port(job, port, begun, until));
        seen = workloads_.find(instance);
        if (!seen || seen->state != WorkloadState::running)
            co_return fail(Code::invalid, "the container ended before it was ready", "exited");
    }
    job->seen = *seen;
    job->seen->ready = true;
    job->seen->detail.clear();
    co_return Result<>{};
}

Task<> Executor::probe_port(JobPtr job, uplink::Port port, Instant begun, Instant until) {
    constexpr Duration wait_min = milliseconds{1}, wait_max = seconds{1}, try_max = probe_try_max;
    const std::string instance = job->command.start_workload().instance();
    std::string said;
    for (Duration wait = wait_min;; wait = std::min(wait * 3 / 2, wait_max)) {
        const Workload* seen = workloads_.find(instance);
        if (!seen || seen->state == WorkloadState::exited)
            co_return fail(Code::invalid, "the container ended before it was ready", "exited");
        const std::string container = seen->container;
        const Duration left = until - ports_.timers.now();
        const Probe what{fmt::format("{}:{}", seen->address, port.port()), port.probe_path()};
        const auto answer = co_await probe(ports_.net, ports_.timers, what,
                                           std::min(try_max, std::max<Duration>(left, milliseconds{1})));
        if (answer) co_return Result<>{};
        if (answer.error().code == Code::cancelled) CO_TRY(co_await check_cancelled());
        const bool last = ports_.timers.now() + wait >= until;
        Result<std::string> local{};
        if (last || wait == wait_max)
            local = co_await silent_.why(container, static_cast<std::uint16_t>(port.port()));
        if (!local) CO_TRY(co_await check_cancelled());
        const std::string why = fmt::format("port {}: {}", port.port(),
                                            local && !local->empty() ? *local : answer.error().message);
        if (last)
            co_return fail(Code::timeout, fmt::format("it was not ready in time; {}", why), "not_ready");
        workloads_.note_detail(instance, why);
        if (wait == wait_min) progress(*job, "probing", "waiting for it to answer");
        if (wait == wait_max && why != said) progress(*job, "probing", said = why);
        if (wait == wait_max)
            CO_TRY(co_await workloads_.keep_probing_since(instance, job->command.generation(), begun));
        CO_TRY(co_await sleep(ports_.timers, wait));
    }
}

// A start that failed leaves nothing behind but its logs and a sentence. Only what carries our labels is
// touched.
Task<> Executor::give_up(JobPtr job, Error why) {
    const auto& wanted = job->command.start_workload();
    const std::string instance = wanted.instance();
    hooks_.stopping(instance);
    (void)co_await look(instance);
    CO_TRY(co_await check_cancelled());
    const Workload* seen = workloads_.find(instance);
    if (!seen || seen->generation != job->command.generation()) co_return std::unexpected(std::move(why));
    const Workload ended = *seen;
    job->seen = ended;
    if (why.reason == "exited" && !ended.detail.empty()) why.message += ": " + ended.detail;
    if (const auto text = co_await keep_logs(instance, ended.container); text && !text->empty())
        why.message += "; its last lines were:\n" + last_lines(*text);
    const auto gone =
        co_await take_away(job, ended, grace_of(wanted.stop_grace_ms()), end_of(wanted.keep_layer()));
    if (!gone) {
        if (gone.error().code == Code::cancelled) co_return gone;
        log_error("container {} of a failed start cannot be removed: {}", ended.container,
                  gone.error().message);
    }
    co_return std::unexpected(std::move(why));
}

Task<> Executor::stop(JobPtr job) {
    const auto& asked = job->command.stop_workload();
    const std::string instance = asked.instance();
    if (asked.if_unused_ms() > 0) CO_TRY(co_await decide_unused(job));
    struct Mark {
        Workloads& workloads;
        const std::string& instance;
        ~Mark() { workloads.note_stopping(instance, false); }
    } const mark{workloads_, instance};
    workloads_.note_stopping(instance, true);
    hooks_.stopping(instance);
    if (auto seen = co_await look(instance); !seen)
        co_return std::unexpected(because(seen.error(), "engine_failed"));
    Workload gone;
    gone.instance = instance;
    gone.generation = job->command.generation();
    if (const Workload* found = workloads_.find(instance)) {
        gone = *found;
        if (gone.generation > job->command.generation())
            co_return fail(Code::conflict,
                           fmt::format("instance {} already runs generation {}; the command is for {}",
                                       instance, gone.generation, job->command.generation()),
                           "stale_generation");
        CO_TRY(co_await take_away(job, gone, grace_of(asked.grace_ms()), end_of(asked.keep_layer())));
    } else if (!asked.keep_layer()) {
        CO_TRY(co_await lose_layer(instance));
    }
    gone.state = WorkloadState::absent;
    gone.ready = false;
    job->seen = gone;
    co_return Result<>{};
}

// Made, or grown. What failed may yet have been made, and nobody would ask for its removal. What was there
// before stays, as large as it has become.
Task<> Executor::create_volume(std::string volume, std::uint64_t size_bytes) {
    const auto before = co_await ports_.volumes.list();
    const auto made =
        co_await persist(ports_.timers, [&] { return ports_.volumes.create(volume, size_bytes); });
    if (made) co_return Result<>{};
    if (made.error().code == Code::cancelled || !before ||
        std::ranges::find(*before, volume) != before->end())
        co_return std::unexpected(of_volume(made.error()));
    if (const auto gone = co_await persist(ports_.timers, [&] { return ports_.volumes.remove(volume); });
        !gone)
        log_error("the remains of volume {} cannot be removed: {}", volume, gone.error().message);
    co_return std::unexpected(of_volume(made.error()));
}

Task<> Executor::delete_volume(std::string volume) {
    if (auto seen = co_await look_at_all(); !seen)
        co_return std::unexpected(because(seen.error(), "engine_failed"));
    for (const auto& [instance, workload] : workloads_.all())
        if (std::ranges::find(workload.volumes, volume) != workload.volumes.end())
            co_return fail(
                Code::conflict,
                fmt::format("volume {} is mounted by instance {}; stop that first", volume, instance),
                "volume_in_use");
    co_return co_await persist(ports_.timers, [&] { return ports_.volumes.remove(volume); });
}

// That an earlier stop has kept.
Task<> Executor::lose_layer(std::string instance) {
    if (!ports_.layers) co_return Result<>{};
    const std::string container = container_name(instance);
    auto lost = co_await persist(ports_.timers, [&]() -> Task<> {
        const auto kept = CO_TRY(co_await ports_.layers->kept());
        if (std::ranges::find(kept, container, &KeptLayer::name) == kept.end()) co_return Result<>{};
        co_return co_await ports_.engine.remove(container, LayerEnd::lost);
    });
    if (!lost) co_return std::unexpected(because(lost.error(), "stop_failed"));
    co_return Result<>{};
}

Task<> Executor::take_away(JobPtr job, Workload gone, Duration grace, LayerEnd layer) {
    const std::string instance = gone.instance, container = gone.container;
    const auto step = [&](Result<> result) -> Result<> {
        if (!result) return std::unexpected(because(result.error(), "stop_failed"));
        return {};
    };
    const auto end = co_await persist(ports_.timers, [&] { return ports_.engine.stop(container, grace); });
    if (!end) co_return std::unexpected(because(end.error(), "stop_failed"));
    if (*end == StopEnd::killed) {
        job->killed = gone.generation;
        job->killed_after = grace;
    }
    (void)co_await keep_logs(instance, container);
    CO_TRY(co_await check_cancelled());
    CO_TRY(step(co_await persist(ports_.timers, [&] { return ports_.engine.remove(container, layer); })));
    CO_TRY(step(co_await look(instance)));
    if (workloads_.find(instance))
        co_return fail(Code::unavailable,
                       fmt::format("container {} is still there after its removal", container),
                       "stop_failed");
    co_return co_await leases_.drop(std::move(instance));
}

// Kept text is a comfort, not a promise: that it cannot be kept stops nothing.
Task<std::string> Executor::keep_logs(std::string instance, std::string container) {
    const auto log = co_await ports_.engine.logs(container, {.bytes_max = kept_log_max});
    if (!log) {
        if (log.error().code != Code::not_found) log_warn("logs of {}: {}", container, log.error().message);
        co_return std::unexpected(log.error());
    }
    if (auto kept = co_await ports_.logs.keep(instance, kept_log(*log)); !kept)
        log_warn("logs of {} are not kept: {}", container, kept.error().message);
    co_return text_of(log_pieces(log->pieces));
}

}  // namespace hostler::agent
