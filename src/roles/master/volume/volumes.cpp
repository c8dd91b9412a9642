#include "roles/master/volume/volumes.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/types_instance.h"
#include "api/types_volume.h"
#include "core/quantity.h"
#include "roles/master/quota/enforce.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/state/host_blocks.h"
#include "roles/master/state/near.h"
#include "roles/master/tenancy/tenancy.h"
#include "roles/master/volume/disks.h"
#include "roles/master/volume/explain.h"

namespace hostler::master {

namespace {

std::string name_of(const Desk& desk, const std::string& volume) {
    const Volume* known = desk.estate.volumes.find(volume);
    return known ? known->name : volume;
}

bool writes_to(const std::vector<InstanceVolume>& mounts, const std::string& volume) {
    return std::ranges::any_of(
        mounts, [&](const InstanceVolume& mount) { return mount.volume == volume && !mount.read_only; });
}

// The one that runs on this volume; nullptr: none.
const LongOperation* operation_on(const Desk& desk, const std::string& volume) {
    return desk.estate.operations.by().running_on.first("volume/" + volume);
}

const LongOperation& begin_operation(Desk& desk, std::string kind, const Volume& volume) {
    return desk.estate.operations.add({.id = new_id(desk.random, "op"),
                                       .kind = std::move(kind),
                                       .subject = "volume/" + volume.id,
                                       .tenant = volume.tenant,
                                       .project = volume.project,
                                       .message = volume.host.empty() ? "" : what_waits(desk, volume),
                                       .created_at = desk.estate.micros()});
}

void end_operation(Desk& desk, const std::string& volume, OperationPhase phase, std::string message,
                   std::string code = {}) {
    const LongOperation* running = operation_on(desk, volume);
    if (!running) return;
    LongOperation& ended = desk.estate.operations.edit(std::string{running->id});
    ended.phase = phase;
    ended.message = std::move(message);
    ended.code = std::move(code);
    ended.ended_at = desk.estate.micros();
}

std::string shown(std::int64_t bytes) { return to_string(Quantity::of_units(bytes)); }

std::unexpected<Error> busy(std::string message) {
    Error error{Code::conflict, std::move(message), "volume_busy"};
    error.help = "Ask again when that is done.";
    return std::unexpected(std::move(error));
}

void grown(Desk& desk, const std::string& id) {
    Volume& volume = desk.estate.volumes.edit(id);
    const std::int64_t before = std::exchange(volume.size_bytes, std::exchange(volume.wanted_bytes, 0));
    if (!volume.host.empty()) volume.message.clear();
    if (volume.size_bytes != before)
        desk.estate.event("volume", id, volume.tenant, "grown",
                          fmt::format("Volume {} has grown from {} to {}.", volume.name, shown(before),
                                      shown(volume.size_bytes)));
    end_operation(desk, id, OperationPhase::done, fmt::format("it has {} now", shown(volume.size_bytes)));
}

// A disk that has no room will have none in a moment, either; whatever else it was is tried again.
void note_growth(Desk& desk, const std::string& id, const CommandAnswer& answer) {
    if (answer.done) return grown(desk, id);
    Volume& volume = desk.estate.volumes.edit(id);
    if (answer.code != "exhausted" && answer.code != "invalid" && answer.code != "not_found") {
        volume.message = answer.message;
        return;
    }
    volume.wanted_bytes = 0;
    volume.message = fmt::format("it could not grow: {}", answer.message);
    desk.estate.event("volume", id, volume.tenant, "not_grown",
                      fmt::format("Volume {} could not grow: {}", volume.name, answer.message));
    end_operation(desk, id, OperationPhase::failed, answer.message, answer.reason);
}

void forget(Desk& desk, const std::string& id, std::string message) {
    Volume& volume = desk.estate.volumes.edit(id);
    volume.phase = VolumePhase::deleted;
    desk.estate.event("volume", id, volume.tenant, "deleted",
                      fmt::format("Volume {} was deleted.", volume.name));
    const LongOperation* running = operation_on(desk, id);
    const bool as_wished = running && running->kind == "deleteVolume";
    end_operation(desk, id, as_wished ? OperationPhase::done : OperationPhase::failed, std::move(message),
                  as_wished ? "" : "volume_deleted");
    desk.estate.volumes.retire(id);
}

}  // namespace

Result<std::int64_t> size_of(const std::string& text) {
    const std::int64_t bytes = TRY(parse_quantity(text)).units();
    if (bytes >= volume_bytes_min) return bytes;
    Error error{Code::invalid, fmt::format("size: must be at least {}", shown(volume_bytes_min)), "invalid"};
    error.fields.push_back({"size", fmt::format("must be at least {}", shown(volume_bytes_min))});
    return std::unexpected(std::move(error));
}

Result<const Volume*> create_volume(Desk& desk, const api::CreateVolume& request, const std::string& tenant,
                                    const std::string& created_by) {
    const std::string project = project_meant(request);
    TRY(check_project(desk, tenant, project));
    if (find_volume(desk, tenant, request.name))
        return fail(Code::conflict, fmt::format("there is a volume {} already", request.name),
                    "volume_exists");
    if (request.zone && !desk.estate.zones.find(*request.zone)) {
        Error error{Code::invalid, no_such_in(desk.estate.zones, "zone", *request.zone), "invalid"};
        error.fields.push_back({"zone", "no such zone"});
        return std::unexpected(std::move(error));
    }
    const std::int64_t size = TRY(size_of(request.size));
    TRY(check_volume_fits(desk, size, request.zone.value_or("")));
    TRY(check_quotas(desk, {tenant, project, created_by}, {{"volumes", size}}));
    Volume volume{.id = new_id(desk.random, "v"),
                  .name = request.name,
                  .tenant = tenant,
                  .project = project,
                  .zone = request.zone.value_or(""),
                  .size_bytes = size,
                  .created_at = desk.estate.micros(),
                  .created_by = created_by};
    ensure_project(desk, tenant, project);
    volume.message = "it is made on the host of the first instance that mounts it";
    desk.estate.event("volume", volume.id, tenant, "created",
                      fmt::format("Volume {} was created.", volume.name));
    return &desk.estate.volumes.add(std::move(volume));
}

Result<const LongOperation*> delete_volume(Desk& desk, const std::string& id) {
    if (const auto users = attached_to(desk, id); !users.empty()) {
        Error error{Code::conflict,
                    fmt::format("volume {} is mounted by instance {}", desk.estate.volumes.at(id).name,
                                users.front()),
                    "volume_in_use"};
        error.help = "Delete the instance first.";
        return std::unexpected(std::move(error));
    }
    TRY(check_foreign_writers(desk, {.volume = id}));
    const Volume& volume = desk.estate.volumes.at(id);
    if (const LongOperation* before = operation_on(desk, id)) {
        if (volume.phase == VolumePhase::deleting) return before;
        end_operation(desk, id, OperationPhase::failed, "the volume is being deleted", "volume_deleted");
    }
    if (volume.host.empty()) {
        const LongOperation& operation = begin_operation(desk, "deleteVolume", volume);
        forget(desk, id, "it was on no host yet");
        return &operation;
    }
    desk.estate.volumes.edit(id).phase = VolumePhase::deleting;
    desk.estate.volumes.edit(id).message.clear();
    const LongOperation& operation = begin_operation(desk, "deleteVolume", volume);
    desk.estate.volumes.edit(id).wanted_bytes = 0;
    ++desk.estate.volumes.edit(id).meta.generation;
    close_commands(desk, id, volume.meta.generation);
    command(desk, volume.host, Verb::delete_volume, id, volume.meta.generation);
    return &operation;
}

Result<const LongOperation*> resize_volume(Desk& desk, const std::string& id, std::int64_t size_bytes) {
    const Volume& now = desk.estate.volumes.at(id);
    if (size_bytes < now.size_bytes) {
        Error error{
            Code::invalid,
            fmt::format("volume {} has {}, and volumes do not shrink", now.name, shown(now.size_bytes)),
            "invalid"};
        error.fields.push_back(
            {"size", fmt::format("is less than the {} that it has", shown(now.size_bytes))});
        error.help = "Make a smaller volume, and copy what is to be kept.";
        return std::unexpected(std::move(error));
    }
    switch (now.phase) {
        case VolumePhase::unbound:
        case VolumePhase::available: break;
        case VolumePhase::creating: return busy(fmt::format("volume {} is being made on its host", now.name));
        case VolumePhase::deleting:
        case VolumePhase::deleted: return busy(fmt::format("volume {} is being deleted", now.name));
    }
    if (const LongOperation* running = operation_on(desk, id)) {
        if (size_bytes == now.wanted_bytes) return running;
        return busy(fmt::format("volume {} is growing to {}", now.name, shown(now.wanted_bytes)));
    }
    TRY(check_volume_fits(desk, size_bytes, now.host.empty() ? now.zone : "", now.host));
    const std::int64_t more = room_of(size_bytes) - room_of(now.size_bytes);
    const auto& rooms = room(desk).hosts();
    if (const auto there = rooms.find(now.host);
        there != rooms.end() && more > there->second.free.volume_bytes) {
        const Candidate& host = there->second.free;
        Error error{
            Code::exhausted,
            fmt::format("the disk of host {} has no room for {} more of volume {}: {} are left for volumes",
                        host.name, shown(more), now.name,
                        shown(std::max<std::int64_t>(host.volume_bytes, 0))),
            "disk_full"};
        error.help = "Delete another volume there, or make a new one, which may lie on another host.";
        return std::unexpected(std::move(error));
    }
    TRY(check_quotas(desk, asker_of(now), {{"volumes", size_bytes - now.size_bytes}}));
    Volume& volume = desk.estate.volumes.edit(id);
    volume.wanted_bytes = size_bytes;
    if (!volume.host.empty()) volume.message = fmt::format("it grows to {}", shown(size_bytes));
    const LongOperation& operation = begin_operation(desk, "resizeVolume", volume);
    if (volume.host.empty() || volume.wanted_bytes == volume.size_bytes) {
        grown(desk, id);
        return &operation;
    }
    ++volume.meta.generation;
    command(desk, volume.host, Verb::create_volume, id, volume.meta.generation);
    return &operation;
}

const Volume* find_volume(const Desk& desk, const std::string& tenant, const std::string& name) {
    const Volume* found = desk.estate.volumes.by().tenant_name.first({tenant, name});
    const Volume* same_id = desk.estate.volumes.find(name);
    if (same_id && same_id->tenant == tenant && (!found || same_id->id < found->id)) return same_id;
    return found;
}

std::vector<std::string> attached_to(const Desk& desk, const std::string& volume) {
    std::vector<std::string> users;
    for (const Instance* instance : desk.estate.instances.by().volume.of(volume))
        if (!instance->claim.empty() || !is_final(instance->phase)) users.push_back(instance->caller_id);
    return users;
}

std::string zone_of(const Desk& desk, const Volume& volume) {
    const Host* host = desk.estate.hosts.find(volume.host);
    return host ? host->zone : volume.zone;
}

std::string no_such_volume(const Desk& desk, const std::string& tenant, const std::string& name) {
    std::vector<std::string_view> known;
    for (const Volume* volume : desk.estate.volumes.by().tenant.of(tenant, near_names_max))
        known.push_back(volume->name);
    return no_such("volume", name, known);
}

std::vector<InstanceVolume> mounts_of(const Desk& desk, const api::CreateInstance& request, std::string& zone,
                                      std::string& host, std::vector<FieldError>& wrong) {
    std::vector<InstanceVolume> mounts;
    std::set<std::string> paths;
    const std::string project = project_meant(request);
    if (!request.storage_id.empty()) {
        const Volume* volume = find_volume(desk, request.tenant_id, request.storage_id);
        if (!volume)
            wrong.push_back({"storageID", no_such_volume(desk, request.tenant_id, request.storage_id)});
        else if (std::string elsewhere = not_in_project(*volume, project); !elsewhere.empty())
            wrong.push_back({"storageID", std::move(elsewhere)});
    }
    for (std::size_t i = 0; i < request.template_.volumes.size(); ++i) {
        const api::VolumeMount& mount = request.template_.volumes[i];
        const std::string path = fmt::format("template.volumes[{}]", i);
        const std::string& name = mount.name.empty() ? request.storage_id : mount.name;
        const Volume* volume = find_volume(desk, request.tenant_id, name);
        // A name of the mount itself, not of a volume, stands for the default one.
        if (!volume && !request.storage_id.empty())
            volume = find_volume(desk, request.tenant_id, request.storage_id);
        if (!paths.insert(mount.mount_path).second) wrong.push_back({path + ".mountPath", "is given twice"});
        if (!volume) {
            if (name.empty())
                wrong.push_back({path + ".name", "names no volume, and there is no storageID"});
            else if (request.storage_id.empty())
                wrong.push_back({path + ".name", no_such_volume(desk, request.tenant_id, name)});
            continue;
        }
        if (std::string elsewhere = not_in_project(*volume, project);
            !elsewhere.empty() && !mount.name.empty())
            wrong.push_back({path + ".name", std::move(elsewhere)});
        if (volume->phase == VolumePhase::deleting)
            wrong.push_back({path + ".name", fmt::format("volume {} is being deleted", volume->name)});
        if (!volume->host.empty() && !host.empty() && volume->host != host)
            wrong.push_back(
                {path + ".name",
                 fmt::format("volume {} lies on another host than the volumes before it", volume->name)});
        if (!volume->host.empty()) host = volume->host;
        if (const std::string there = zone_of(desk, *volume); zone.empty())
            zone = there;
        else if (!there.empty() && there != zone)
            wrong.push_back({path + ".name",
                             fmt::format("volume {} is in zone {}, not in {}", volume->name, there, zone)});
        mounts.push_back({volume->id, mount.mount_path, mount.read_only});
    }
    return mounts;
}

Result<> find_volumes(const Desk& desk, const Instance& instance, std::string& zone, std::string& host) {
    const auto refuse = [&](const std::string& what) {
        return fail(Code::conflict,
                    fmt::format("instance {} cannot be started: {}", instance.caller_id, what),
                    "volume_unavailable");
    };
    for (const InstanceVolume& mount : instance.spec.volumes) {
        const Volume* volume = desk.estate.volumes.find(mount.volume);
        if (!volume || volume->phase == VolumePhase::deleting)
            return refuse(fmt::format("its volume at {} was deleted", mount.path));
        if (volume->host.empty()) continue;
        if (!host.empty() && volume->host != host)
            return refuse("its volumes have come to lie on different hosts");
        host = volume->host;
        zone = zone_of(desk, *volume);
    }
    return {};
}

Result<> check_writers(const Desk& desk, const InstanceVolume& mount) {
    for (const Instance* other : desk.estate.instances.by().volume.of(mount.volume)) {
        if (other->claim.empty()) continue;
        const bool writes = writes_to(other->spec.volumes, mount.volume);
        if (!writes && mount.read_only) continue;
        Error error{Code::conflict,
                    fmt::format("volume {} is mounted {} by instance {}", name_of(desk, mount.volume),
                                writes ? "for writing" : "read-only", other->caller_id),
                    "volume_in_use"};
        error.help = writes ? "Stop that instance, or mount it read-only in both."
                            : "Mount it read-only as well, or stop those that do.";
        return std::unexpected(std::move(error));
    }
    return {};
}

Result<> check_foreign_writers(const Desk& desk, const InstanceVolume& mount) {
    for (const Claim* foreign : desk.estate.claims.by().use.of(ClaimUse::foreign)) {
        const Claim& claim = *foreign;
        const SeenWorkload* seen = seen_workload(desk, claim);
        if (!seen || !std::ranges::count(seen->mounts, mount.volume, &InstanceVolume::volume)) continue;
        if (mount.read_only && !writes_to(seen->mounts, mount.volume)) continue;
        Error error{Code::conflict,
                    fmt::format("volume {} is mounted by the unmanaged workload {} on host {}",
                                name_of(desk, mount.volume), claim.holder, claim.host),
                    "volume_in_use"};
        error.help = "An operator adopts or removes it: `hostler reconcile review`.";
        return std::unexpected(std::move(error));
    }
    return {};
}

Result<> check_attachable(const Desk& desk, const Instance& instance) {
    for (const InstanceVolume& mount : instance.spec.volumes) {
        TRY(check_writers(desk, mount));
        TRY(check_foreign_writers(desk, mount));
    }
    return {};
}

std::int64_t bytes_to_make(const Desk& desk, const Instance& instance) {
    std::int64_t bytes = 0;
    std::set<std::string> seen;
    for (const InstanceVolume& mount : instance.spec.volumes) {
        const Volume& volume = desk.estate.volumes.at(mount.volume);
        if (volume.host.empty() && seen.insert(volume.id).second) bytes += room_of(volume.size_bytes);
    }
    return bytes;
}

void bind_volumes(Desk& desk, const Instance& instance) {
    for (const InstanceVolume& mount : instance.spec.volumes) {
        if (desk.estate.volumes.at(mount.volume).phase != VolumePhase::unbound) continue;
        Volume& volume = desk.estate.volumes.edit(mount.volume);
        volume.host = instance.host;
        volume.phase = VolumePhase::creating;
        volume.message.clear();
        volume.message = what_waits(desk, volume);
        if (!commanded(desk, volume.id))
            command(desk, volume.host, Verb::create_volume, volume.id, volume.meta.generation);
    }
}

bool volumes_ready(const Desk& desk, const Instance& instance) {
    return std::ranges::all_of(instance.spec.volumes, [&](const InstanceVolume& mount) {
        const Volume* volume = desk.estate.volumes.find(mount.volume);
        return volume && volume->phase == VolumePhase::available;
    });
}

bool note_volume(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    const Volume* volume = desk.estate.volumes.find(command.subject);
    if (!volume || volume->meta.generation != command.subject_generation) return false;
    // A restored store has forgotten what the host obeyed of it.
    if (answer.reason == "stale_generation") ++desk.estate.volumes.edit(command.subject).meta.generation;
    if (refused_unread(answer)) return false;  // The next look makes another command.
    // A disk that failed may have written all the same what it was to remember: the command may yet be done,
    // so that its volume is asked for until the host is sure. (A full disk has certainly written nothing.)
    if (answer.reason == "journal_failed" && answer.code != "exhausted") return false;
    if (command.verb == Verb::delete_volume) {
        if (answer.done)
            forget(desk, command.subject, "deleted");
        else
            desk.estate.volumes.edit(command.subject).message = answer.message;
        return false;  // The next sweep repeats a deletion that failed.
    }
    if (volume->phase == VolumePhase::available) {
        if (volume->wanted_bytes > 0) note_growth(desk, command.subject, answer);
        return false;
    }
    Volume& made = desk.estate.volumes.edit(command.subject);
    // A host that could not write down that it refused may yet begin a late copy of the command: the volume
    // stays its to make, and is asked for again.
    const bool stays = answer.done || answer.reason == "journal_failed";
    if (answer.done) made.phase = VolumePhase::available;
    if (!stays) made.phase = VolumePhase::unbound, made.host.clear();
    made.message = answer.done ? "" : answer.message;
    return true;
}

void reconcile_volumes(Desk& desk) {
    tell_waiting(desk);
    std::vector<std::string> ids;
    for (const Volume* volume : desk.estate.volumes.by().work.of(VolumeWork::act))
        if (!commanded(desk, volume->id) && !resting(desk, volume->id)) ids.push_back(volume->id);
    for (const std::string& id : ids) {
        const Volume& volume = desk.estate.volumes.at(id);
        command(desk, volume.host,
                volume.phase == VolumePhase::deleting ? Verb::delete_volume : Verb::create_volume, id,
                volume.meta.generation);
    }
}

void lose_volumes(Desk& desk, const std::string& host) {
    std::vector<std::string> ids;
    for (const Volume* volume : desk.estate.volumes.by().host.of(host)) ids.push_back(volume->id);
    for (const std::string& id : ids) forget(desk, id, "its host was removed");
}

}  // namespace hostler::master
