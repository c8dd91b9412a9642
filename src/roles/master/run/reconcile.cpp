#include "roles/master/run/reconcile.h"

#include <fmt/format.h>

#include "roles/master/command/commands.h"
#include "roles/master/container/memory.h"
#include "roles/master/run/left.h"
#include "roles/master/run/places.h"
#include "roles/master/run/runs.h"
#include "roles/master/state/host_blocks.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {

namespace {

// What an earlier run of it did is no word about this one. (0: its host does not say which run it saw.)
bool is_of_earlier_run(const Desk& desk, const Instance& instance) {
    const auto host = desk.live.hosts.find(instance.host);
    if (host == desk.live.hosts.end()) return false;
    const auto workload = host->second.workloads.find(instance.id);
    return workload != host->second.workloads.end() && workload->second.generation != 0 &&
           workload->second.generation < instance.run_generation;
}

// Nothing of it is on its host.
void note_absence(Desk& desk, const Instance& instance) {
    const std::string id = instance.id;
    if (instance.phase == InstancePhase::halting)  // Why it rests was said when it was halted.
        note(desk, id, InstanceEvent::absent, std::string{instance.reason}, std::string{instance.message});
    else if (instance.phase == InstancePhase::stopping)
        note(desk, id, InstanceEvent::absent, "stopped", "it was asked to stop");
    else
        note(desk, id, InstanceEvent::absent, "disappeared", "its container is no longer on the host");
}

// Its container has ended by itself.
void note_end(Desk& desk, const Instance& instance) {
    const std::string id = instance.id;
    const SeenWorkload& workload = desk.live.hosts.at(instance.host).workloads.at(id);
    desk.estate.instances.edit(id).exit_code = workload.exit_code;
    if (!workload.oom_killed && ended_well(instance, workload.exit_code))
        note_completed(desk, id);
    else
        note(desk, id, InstanceEvent::fail, workload.oom_killed ? "out_of_memory" : "exited",
             workload.oom_killed ? "it was killed because it used more memory than its spec has"
                                 : fmt::format("its container exited with code {}", workload.exit_code));
}

void take_next_step(Desk& desk, const std::string& id) {
    const Instance* instance = desk.estate.instances.find(id);
    if (!instance || instance->claim.empty() || awaits_word(desk, instance->host)) return;
    note_memory_kills(desk, id);
    Seen seen = desk.live.seen(instance->host, id);
    if (is_restartable(instance->phase) && is_of_earlier_run(desk, *instance)) {
        // The host was lost before it could restart the instance.
        if (instance->phase == InstancePhase::lost && seen != Seen::unknown && !commanded(desk, id))
            note(desk, id, InstanceEvent::restart, "host_back", "its host is back and starts it again");
        seen = Seen::unknown;
    }
    // Its host may have obeyed a stop whose answer never came.
    if (instance->unused_stop_sent && is_restartable(instance->phase) && !commanded(desk, id) &&
        (seen == Seen::absent || seen == Seen::ended)) {
        if (instance->adopted) return;
        end_run(desk, id, "unused", reason_of(StopRule::inactivity, instance->schedule), LayerWish::keep);
        reconcile_instance(desk, id);
        return;
    }
    // It ran well until it was stopped for want of our word.
    if (seen == Seen::ended && is_restartable(instance->phase) && !commanded(desk, id) &&
        desk.live.hosts.at(instance->host).workloads.at(id).lease_ended) {
        if (may_run_elsewhere(desk, *instance)) return;
        begin_anew(desk, id);
        reconcile_instance(desk, id);
        return;
    }
    InstanceAction action = plan(instance->phase, seen, commanded(desk, id));
    const auto host = desk.live.hosts.find(instance->host);
    const bool host_speaks = host != desk.live.hosts.end() && host->second.connected && host->second.complete;
    if (action == InstanceAction::none && is_final(instance->phase) && only_its_answer_counts(*instance) &&
        host_speaks && !commanded(desk, id))
        action = InstanceAction::stop;
    if ((action == InstanceAction::start || action == InstanceAction::stop) && resting(desk, id)) return;
    switch (action) {
        case InstanceAction::none: return;
        case InstanceAction::start:
            if (!volumes_ready(desk, *instance) || !may_run_at(desk, *instance, instance->host) ||
                may_run_elsewhere(desk, *instance))
                return;
            for (const InstanceVolume& mount : instance->spec.volumes)
                if (const auto free = check_foreign_writers(desk, mount); !free) {
                    if (instance->message != free.error().message)
                        desk.estate.instances.edit(id).message = free.error().message;
                    return;
                }
            command(desk, instance->host, Verb::start_workload, id, instance->meta.generation);
            return;
        case InstanceAction::stop:
            command(desk, instance->host, Verb::stop_workload, id, instance->meta.generation);
            return;
        case InstanceAction::note_alive: {
            const bool ready = desk.live.hosts.at(instance->host).workloads.at(id).ready;
            note(desk, id, ready ? InstanceEvent::ready : InstanceEvent::probe, "host_back",
                 "its host is back, and it runs on");
            return;
        }
        case InstanceAction::note_end:
            note_end(desk, *instance);
            reconcile_instance(desk, id);
            return;
        case InstanceAction::note_absent:
            note_absence(desk, *instance);
            if (!has_place(desk.estate.instances.at(id).phase)) let_go(desk, id);
            return;
    }
}

struct Unsettled {
    static constexpr bool follows_estate = true;
    Follower<Instance> changed;
    std::set<std::string> ids;  // What their hosts say of them is not what is written down.
};

// Nothing is to be done about what its host says of it; another word of its host is looked at when it comes.
// (What it does on its way somewhere its row says: InstanceWork.)
bool is_settled(const Desk& desk, const Instance& instance) {
    if (instance.claim.empty()) return true;
    const Seen seen = desk.live.seen(instance.host, instance.id);
    if (instance.phase == InstancePhase::lost) return seen == Seen::unknown;
    if (instance.phase != InstancePhase::running) return true;
    return (seen == Seen::unknown || seen == Seen::alive) && !has_untold_kills(desk, instance);
}

}  // namespace

void reconcile_instance(Desk& desk, const std::string& instance) {
    const std::string id = instance;
    take_next_step(desk, id);
    const Instance* now = desk.estate.instances.find(id);
    if (now && !is_settled(desk, *now))
        desk.live.part<Unsettled>().ids.insert(id);
    else
        desk.live.part<Unsettled>().ids.erase(id);
}

std::set<std::string> instances_to_reconcile(Desk& desk) {
    const auto& by = desk.estate.instances.by();
    std::set<std::string> ids = desk.live.part<Unsettled>().changed.changed(desk.estate.instances);
    // Whoever waited for an answer about one.
    for (const std::string& subject : desk.estate.commands.by().subject.take_touched())
        ids.insert(left_instance(subject));
    ids.insert(desk.live.part<Unsettled>().ids.begin(), desk.live.part<Unsettled>().ids.end());
    for (const InstanceWork work : {InstanceWork::reconcile, InstanceWork::go_on})
        for (const Instance* instance : by.work.of(work)) ids.insert(instance->id);
    std::erase_if(ids, [&](const std::string& id) { return !desk.estate.instances.find(id); });
    return ids;
}

}  // namespace hostler::master
