#include "roles/master/container/containers.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/quantity.h"
#include "roles/master/container/shell_words.h"

namespace hostler::master {

namespace {

std::string size_text(std::int64_t bytes) { return to_string(Quantity::of_units(bytes)); }

void read_shm_size(const std::string& text, std::int64_t memory_bytes, InstanceSpec& into,
                   std::vector<FieldError>& wrong) {
    const auto complain = [&](std::string what) { wrong.push_back({"shmSize", std::move(what)}); };
    const auto size = parse_quantity(text);
    if (!size) return complain(size.error().message);
    const std::int64_t bytes = size->units();
    if (bytes < 0) return complain("must not be negative");
    if (memory_bytes > 0 && bytes > memory_bytes)
        return complain(fmt::format("must not be larger than its memory, {}", size_text(memory_bytes)));
    into.shm_bytes = bytes;
}

}  // namespace

void read_container(const Desk& desk, const ContainerWish& wish, std::int64_t memory_bytes,
                    InstanceSpec& into, std::vector<FieldError>& wrong) {
    if (wish.entrypoint) {
        auto words = shell_words(*wish.entrypoint);
        into.replaces_entrypoint = words.has_value();
        if (words)
            into.entrypoint = std::move(*words);
        else
            wrong.push_back({"entrypoint", words.error().message});
    }
    if (wish.shm_size) read_shm_size(*wish.shm_size, memory_bytes, into, wrong);
    if (wish.stop_grace_s) {
        const auto most = desk.settings.stop_grace_max.count();
        if (*wish.stop_grace_s > most)
            wrong.push_back(
                {"stopGraceSeconds", fmt::format("must be at most {} s here (--stop-grace-max)", most)});
        into.stop_grace_s = *wish.stop_grace_s;
    }
    if (wish.no_init) into.no_init = *wish.no_init;
}

void check_command(const InstanceSpec& spec, std::string_view command_field, std::vector<FieldError>& wrong) {
    if (spec.replaces_entrypoint && spec.entrypoint.empty() && spec.command.empty())
        wrong.push_back({std::string{command_field},
                         "is required where entrypoint is empty: the image's CMD does not count then"});
}

std::int64_t memory_of(const Desk& desk, const Instance& instance) {
    if (const Claim* claim = desk.estate.claims.find(instance.claim)) return claim->memory_bytes;
    const Spec* spec = desk.estate.specs.find(instance.spec_name);
    return spec ? spec->memory_bytes : 0;
}

std::int64_t shm_bytes_of(const Desk& desk, const Instance& instance) {
    std::int64_t memory = memory_of(desk, instance);
    // An operator may have made its spec smaller since.
    if (instance.spec.shm_bytes > 0)
        return memory > 0 ? std::min(instance.spec.shm_bytes, memory) : instance.spec.shm_bytes;
    const Host* host = desk.estate.hosts.find(instance.host);
    if (memory == 0 && host) memory = host->facts.memory_bytes;
    return memory / 2;
}

std::chrono::seconds stop_grace_of(const Desk& desk, const Instance& instance) {
    const std::chrono::seconds own{instance.spec.stop_grace_s};
    return std::min(own.count() > 0 ? own : desk.settings.stop_grace, desk.settings.stop_grace_max);
}

std::string killed_sentence(const Instance& instance) {
    if (instance.runs.empty() || instance.runs.back().killed_after_s == 0) return {};
    return fmt::format(
        "Its last run was killed after {} s, since its program had not ended by then; `hostler instance "
        "update {} --stop-grace TIME` gives it more time.",
        instance.runs.back().killed_after_s, instance.caller_id);
}

std::optional<FullProcesses> full_processes(const Desk& desk, const Instance& instance) {
    // A command in it wants some by itself: less than this part of the limit is as good as nothing.
    constexpr int room_part = 64;
    if (desk.live.seen(instance.host, instance.id) != Seen::alive) return std::nullopt;
    const SeenWorkload& seen = desk.live.hosts.at(instance.host).workloads.at(instance.id);
    if (seen.processes_max <= 0 || seen.processes < seen.processes_max - seen.processes_max / room_part)
        return std::nullopt;
    return FullProcesses{
        .token = "processes_full",
        .sentence = fmt::format("it has {} of the {} processes and threads that it may have, so that no "
                                "others start in it",
                                seen.processes, seen.processes_max),
        .help =
            fmt::format("Let its program start fewer, or end those that it has: `hostler instance restart "
                        "{}`.",
                        instance.caller_id)};
}

}  // namespace hostler::master
