#include "roles/master/state/feature.h"
#include "roles/master/instance/answers.h"
#include "roles/master/instance/archive.h"
#include "roles/master/instance/auto_stop.h"
#include "roles/master/leader/term.h"
#include "roles/master/run/failover.h"
#include "roles/master/run/layers.h"
#include "roles/master/run/left.h"
#include "roles/master/run/places.h"
#include "roles/master/run/reconcile.h"
#include "roles/master/run/runs.h"
#include "roles/master/scheduler/capacity.h"

namespace hostler::master {

void add_instances(Api& service);
void add_instance_reads(Api& service);
void add_shares(Api& service);

static constexpr ApiPart instance_api[] = {add_instances, add_instance_reads, add_shares};
static constexpr VerbRow instance_verbs[] = {
    {.verb = Verb::start_workload,
     .answered = note_started,
     .progressed = note_start_phase,
     .expired = reconcile_instance},
    {.verb = Verb::stop_workload, .answered = note_stopped, .expired = reconcile_instance},
    {.verb = Verb::stop_unused, .answered = note_stopped_if_unused, .expired = reconcile_instance},
    {.verb = Verb::stop_left, .answered = note_left_stopped},
    {.verb = Verb::create_volume, .answered = note_volume_answered},
    {.verb = Verb::delete_volume, .answered = note_volume_answered},
};

static Task<> archive(Term& term) {
    constexpr Duration pause = std::chrono::seconds{1}, pause_of_many = std::chrono::milliseconds{20};
    while (!term.ended()) {
        const bool more = archive_instances(term.desk("master"));
        term.commit_then(nullptr);
        CO_TRY(co_await sleep(term.ports().timers, more ? pause_of_many : pause));
    }
    co_return Result<>{};
}

extern const Feature instance_feature{
    .name = "instance",
    .api = instance_api,
    .verbs = instance_verbs,
    .start = [](Term& term) { term.tasks().start("archive", archive(term)); },
    .sweep =
        [](Term& term, Desk& desk) {
            for (const std::string& id : instances_to_reconcile(desk)) {
                reconcile_instance(desk, id);
                go_on_elsewhere(desk, id);
            }
            follow_schedules(desk);
            follow_moves(desk, term.ports().timers.now());
        },
    .published =
        [](Term& term, std::span<const Touched> touched) {
            for (const Touched& one : touched)
                if (one.kind == Kind<UsedName>::name) term.look().live.archiving.erase(one.id);
        },
    .host_reported =
        [](Desk& desk, const std::string& host, bool complete) {
            for (const std::string& id : instances_on(desk, host)) reconcile_instance(desk, id);
            reconcile_left(desk, host);
            if (complete) reconcile_layers(desk, host);
        },
    .host_lost =
        [](Desk& desk, const std::string& host) {
            for (const std::string& id : instances_on(desk, host))
                note(desk, id, InstanceEvent::lose_host, "host_lost", lost_with(desk, id));
        },
    .host_gone =
        [](Desk& desk, const std::string& host) {
            for (const std::string& id : instances_on(desk, host)) {
                note(desk, id, InstanceEvent::host_gone, "host_removed", "its host was removed");
                let_go(desk, id);
            }
            forget_left(desk, host);
            lose_layers(desk, host);
        },
};

}  // namespace hostler::master
