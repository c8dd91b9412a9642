#include "roles/master/run/layers.h"

#include <fmt/format.h>

#include <algorithm>

#include "roles/master/command/commands.h"
#include "roles/master/host/view.h"
#include "roles/master/placement/placement.h"
#include "roles/master/run/left.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/state/host_blocks.h"
#include "roles/master/stock/reclaim.h"
#include "roles/master/stock/slots.h"

namespace hostler::master {

namespace {

// The store that the backup was made of may have known whose it is.
bool is_younger_than_backup(const Desk& desk, const SeenLayer& layer) {
    constexpr std::int64_t clocks_differ = std::int64_t{3600} * 1'000'000;
    return std::ranges::any_of(desk.estate.restores.all(), [&](const auto& row) {
        return layer.kept_at > row.second.taken_at - clocks_differ &&
               layer.kept_at < row.second.restored_at + clocks_differ;
    });
}

// Nobody will ask for it again.
bool is_nobodys(const Desk& desk, const std::string& host, const std::string& id, const SeenLayer& layer) {
    const Instance* instance = desk.estate.instances.find(id);
    if (!instance)
        return !desk.estate.unreadable().contains({"instance", id}) && !is_younger_than_backup(desk, layer);
    if (instance->host == host && has_place(instance->phase)) return false;  // Its commands decide.
    if (instance->host == host && !instance->claim.empty()) return false;    // The same.
    if (instance->deleted || instance->phase == InstancePhase::stopping) return true;
    return instance->layer_host != host && !is_younger_than_backup(desk, layer);
}

}  // namespace

bool may_keep_layer(const Desk& desk, const Instance& instance) {
    const Host* host = desk.estate.hosts.find(instance.host);
    return host && host->phase != HostPhase::retired && host->facts.keeps_layers && !instance.deleted && !instance.spec.program;
}

bool keeps_its_layer(const Instance& instance) {
    return !instance.deleted && !instance.layer_host.empty() && instance.layer_host == instance.host;
}

void keep_layer(const Desk& desk, Instance& instance) {
    // A run that was never ready is taken away whole when its start fails, unless it began with something.
    const bool any = instance.ready_at != 0 || instance.layer_host == instance.host;
    instance.layer_host = any && may_keep_layer(desk, instance) ? instance.host : "";
}

void leave_layer(Desk& desk, Instance& instance) {
    if (instance.layer_host.empty() || instance.layer_host == instance.host) return;
    desk.estate.event(
        "instance", instance.id, instance.tenant, "layer_left",
        fmt::format("Its files outside its volumes were on host {}; it starts on host {} without them.",
                    host_name(desk, instance.layer_host), host_name(desk, instance.host)));
    instance.layer_host.clear();
}

void lose_layers(Desk& desk, const std::string& host) {
    std::vector<std::string> ids;
    for (const Instance* instance : desk.estate.instances.by().layer_host.of(host))
        ids.push_back(instance->id);
    for (const std::string& id : ids) {
        Instance& instance = desk.estate.instances.edit(id);
        instance.layer_host.clear();
        desk.estate.event(
            "instance", id, instance.tenant, "layer_lost",
            fmt::format("Its files outside its volumes are lost with host {}, which was removed.",
                        host_name(desk, host)));
    }
}

void reconcile_layers(Desk& desk, const std::string& host) {
    const HostLive& live = desk.live.hosts[host];
    if (!live.connected || awaits_word(desk, host)) return;
    for (const auto& [id, layer] : live.layers) {
        if (!is_nobodys(desk, host, id, layer)) continue;
        const std::string subject = left_subject(id, host);
        if (commanded(desk, subject) || resting(desk, subject)) continue;
        const Instance* instance = desk.estate.instances.find(id);
        command(desk, host, Verb::stop_left, subject,
                std::max(instance ? instance->meta.generation : 0, layer.generation));
    }
}

std::size_t layers_ahead_on(const Desk& desk, const std::string& host) {
    const Host* there = desk.estate.hosts.find(host);
    if (!there || !there->facts.keeps_layers || desk.settings.instance_disk_bytes <= 0) return 0;
    const auto idle = std::ranges::count(claims_on(desk, host), ClaimUse::stock, &Claim::use);
    return std::min(static_cast<std::size_t>(idle), desk.settings.layers_ahead_host_max);
}

std::string layer_sentence(const Desk& desk, const Instance& instance) {
    if (instance.layer_host.empty()) return {};
    std::string told = fmt::format("Its files outside its volumes are kept on host {}",
                                   host_name(desk, instance.layer_host));
    const auto live = desk.live.hosts.find(instance.layer_host);
    if (live != desk.live.hosts.end())
        if (const auto seen = live->second.layers.find(instance.id); seen != live->second.layers.end())
            told += fmt::format(", where it takes {} MiB", seen->second.bytes >> 20);
    told += ".";
    const Spec* spec = desk.estate.specs.find(instance.spec_name);
    if (instance.phase != InstancePhase::resting || !spec) return told;
    Demand demand = demand_of(desk, *spec, instance);
    demand.host = instance.layer_host;
    const auto may = [&](const std::string& id) { return may_run_at(desk, instance, id); };
    if (idle_slot(desk, spec->name, demand, instance.spec.image, may)) return told;
    const Decision there =
        room(desk).place(desk, demand, instance.spec.image, may, [&desk] { return idle_stock(desk); });
    if (there.denial)
        told += fmt::format(" It cannot begin there now: {} Started elsewhere, it begins without that.",
                            there.denial->sentence);
    return told;
}

}  // namespace hostler::master
