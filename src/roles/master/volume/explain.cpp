#include "roles/master/volume/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/types_common.h"
#include "core/quantity.h"
#include "roles/master/volume/disks.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {

namespace {

std::string host_words(const Desk& desk, const std::string& id) {
    const Host* host = desk.estate.hosts.find(id);
    return host && !host->facts.hostname.empty() ? fmt::format("{} ({})", host->facts.hostname, id) : id;
}

std::string size_words(std::int64_t bytes) { return to_string(Quantity::of_units(bytes)); }

bool connected(const Desk& desk, const std::string& host) {
    const auto live = desk.live.hosts.find(host);
    return live != desk.live.hosts.end() && live->second.connected;
}

// Names of the instances whose containers still have it mounted, as its host reports.
std::vector<std::string> seen_users(const Desk& desk, const Volume& volume) {
    std::vector<std::string> users;
    const auto live = desk.live.hosts.find(volume.host);
    if (live == desk.live.hosts.end()) return users;
    for (const auto& [id, workload] : live->second.workloads) {
        if (std::ranges::find(workload.mounts, volume.id, &InstanceVolume::volume) == workload.mounts.end())
            continue;
        const Instance* instance = desk.estate.instances.find(id);
        users.push_back(instance ? instance->caller_id : id);
    }
    return users;
}

std::string joined(const std::vector<std::string>& words) {
    return fmt::format("{}", fmt::join(words, ", "));
}

// What its host has to do with it.
std::string work_of(const Desk& desk, const Volume& volume) {
    switch (volume.phase) {
        case VolumePhase::creating: {
            const auto users = attached_to(desk, volume.id);
            return users.empty() ? "to make it" : fmt::format("to make it for instance {}", joined(users));
        }
        case VolumePhase::deleting: return "to delete it";
        case VolumePhase::available:
            return volume.wanted_bytes > 0 ? fmt::format("to grow it to {}", size_words(volume.wanted_bytes))
                                           : "";
        case VolumePhase::unbound:
        case VolumePhase::deleted: break;
    }
    return {};
}

constexpr std::string_view waits_for = "waiting for host ", grows_to = "it grows to ";

// Why its host could not do it, as the host last answered. Our own words in the message are no such answer.
std::string trouble_of(const Volume& volume) {
    const bool ours = volume.message.starts_with(waits_for) || volume.message.starts_with(grows_to);
    return ours ? "" : volume.message;
}

}  // namespace

std::string what_waits(const Desk& desk, const Volume& volume) {
    if (volume.phase == VolumePhase::unbound)
        return "it is made on the host of the first instance that mounts it";
    const std::string work = work_of(desk, volume);
    if (work.empty()) return {};
    std::string waits = fmt::format("{}{} {}", waits_for, host_words(desk, volume.host), work);
    if (!connected(desk, volume.host)) return waits + ", which is not connected";
    if (volume.phase == VolumePhase::deleting)
        if (const auto users = seen_users(desk, volume); !users.empty())
            waits += fmt::format(": the container of instance {} still has it mounted", joined(users));
    if (const std::string trouble = trouble_of(volume); !trouble.empty()) waits += ": " + trouble;
    return waits;
}

void tell_waiting(Desk& desk) {
    std::vector<std::pair<std::string, std::string>> operations, volumes;
    constexpr std::string_view kind = "volume/";
    for (const LongOperation* running : desk.estate.operations.by().work.of(OperationWork::wait)) {
        const LongOperation& operation = *running;
        if (!operation.subject.starts_with(kind)) continue;
        const Volume* volume = desk.estate.volumes.find(operation.subject.substr(kind.size()));
        if (!volume) continue;
        if (std::string waits = what_waits(desk, *volume); !waits.empty() && waits != operation.message)
            operations.emplace_back(operation.id, std::move(waits));
    }
    for (const Volume* volume : desk.estate.volumes.by().work.of(VolumeWork::act))
        if (volume->phase == VolumePhase::creating && trouble_of(*volume).empty())
            if (std::string waits = what_waits(desk, *volume); waits != volume->message)
                volumes.emplace_back(volume->id, std::move(waits));
    for (auto& [id, waits] : operations) desk.estate.operations.edit(id).message = std::move(waits);
    for (auto& [id, waits] : volumes) desk.estate.volumes.edit(id).message = std::move(waits);
}

namespace {

void explain_users(const Desk& desk, const Volume& volume, api::Explanation& why) {
    const auto users = attached_to(desk, volume.id);
    if (users.empty()) {
        why.sentence += " No instance uses it.";
        return;
    }
    why.sentence += fmt::format(" Instance{} {} use{} it.", users.size() > 1 ? "s" : "", joined(users),
                                users.size() > 1 ? "" : "s");
}

void explain_use(const Desk& desk, const Volume& volume, api::Explanation& why) {
    if (volume.host.empty()) return;
    const DiskUse* use = use_of_disk(desk, volume);
    if (!use) {
        why.sentence += " It is not known now how full it is: its host measures that while it is mounted.";
        return;
    }
    const std::string full = fullness_sentence(*use);
    if (full.empty()) {
        why.sentence += fmt::format(" In use: {}.", use_text(*use));
        return;
    }
    why.sentence += fmt::format(" It {}.", full);
    why.token = fullness_of(*use) == Fullness::full ? "volume_full" : "volume_nearly_full";
    why.would_help = fmt::format("Delete files in it, or make it larger: hostler volume resize {} --size {}",
                                 volume.name, size_words(2 * volume.size_bytes));
}

}  // namespace

api::Explanation explain_volume(const Desk& desk, const Volume& volume) {
    api::Explanation why{.token = boost::describe::enum_to_string(volume.phase, "")};
    if (volume.host.empty())
        why.sentence =
            fmt::format("It has {} and lies on no host{}.", size_words(volume.size_bytes),
                        volume.zone.empty() ? "" : fmt::format(", and will lie in zone {}", volume.zone));
    else
        why.sentence = fmt::format("It has {} and lies on host {} in zone {}.", size_words(volume.size_bytes),
                                   host_words(desk, volume.host), zone_of(desk, volume));
    explain_users(desk, volume, why);
    explain_use(desk, volume, why);
    const std::string waits = what_waits(desk, volume);
    if (volume.phase == VolumePhase::unbound) {
        why.sentence += fmt::format(" So far nothing is on a disk: {}.", waits);
        why.would_help = fmt::format(
            "Mount it in an instance: hostler instance create NAME --volume {}:/data", volume.name);
        return why;
    }
    if (waits.empty()) {
        if (!volume.message.empty()) why.sentence += fmt::format(" It says: {}.", volume.message);
        return why;
    }
    why.sentence += fmt::format(" It is {}.", waits);
    why.blocking.push_back({volume.host, connected(desk, volume.host) ? waits : "is not connected"});
    if (!connected(desk, volume.host)) {
        why.token = "host_unreachable";
        why.would_help = "Have an operator bring the host back.";
    } else if (const auto users = seen_users(desk, volume);
               volume.phase == VolumePhase::deleting && !users.empty()) {
        why.would_help = fmt::format("Wait until the container of instance {} has ended.", joined(users));
    }
    return why;
}

}  // namespace hostler::master
