// Volumes: what outlives an instance. An attachment is an instance with a place that mounts it.
#pragma once

#include "roles/master/command/commands.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct CreateInstance;
struct CreateVolume;
}  // namespace hostler::api

namespace hostler::master {

// Bytes of what a request says. Errors: invalid (no quantity; too small).
Result<std::int64_t> size_of(const std::string& text);

// `created_by`: as Volume has it. Errors: conflict (volume_exists), invalid, exhausted (quota_exceeded).
Result<const Volume*> create_volume(Desk& desk, const api::CreateVolume& request, const std::string& tenant,
                                    const std::string& created_by = {});

// Gives the operation that it takes. Errors: conflict (volume_in_use).
Result<const LongOperation*> delete_volume(Desk& desk, const std::string& id);

// Makes it larger, also while it is in use; gives the operation that it takes. Errors: invalid (smaller than
// it is), conflict (volume_busy), exhausted (disk_full: its host's; quota_exceeded).
Result<const LongOperation*> resize_volume(Desk& desk, const std::string& id, std::int64_t size_bytes);

// By id or by the tenant's name for it.
const Volume* find_volume(const Desk& desk, const std::string& tenant, const std::string& name);

// Instances that mount it, those that rest among them.
std::vector<std::string> attached_to(const Desk& desk, const std::string& volume);

// Where its data lies, or where it is wanted as long as it lies nowhere; empty: anywhere.
std::string zone_of(const Desk& desk, const Volume& volume);

// What the request mounts; wrong fields are added to `wrong`. `host` becomes where its volumes lie, if
// anywhere; `zone`, in which the request wants it, becomes where they may lie.
std::vector<InstanceVolume> mounts_of(const Desk& desk, const api::CreateInstance& request, std::string& zone,
                                      std::string& host, std::vector<FieldError>& wrong);

// Where one that rests has to be started, for its volumes' sake; left alone: anywhere. Errors: conflict
// (volume_unavailable).
Result<> find_volumes(const Desk& desk, const Instance& instance, std::string& zone, std::string& host);

// One writer at a time: among instances that have a place; and with those workloads, too, that nobody placed
// and that are seen to mount it. Errors of all: conflict (volume_in_use).
Result<> check_writers(const Desk& desk, const InstanceVolume& mount);
Result<> check_foreign_writers(const Desk& desk, const InstanceVolume& mount);
Result<> check_attachable(const Desk& desk, const Instance& instance);

// Room for those of its volumes that lie nowhere so far.
std::int64_t bytes_to_make(const Desk& desk, const Instance& instance);

// Volumes that lie nowhere so far come to the instance's host.
void bind_volumes(Desk& desk, const Instance& instance);
bool volumes_ready(const Desk& desk, const Instance& instance);

// true: it was being made, and instances that wait for it go on, or cannot.
bool note_volume(Desk& desk, const HostCommand& command, const CommandAnswer& answer);
void reconcile_volumes(Desk& desk);

// The host has gone for good, and what lay on it with it.
void lose_volumes(Desk& desk, const std::string& host);

}  // namespace hostler::master
