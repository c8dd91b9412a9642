#include "queue_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "roles/master/job/queues.h"
#include "roles/master/run/reserved.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/scheduler/room.h"

namespace hostler::simulation {

namespace {

using master::Desk;

constexpr std::int64_t second_us = 1'000'000;
constexpr std::int64_t left_alone_us = 60 * second_us;  // What has just begun is not evicted.

std::int64_t gpus_of(const Desk& desk, const Job& job) {
    const Spec* spec = desk.estate.specs.find(job.spec.spec_name);
    return spec ? spec->gpu_count * job.tasks_of_element() : 0;
}

std::int64_t guaranteed_to(const Desk& desk, const std::string& tenant) {
    const QueueSettings* row = desk.estate.queues.find(QueueSettings::id_of({.tenant = tenant}));
    return row ? row->guaranteed.gpu_milli / 1000 : 0;
}

// Of the job that others make room for on the host of this element; null: none.
const Job* wanted_by(const Desk& desk, const JobRun& run) {
    const Instance* task = run.instances.empty() ? nullptr : desk.estate.instances.find(run.instances[0]);
    if (!task) return nullptr;
    const auto& kept = desk.live.part<master::Reservations>().owner_of;
    const auto owner = kept.find(task->host);
    return owner == kept.end() ? nullptr
                               : desk.estate.jobs.find(owner->second.substr(owner->second.find('/') + 1));
}

std::int64_t at(const std::map<std::string, std::int64_t>& held, const std::string& tenant) {
    const auto found = held.find(tenant);
    return found == held.end() ? 0 : found->second;
}

// Some queue of the job has a limit: it may wait for that.
bool is_limited(const Desk& desk, const Job& job) {
    const QueuePath path = master::path_of(job);
    return std::ranges::any_of(desk.estate.queues.all(), [&](const auto& row) {
        const QueueSettings& queue = row.second;
        return queue.most && queue.tenant == path.tenant &&
               (queue.project.empty() || queue.project == path.project) &&
               (queue.user.empty() || queue.user == path.user);
    });
}

bool may_begin(const Desk& desk, const Job& job) {
    if (!next_element(job, desk.estate.micros())) return false;
    return std::ranges::all_of(job.spec.after, [&](const JobDependency& after) {
        const Job* other = desk.estate.jobs.find(after.job);
        const bool well = !other || other->phase == JobPhase::succeeded;
        return !other || (is_final(other->phase) && (after.when == DependencyWhen::ended ||
                                                     well == (after.when == DependencyWhen::succeeded)));
    });
}

}  // namespace

QueueCheck::Held QueueCheck::held_by_tenants(const Desk& desk, const std::set<Element>& but) {
    Held held;
    for (const auto& [id, job] : desk.estate.jobs.all())
        for (const JobRun& run : job.runs)
            if (!but.contains({id, run.position, run.attempt})) held[job.tenant] += gpus_of(desk, job);
    return held;
}

void QueueCheck::look(const Desk& desk, std::uint64_t epoch, Findings& found) {
    const bool same_epoch = epoch == std::exchange(epoch_, epoch);
    std::set<Element> there, leaving;
    for (const auto& [id, job] : desk.estate.jobs.all())
        for (const JobRun& run : job.runs) {
            there.insert({id, run.position, run.attempt});
            if (run.ending == "preempted") leaving.insert({id, run.position, run.attempt});
        }
    const Held kept = held_by_tenants(desk, leaving);
    std::set<Element> others = leaving;  // And those that have come since: they may be who wanted room.
    for (const Element& one : there)
        if (!there_.contains(one)) others.insert(one);
    steady_ = held_by_tenants(desk, others);
    if (same_epoch)
        for (const Element& one : leaving)
            if (there_.contains(one) && !leaving_.contains(one)) judge(desk, one, kept, found);
    there_ = std::move(there);
    leaving_ = std::move(leaving);
}

void QueueCheck::judge(const Desk& desk, const Element& victim, const Held& kept, Findings& found) {
    ++evictions;
    const Job& job = desk.estate.jobs.at(victim.job);
    const JobRun& run = *std::ranges::find(job.runs, victim.position, &JobRun::position);
    const auto report = [&](const std::string& why) {
        found.report(Invariant::evicted, fmt::format("element {} of {} of {} has to make room {}",
                                                     victim.position, job.name, job.tenant, why));
    };
    const Job* claimant = wanted_by(desk, run);
    if (!claimant) return report("and no job wants it");
    const int back = evicted_by_[{claimant->id, job.id}];
    if (const int there = ++evicted_by_[{job.id, claimant->id}]; back > 0 && back + there > 2)
        report(fmt::format("for {}, and they have done so in turn", claimant->name));
    const QueuePath own = master::path_of(*claimant), others = master::path_of(job);
    if (own == others) {
        if (job.priority >= claimant->priority)
            report(fmt::format("for {}, which has no higher priority", claimant->name));
        return;
    }
    if (own.tenant == others.tenant) return report("for another queue of its tenant, which has no guarantee");
    // What was promised to other jobs is not promised again.
    std::int64_t wanted = at(steady_, own.tenant);
    std::set<std::string> claimants{Owner{"job", claimant->id}.path()};
    for (const auto& [host, owner] : desk.live.part<master::Reservations>().owner_of) claimants.insert(owner);
    for (const std::string& owner : claimants)
        if (const Job* one = desk.estate.jobs.find(owner.substr(owner.find('/') + 1));
            one && one->tenant == own.tenant)
            wanted += gpus_of(desk, *one);
    if (wanted > guaranteed_to(desk, own.tenant))
        report(fmt::format("for {} of {}, which is guaranteed {} GPUs and would have {}", claimant->name,
                           own.tenant, guaranteed_to(desk, own.tenant), wanted));
    const std::int64_t left = at(kept, job.tenant) + gpus_of(desk, job);  // The last one of them.
    if (left <= guaranteed_to(desk, job.tenant))
        report(fmt::format("for {}, and its tenant had {} of the {} GPUs that are guaranteed to it",
                           claimant->name, left, guaranteed_to(desk, job.tenant)));
}

// Some element of the tenant may begin, would stay within what is guaranteed, and would have room on some
// host if what others borrow there went.
std::string QueueCheck::could_have_more(const Desk& desk, const std::string& tenant, std::int64_t guaranteed,
                                        const Held& kept) {
    std::int64_t smallest = 0;
    std::string name;
    for (const auto& [id, job] : desk.estate.jobs.all()) {
        const std::int64_t size = gpus_of(desk, job);
        if (job.tenant != tenant || size == 0 || at(kept, tenant) + size > guaranteed) continue;
        if (!may_begin(desk, job) || is_limited(desk, job)) continue;
        if (smallest != 0 && size >= smallest) continue;
        smallest = size;
        const Error* why = master::job_queues(desk).refused(id);
        name = fmt::format("{} ({}) waits: {}", job.name, id, why ? why->message : "it was not refused");
    }
    if (smallest == 0) return {};
    std::map<std::string, std::int64_t> room;  // By host.
    for (const auto& [id, there] : master::room(desk).hosts())
        if (there.free.unavailable.empty()) room[id] = std::ssize(there.free.gpus);
    Held borrowed;
    for (const auto& [other, held] : kept)
        if (other != tenant) borrowed[other] = held - guaranteed_to(desk, other);
    for (const auto& [id, job] : desk.estate.jobs.all())
        for (const JobRun& run : job.runs) {
            const Instance* task =
                run.instances.empty() ? nullptr : desk.estate.instances.find(run.instances[0]);
            const auto host = task ? room.find(task->host) : room.end();
            if (host == room.end() || is_final(job.phase)) continue;
            const std::int64_t size = gpus_of(desk, job);
            if (run.ending == "preempted") {
                host->second += size;
            } else if (run.ending.empty() && borrowed[job.tenant] >= size &&
                       desk.estate.micros() - run.admitted_at > left_alone_us + second_us) {
                borrowed[job.tenant] -= size;
                host->second += size;
            }
        }
    return std::ranges::any_of(room, [&](const auto& row) { return row.second >= smallest; }) ? name : "";
}

void QueueCheck::look_at_waits(const Desk& desk, Duration quiet, Findings& found) {
    if (quiet == Duration{}) return waits_.clear(), gangs_.clear();
    const Held kept = held_by_tenants(desk, leaving_);
    for (const auto& [id, row] : desk.estate.queues.all()) {
        if (!row.project.empty() || row.guaranteed.gpu_milli == 0) continue;
        const std::int64_t guaranteed = row.guaranteed.gpu_milli / 1000, held = at(kept, row.tenant);
        Wait& wait = waits_[row.tenant];
        if (held != std::exchange(wait.held, held) ||
            could_have_more(desk, row.tenant, guaranteed, kept).empty())
            wait.seconds = 0;
        else
            ++wait.seconds;
        if (std::chrono::seconds{wait.seconds} > guaranteed_within)
            found.report(Invariant::guaranteed,
                         fmt::format("{} has {} of the {} GPUs that are guaranteed to it, asks for more, and "
                                     "others borrow since {} s: {}",
                                     row.tenant, held, guaranteed, wait.seconds,
                                     could_have_more(desk, row.tenant, guaranteed, kept)));
    }
    look_at_gangs(desk, found);
}

void QueueCheck::look_at_gangs(const Desk& desk, Findings& found) {
    std::map<std::string, int> gangs;
    for (const auto& [id, job] : desk.estate.jobs.all()) {
        if (!job.spec.gang || !job.runs.empty() || !may_begin(desk, job) || is_limited(desk, job)) continue;
        const auto before = gangs_.find(id);
        const int waited_s = gangs[id] = 1 + (before == gangs_.end() ? 0 : before->second);
        if (std::chrono::seconds{waited_s} > starved_after)
            found.report(Invariant::starved,
                         fmt::format("gang {} of {} has waited for {} s", job.name, job.tenant, waited_s));
    }
    gangs_ = std::move(gangs);
}

void QueueCheck::look_at_shares(const Desk& desk, Findings& found) const {
    struct Sum {
        Amount held;
        std::int64_t elements = 0;
    };
    std::map<QueuePath, Sum> sums;
    for (const auto& [id, job] : desk.estate.jobs.all()) {
        const Spec* spec = desk.estate.specs.find(job.spec.spec_name);
        for (const JobRun& run : job.runs) {
            const QueuePath path = master::path_of(job);
            for (const QueuePath& at :
                 {QueuePath{}, QueuePath{path.tenant}, QueuePath{path.tenant, path.project}, path}) {
                ++sums[at].elements;
                for (std::size_t task = 0; spec && task < run.instances.size(); ++task)
                    sums[at].held += master::amount_of(*spec);
            }
        }
    }
    const Order& order = master::job_queues(desk).order();
    const auto differs = [&](const QueuePath& path, const Amount& held, std::int64_t elements) {
        const auto at = sums.find(path);
        const Sum sum = at == sums.end() ? Sum{} : at->second;
        if (held == sum.held && elements == sum.elements) return;
        found.report(Invariant::shares,
                     fmt::format("{} elements of {}/{}/{} hold {} GPUs, and {} are counted with {}",
                                 sum.elements, path.tenant, path.project, path.user,
                                 sum.held.gpu_milli / 1000, elements, held.gpu_milli / 1000));
    };
    std::set<QueuePath> told;
    for (const Standing& standing : order.standings(desk.estate.micros())) {
        told.insert(standing.path);
        differs(standing.path, standing.allocated, standing.running);
    }
    for (const auto& [path, sum] : sums)
        if (path.depth() > 0 && !told.contains(path)) differs(path, {}, 0);
}

}  // namespace hostler::simulation
