#include "roles/agent/workloads.h"

#include <charconv>

#include <fmt/format.h>

#include "core/log.h"

namespace hostler::agent {

namespace {

std::string value(const Container& container, std::string_view key) {
    const auto found = container.labels.find(std::string{key});
    return found == container.labels.end() ? std::string{} : found->second;
}

std::uint64_t number(std::string_view text) {
    std::uint64_t made = 0;
    std::from_chars(text.data(), text.data() + text.size(), made);
    return made;
}

std::vector<std::string> split(const std::string& text, char by = ',') {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find(by, at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

std::string ready_key(const std::string& instance) { return "ready/" + instance; }
std::string probing_key(const std::string& instance) { return "probing/" + instance; }

std::string why_ended(const Container& container) {
    if (!container.error.empty()) return container.error;
    if (container.oom_killed) return "it was killed for using more memory than it may";
    return fmt::format("it ended with exit code {}", container.exit_code);
}

}  // namespace

constexpr std::string_view name_prefix = "hostler-";

std::string container_name(std::string_view instance) { return fmt::format("{}{}", name_prefix, instance); }

std::string instance_of(std::string_view container) {
    return std::string{container.starts_with(name_prefix) ? container.substr(name_prefix.size()) : ""};
}

std::uint64_t generation_of(const Container& container) {
    return number(value(container, label::generation));
}

Task<> Workloads::refresh() {
    constexpr int tries_max = 4;
    for (int tries = 0; tries < tries_max; ++tries) {
        const std::uint64_t noted = noted_;
        auto list = co_await engine_.list(std::string{label::host}, host_);
        if (!list) {
            if (list.error().code == Code::cancelled) co_return std::unexpected(list.error());
            note_silent(list.error().message);
            co_return std::unexpected(list.error());
        }
        if (noted != noted_) continue;  // It was overtaken by a command.
        if (!silence_.empty()) log_info("the container engine answers");
        known_ = true;
        doubted_ = false;
        silence_.clear();
        engine_error_.clear();
        std::set<std::string> here;
        for (const Container& container : *list) {
            if (container.name.empty()) {  // The engine cannot look at it: it is as it was.
                for (const auto& [instance, workload] : all_)
                    if (workload.container_id == container.id) here.insert(instance);
                continue;
            }
            Workload workload = of(container);
            if (workload.instance.empty()) continue;
            here.insert(workload.instance);
            put(std::move(workload));
        }
        std::vector<std::string> gone;
        for (const auto& [instance, workload] : all_)
            if (!here.contains(instance)) gone.push_back(instance);
        for (const auto& instance : gone) note_absent(instance);
        co_return co_await forget_ready();
    }
    co_return Result<>{};  // Commands keep changing things, and tell what they change themselves.
}

Task<> Workloads::refresh(std::string instance) {
    std::optional<Container> seen;
    for (Container& container : CO_TRY(co_await engine_.list(std::string{label::instance}, instance))) {
        if (container.name.empty() && find(instance)) co_return Result<>{};
        if (container.name.empty())
            co_return fail(Code::unavailable, fmt::format("the container engine cannot look at {}: {}",
                                                          container_name(instance), container.error));
        if (value(container, label::host) == host_) seen = std::move(container);
    }
    if (seen)
        note(*seen);
    else
        note_absent(instance);
    co_return Result<>{};
}

void Workloads::note_silent(std::string why) {
    if (known_ || silence_.empty()) log_warn("the container engine does not answer: {}", why);
    if (known_) grace_ends_ = timers_.now() + engine_grace_;
    known_ = false;
    silence_ = std::move(why);
    if (timers_.now() >= grace_ends_) engine_error_ = silence_;
}

const Workload* Workloads::find(const std::string& instance) const {
    const auto found = all_.find(instance);
    return found == all_.end() ? nullptr : &found->second;
}

void Workloads::note(const Container& container) {
    ++noted_;
    put(of(container));
}

void Workloads::note_absent(const std::string& instance) {
    ++noted_;
    const auto found = all_.find(instance);
    if (found == all_.end()) return;
    Workload gone = std::move(found->second);
    all_.erase(found);
    gone.state = WorkloadState::absent;
    gone.ready = false;
    changed_(gone);
}

void Workloads::note_detail(const std::string& instance, std::string detail) {
    const auto found = all_.find(instance);
    if (found != all_.end()) found->second.detail = std::move(detail);
}

Journal::Entry Workloads::readiness(const std::string& instance, std::uint64_t generation) const {
    return {ready_key(instance), fmt::format("{}", generation)};
}

Instant Workloads::probing_since(const std::string& instance, std::uint64_t generation, Instant now) const {
    const auto entry = journal_.all().find(probing_key(instance));
    if (entry == journal_.all().end()) return now;
    const auto parts = split(entry->second, ' ');
    if (parts.size() != 2 || number(parts[0]) != generation) return now;
    const Instant begun{std::chrono::microseconds{number(parts[1])}};
    return begun <= now ? begun : now;  // Later: the machine was started since, or goes by another clock.
}

Task<> Workloads::keep_probing_since(std::string instance, std::uint64_t generation, Instant begun) {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(begun.time_since_epoch()).count();
    const std::string value = fmt::format("{} {}", generation, us);
    const auto entry = journal_.all().find(probing_key(instance));
    if (entry != journal_.all().end() && entry->second == value) co_return Result<>{};
    if (const auto kept = co_await journal_.put(probing_key(instance), value); !kept)
        log_warn("since when instance {} is waited for is not kept: {}", instance, kept.error().message);
    co_return Result<>{};
}

void Workloads::note_ready(const std::string& instance) {
    const auto found = all_.find(instance);
    if (found == all_.end() || found->second.state != WorkloadState::running || !is_ready(found->second))
        return;
    Workload ready = found->second;
    ready.ready = true;
    ready.detail.clear();
    put(std::move(ready));
}

bool Workloads::is_ready(const Workload& workload) const {
    const auto entry = journal_.all().find(ready_key(workload.instance));
    return entry != journal_.all().end() && number(entry->second) == workload.generation;
}

void Workloads::note_stopping(const std::string& instance, bool stopping) {
    if (stopping)
        stopping_.insert(instance);
    else
        stopping_.erase(instance);
}

Workload Workloads::of(const Container& container) const {
    Workload made;
    made.instance = value(container, label::instance);
    made.generation = generation_of(container);
    made.address = value(container, label::address);
    made.container = container.name;
    made.container_id = container.id;
    for (const auto& port : split(value(container, label::ports)))
        made.ports.push_back(static_cast<std::uint16_t>(number(port)));
    made.volumes = split(value(container, label::volumes));
    const std::string jupyter = value(container, label::jupyter);
    made.jupyter_port = static_cast<std::uint16_t>(number(jupyter));
    made.jupyter_path = jupyter.substr(std::min(jupyter.find('/'), jupyter.size()));
    made.tenant = value(container, label::tenant);
    made.project = value(container, label::project);
    made.name = value(container, label::name);
    made.image = value(container, label::image);
    made.network = value(container, label::network);
    made.gpus = split(value(container, label::gpus));
    made.cpu_milli = static_cast<std::int64_t>(number(value(container, label::cpu)));
    made.memory_bytes = static_cast<std::int64_t>(number(value(container, label::memory)));
    for (const std::string& line : split(value(container, label::probes), '\n'))
        made.probes[static_cast<std::uint16_t>(number(line))] =
            line.substr(std::min(line.find('/'), line.size()));
    for (const std::string& line : split(value(container, label::mounts), '\n'))
        made.mounts.push_back(
            {"", line.substr(std::min(line.find('/'), line.size())), line.starts_with("ro")});
    switch (container.state) {
        case ContainerState::created: made.state = WorkloadState::created; break;
        case ContainerState::running: made.state = WorkloadState::running; break;
        case ContainerState::exited: made.state = WorkloadState::exited; break;
    }
    if (made.state == WorkloadState::exited) {
        made.exit_code = container.exit_code;
        made.oom_killed = container.oom_killed;
        made.detail = why_ended(container);
    } else if (const auto before = all_.find(made.instance);
               before != all_.end() && before->second.generation == made.generation) {
        made.detail = before->second.detail;
    }
    // Readiness lasts as long as the container runs.
    made.ready = made.state == WorkloadState::running && is_ready(made);
    return made;
}

void Workloads::put(Workload workload) {
    auto& held = all_[workload.instance];
    if (held == workload) return;
    held = std::move(workload);
    const Workload changed = held;
    changed_(changed);
}

// Readiness of instances that are gone, so that the journal does not grow.
Task<> Workloads::forget_ready() {
    std::vector<std::string> keys;
    const auto& all = journal_.all();
    for (const std::string_view kind : {"ready/", "probing/"})
        for (auto at = all.lower_bound(std::string{kind}); at != all.end() && at->first.starts_with(kind);
             ++at) {
            const auto found = all_.find(at->first.substr(kind.size()));
            if (found == all_.end() || found->second.state == WorkloadState::exited)
                keys.push_back(at->first);
        }
    for (auto& key : keys) CO_TRY(co_await journal_.erase(std::move(key)));
    co_return Result<>{};
}

}  // namespace hostler::agent
