#include "roles/master/cluster/saves.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "roles/master/cluster/reconcile.h"
#include "roles/master/cluster/watch.h"
#include "roles/master/state/refuse.h"

namespace hostler::master {

namespace {

constexpr std::string_view bytes_output = "save.bytes";

// When hosts are looked for again, by save. Not stored: a save may wait for long.
struct SaveRests {
    std::map<std::string, std::int64_t> until;
};

void tell(Desk& desk, const ClusterSave& save, std::string reason, std::string message) {
    desk.estate.event(Kind<Cluster>::name, save.cluster, save.tenant, std::move(reason), std::move(message));
}

bool has_folder(const Desk& desk, const std::string& host) {
    const Host* row = desk.estate.hosts.find(host);
    return row && row->facts.cluster_saves;
}

// Nodes whose hosts could save the cluster, whether they answer now or not.
std::vector<const ClusterNode*> savers(const Desk& desk, const std::string& cluster) {
    auto nodes = nodes_of(desk, cluster);
    std::erase_if(nodes, [&](const ClusterNode* node) {
        return node->role != NodeRole::control || node->phase != NodePhase::ready ||
               !has_folder(desk, node->host);
    });
    return nodes;
}

// One that is healthy and stays; another one than the last, if that failed.
std::string saving_host(const Desk& desk, const ClusterSave& save) {
    const ClusterNode* best = nullptr;
    const auto rank = [&](const ClusterNode* one) {
        return std::tuple(one->healthy, one->wanted, save.attempt == 0 || one->host != save.host);
    };
    for (const ClusterNode* one : savers(desk, save.cluster))
        if (answers(desk, one->host) && (!best || rank(one) > rank(best))) best = one;
    return best ? best->host : "";
}

// The folder is the same on each. The one that wrote the save, first; after a failure the others in turn.
std::string erasing_host(const Desk& desk, const ClusterSave& save) {
    const WholeHosts& hosts = whole_hosts(desk);
    if (save.attempt == 0 && hosts.is_keeper(save.host)) return save.host;
    return hosts.keeper_after(save.host);
}

std::vector<const DriverStep*> save_steps(const Driver& driver, const ClusterSave& save) {
    const StepPhase phase = save.phase == SavePhase::deleting ? StepPhase::erase : StepPhase::save;
    return steps_of(driver, phase, NodeRole::control);
}

StepValues all_values(const Desk& desk, const Driver& driver, const ClusterSave& save) {
    StepValues values = driver.values;
    for (const auto& [name, value] : save.values) values[name] = value;
    values["version"] = save.version;
    values["cluster.id"] = save.cluster;
    values["cluster.name"] = save.cluster_name;
    values["cluster.endpoint"] = endpoint_of({.id = save.cluster});
    values["save.id"] = save.id;
    if (save.phase != SavePhase::saving) return values;
    for (const ClusterNode* node : nodes_of(desk, save.cluster))
        if (node->host == save.host) {
            values["node.name"] = node->name;
            values["node.address"] = values["control.address"] = node->address;
        }
    return values;
}

// A node does not leave its host while that saves: its cluster is looked at again.
void end_step(Desk& desk, ClusterSave& save) {
    if (save.doing.empty()) return;
    save.doing.clear();
    desk.live.part<ClusterWatch>().look_again(save.cluster, desk.estate.micros());
}

void turn(Desk& desk, const std::string& id, SaveEvent event, std::string reason = {},
          std::string message = {}) {
    ClusterSave& save = desk.estate.cluster_saves.edit(id);
    const auto to = next(save_life, save.phase, event);
    if (!to) return;
    save.phase = *to;
    save.phase_since = desk.estate.micros();
    save.step = save.attempt = 0;
    end_step(desk, save);
    save.reason = std::move(reason);
    save.message = std::move(message);
}

void fail_save(Desk& desk, const std::string& id, std::string reason, std::string message) {
    turn(desk, id, SaveEvent::give_up, std::move(reason), std::move(message));
    const ClusterSave& save = desk.estate.cluster_saves.at(id);
    tell(desk, save, "save_failed",
         fmt::format("Save {} of cluster {} failed: {}.", save.id, save.cluster_name, save.message));
}

void finish_save(Desk& desk, const std::string& id) {
    if (desk.estate.cluster_saves.at(id).phase == SavePhase::saving) {
        turn(desk, id, SaveEvent::keep);
        const ClusterSave& save = desk.estate.cluster_saves.at(id);
        return tell(desk, save, "saved",
                    fmt::format("Cluster {} is saved as {}.", save.cluster_name, save.id));
    }
    turn(desk, id, SaveEvent::vanish);
    const ClusterSave& save = desk.estate.cluster_saves.at(id);
    tell(desk, save, "save_deleted",
         fmt::format("Save {} of cluster {} is deleted.", save.id, save.cluster_name));
    desk.estate.cluster_saves.retire(id);
}

// It is not known whether the host still writes: the next try waits until that step is over there.
void abandon(Desk& desk, const ClusterSave& row, std::int64_t until) {
    const std::string id = row.id;
    close_commands(desk, id, row.run + 1);
    ClusterSave& save = desk.estate.cluster_saves.edit(id);
    end_step(desk, save);
    save.not_before = until;
}

void fail_try(Desk& desk, const std::string& id, const Driver& driver, std::string reason,
              std::string message) {
    ClusterSave& save = desk.estate.cluster_saves.edit(id);
    const auto steps = save_steps(driver, save);
    const auto at = static_cast<std::size_t>(save.step);
    end_step(desk, save);
    ++save.attempt;
    save.not_before = desk.estate.micros() + pause_after(save.attempt);
    save.reason = reason.empty() ? "step_failed" : std::move(reason);
    save.message = brief_problem(std::move(message));
    const bool over = at < steps.size() && save.attempt >= steps[at]->tries;
    if (save.phase != SavePhase::saving || !over) return;
    save.not_before = 0;  // A deletion does not wait.
    fail_save(desk, id, std::string{save.reason}, std::string{save.message});
}

void note_wait(Desk& desk, const std::string& id, std::string reason, std::string message) {
    const ClusterSave& before = desk.estate.cluster_saves.at(id);
    if (before.reason == reason && before.message == message) return;
    ClusterSave& save = desk.estate.cluster_saves.edit(id);
    save.reason = std::move(reason);
    save.message = std::move(message);
}

void start_save_step(Desk& desk, const std::string& id, const Driver& driver, const DriverStep& step,
                     const std::string& host) {
    ClusterSave& save = desk.estate.cluster_saves.edit(id);
    save.doing = step.name;
    save.host = host;
    save.began_at = desk.estate.micros();
    ++save.run;
    if (const auto told = told_of(desk, save); !told)
        return fail_try(desk, id, driver, told.error().reason, told.error().message);
    command(desk, host, Verb::node_step, id, save.run);
}

bool is_ending(const Cluster* cluster) {
    return !cluster || cluster->phase == ClusterPhase::failed || cluster->phase == ClusterPhase::deleting ||
           cluster->phase == ClusterPhase::deleted;
}

void look_at(Desk& desk, const std::string& id) {
    const ClusterSave& save = desk.estate.cluster_saves.at(id);
    const std::int64_t now = desk.estate.micros();
    const bool saving = save.phase == SavePhase::saving;
    const Driver* driver = driver_named(desk, save.driver);
    if (!save.doing.empty()) {
        const DriverStep* step = driver ? step_named(*driver, save.doing) : nullptr;
        const std::int64_t over = save.began_at + (step ? step->deadline_s * 1'000'000 : save_within_us);
        if (!commanded(desk, id) || !answers(desk, save.host)) return abandon(desk, save, over);
        return;
    }
    const auto steps = driver ? save_steps(*driver, save) : std::vector<const DriverStep*>{};
    const auto at = static_cast<std::size_t>(save.step);
    if (driver && at >= steps.size()) return finish_save(desk, id);
    if (saving && is_ending(desk.estate.clusters.find(save.cluster)))
        return fail_save(desk, id, "cluster_ending", "the cluster was deleted meanwhile");
    if (saving && now > save.created_at + save_within_us)
        return fail_save(
            desk, id, save.reason.empty() ? "save_late" : std::string{save.reason},
            save.message.empty() ? "no host could make it within an hour" : std::string{save.message});
    auto& rests = desk.live.part<SaveRests>().until;
    const auto rest = rests.find(id);
    if (now < save.not_before || (rest != rests.end() && now < rest->second)) return;
    if (rest != rests.end()) rests.erase(rest);
    if (!driver)
        return note_wait(desk, id, "driver_missing", "this master does not have the driver of the cluster");
    const std::string host = saving ? saving_host(desk, save) : erasing_host(desk, save);
    if (!host.empty()) return start_save_step(desk, id, *driver, *steps[at], host);
    rests[id] = now + host_retry_us;
    note_wait(desk, id, "no_saves_folder",
              saving ? "no host of the control plane that answers has a folder of saves"
                     : "no host that answers has the folder of saves");
}

}  // namespace

Error no_such_save(const std::string& id) {
    return {Code::not_found, fmt::format("there is no save {} of a cluster", id), "cluster_save_not_found"};
}

std::vector<const ClusterSave*> saves_of(const Desk& desk, const std::string& cluster) {
    auto saves = desk.estate.cluster_saves.by().cluster.of(cluster);
    std::ranges::sort(saves, std::ranges::greater{},
                      [](const ClusterSave* save) { return std::tuple(save->created_at, save->id); });
    return saves;
}

Result<const ClusterSave*> create_save(Desk& desk, const Cluster& cluster, const std::string& created_by) {
    if (is_ending(&cluster))
        return refuse(fmt::format("cluster {} is {}", cluster.name, text_of(cluster.phase)), "cluster_ending",
                      "");
    if (!cluster.made)
        return refuse(fmt::format("cluster {} has no ready node so far", cluster.name), "cluster_not_made",
                      fmt::format("`hostler cluster explain {}` says why.", cluster.name));
    const Driver* driver = driver_named(desk, cluster.driver);
    if (!driver)
        return refuse(fmt::format("this master has no driver {}", cluster.driver), "driver_missing",
                      "An operator installs the driver on all masters (--drivers).");
    if (steps_of(*driver, StepPhase::save, NodeRole::control).empty())
        return refuse(fmt::format("driver {} saves no clusters", driver->name), "driver_cannot_save", "");
    if (savers(desk, cluster.id).empty())
        return refuse("no host of this cluster's control plane has a folder for saves", "no_saves_folder",
                      "Start its agent with --cluster-saves.");
    const auto saves = saves_of(desk, cluster.id);
    for (const ClusterSave* save : saves)
        if (save->phase == SavePhase::saving)
            return refuse(fmt::format("save {} of cluster {} is under way", save->id, cluster.name),
                          "cluster_save_runs", "Wait until it has ended.");
    if (saves.size() >= ClusterSave::of_cluster_max)
        return refuse(
            fmt::format("cluster {} has {} saves, the most that are kept", cluster.name, saves.size()),
            "too_many_saves",
            fmt::format("Delete one, the oldest for example: hostler cluster delete-save {}",
                        saves.back()->id));
    if (desk.estate.cluster_saves.by().tenant.count(cluster.tenant) >= ClusterSave::of_tenant_max)
        return refuse(fmt::format("tenant {} has {} saves of clusters, the most that are kept",
                                  cluster.tenant, ClusterSave::of_tenant_max),
                      "too_many_saves", "Delete one: hostler cluster delete-save SAVE");
    ClusterSave save{.id = new_id(desk.random, "ks"),
                     .tenant = cluster.tenant,
                     .project = cluster.project,
                     .created_by = created_by,
                     .cluster = cluster.id,
                     .cluster_name = cluster.name,
                     .driver = cluster.driver,
                     .version = cluster.version,
                     .values = cluster.values};
    save.created_at = save.phase_since = desk.estate.micros();
    tell(desk, save, "save_started",
         fmt::format("Save {} of cluster {} was asked for.", save.id, save.cluster_name));
    const std::string id = save.id;
    desk.estate.cluster_saves.add(std::move(save));
    return &desk.estate.cluster_saves.at(id);
}

Result<> delete_save(Desk& desk, const std::string& id) {
    const ClusterSave& now = desk.estate.cluster_saves.at(id);
    if (now.phase == SavePhase::deleting) return {};
    if (now.phase == SavePhase::saving)
        return refuse(fmt::format("save {} is being made", id), "cluster_save_runs",
                      "Wait until it has ended.");
    for (const Cluster* cluster : desk.estate.clusters.by().phase.of(ClusterPhase::provisioning))
        if (cluster->restores == id && !cluster->made)
            return refuse(fmt::format("cluster {} is being made of save {}", cluster->name, id),
                          "cluster_save_used",
                          fmt::format("Wait until it is ready, or delete it: hostler cluster delete {}",
                                      cluster->name));
    turn(desk, id, SaveEvent::remove);
    const ClusterSave& save = desk.estate.cluster_saves.at(id);
    tell(desk, save, "save_deleting",
         fmt::format("Save {} of cluster {} is being deleted.", save.id, save.cluster_name));
    return {};
}

Result<const ClusterSave*> save_to_restore(const Desk& desk, const std::string& tenant,
                                           const std::string& project, const std::string& id) {
    const ClusterSave* save = desk.estate.cluster_saves.find(id);
    if (!save || save->tenant != tenant || save->project != project) return std::unexpected(no_such_save(id));
    if (save->phase != SavePhase::saved)
        return refuse(fmt::format("save {} is {}", id, text_of(save->phase)), "cluster_save_unfinished",
                      "Only a save in state saved can be restored.");
    if (whole_hosts(desk).with_folder() == 0)
        return refuse("no host has a folder for saves", "no_saves_folder",
                      "Start agents of hosts with --clusters and --cluster-saves.");
    return save;
}

void look_at_saves(Desk& desk) {
    std::vector<std::string> ids;
    for (const SavePhase phase : {SavePhase::saving, SavePhase::deleting})
        for (const ClusterSave* save : desk.estate.cluster_saves.by().phase.of(phase))
            ids.push_back(save->id);
    for (const std::string& id : ids) look_at(desk, id);
}

bool saves_now(const Desk& desk, const ClusterNode& node) {
    return std::ranges::any_of(
        desk.estate.cluster_saves.by().cluster.of(node.cluster), [&](const ClusterSave* save) {
            return save->phase == SavePhase::saving && !save->doing.empty() && save->host == node.host;
        });
}

bool is_of_save(const Desk& desk, const std::string& subject) {
    return desk.estate.cluster_saves.find(subject) != nullptr;
}

Result<StepTold> told_of(const Desk& desk, const ClusterSave& save) {
    const Driver* driver = driver_named(desk, save.driver);
    const DriverStep* step = driver ? step_named(*driver, save.doing) : nullptr;
    if (!step)
        return fail(Code::not_found,
                    fmt::format("this master has no step {} of driver {}", save.doing, save.driver),
                    "driver_missing");
    StepTold told{.cluster = save.cluster,
                  .driver = driver->name,
                  .digest = digest_of(desk, *driver),
                  .name = save.doing,
                  .again = save.attempt > 0};
    told.values = TRY(values_for(*step, all_values(desk, *driver, save)));
    return told;
}

void save_answered(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    const ClusterSave* save = desk.estate.cluster_saves.find(command.subject);
    if (!save || save->run != command.subject_generation || save->doing.empty()) return;
    const std::string id = save->id;
    if (refused_unread(answer)) return abandon(desk, *save, desk.estate.micros() + step_pause_us);
    const Driver* driver = driver_named(desk, save->driver);
    if (!driver) return abandon(desk, *save, desk.estate.micros() + step_pause_us);
    if (!answer.done) return fail_try(desk, id, *driver, answer.reason, answer.message);
    ClusterSave& row = desk.estate.cluster_saves.edit(id);
    if (const auto at = answer.outputs.find(std::string{bytes_output}); at != answer.outputs.end()) {
        const std::string& text = at->second;
        std::int64_t bytes = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
        if (error == std::errc{} && end == text.data() + text.size() && bytes >= 0) row.bytes = bytes;
    }
    end_step(desk, row);
    ++row.step;
    row.attempt = row.not_before = 0;
    row.reason.clear(), row.message.clear();
    look_at(desk, id);
}

void save_expired(Desk& desk, const std::string& id) {
    const ClusterSave& save = desk.estate.cluster_saves.at(id);
    const Driver* driver = driver_named(desk, save.driver);
    if (save.doing.empty() || !driver) return;
    fail_try(desk, id, *driver, "step_late", "the host did not answer in time");
}

}  // namespace hostler::master
