#include "roles/master/job/admit.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/codec.h"
#include "api/types_instance.h"
#include "domain/job/rendezvous.h"
#include "roles/master/instance/lifecycle.h"
#include "roles/master/job/follow.h"
#include "roles/master/job/reserve.h"
#include "roles/master/job/task.h"
#include "roles/master/run/reconcile.h"
#include "roles/master/run/reserved.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/scheduler/wishes.h"
#include "roles/master/stock/reclaim.h"

namespace hostler::master {

namespace {

std::int64_t rank_of(const Job& job, const NextElement& element, std::int64_t rank) {
    return job.spec.gang ? rank : job.spec.array.ranges.empty() ? element.position : 0;
}

// How its tasks find their number and each other.
std::vector<api::Env> variables_of(const Desk& desk, const Job& job, const NextElement& element,
                                   std::int64_t rank) {
    const std::int64_t size = job.spec.tasks;
    const std::int64_t number = rank_of(job, element, rank);
    std::vector<api::Env> all{{"HOSTLER_JOB_ID", job.id},
                              {"HOSTLER_JOB_NAME", job.name},
                              {"HOSTLER_JOB_ATTEMPT", std::to_string(element.attempt)},
                              {"HOSTLER_TASK_RANK", std::to_string(number)},
                              {"HOSTLER_TASK_COUNT", std::to_string(size)}};
    if (!job.spec.array.ranges.empty())
        all.push_back({"HOSTLER_ARRAY_INDEX", std::to_string(job.spec.array.index_at(element.position))});
    TaskPlace place{.part = job.spec.gang ? TaskPart::rank : TaskPart::element,
                    .job_id = job.id,
                    .job_name = job.name,
                    .tasks = job.spec.gang ? size : 1,
                    .rank = job.spec.gang ? rank : 0,
                    .array = job.spec.array};
    if (!job.spec.array.ranges.empty()) place.array_index = job.spec.array.index_at(element.position);
    if (const Spec* spec = desk.estate.specs.find(job.spec.spec_name)) {
        place.cpus_per_task = std::max<std::int64_t>(spec->cpu_milli / 1000, 1);
        place.gpus = spec->gpu_count;
    }
    for (auto& [name, value] : slurm_variables(place)) all.push_back({name, std::move(value)});
    return all;
}

// What the job itself has set stays.
void add_variables(std::vector<api::Env>& to, std::vector<api::Env> more) {
    for (api::Env& one : more)
        if (one.name.starts_with("HOSTLER_") || std::ranges::count(to, one.name, &api::Env::name) == 0)
            to.push_back(std::move(one));
}

// So many of these tasks an empty host could take, of the one that could take the most.
std::int64_t most_on_one_host(const Desk& desk, const Demand& task) {
    std::int64_t most = 0;
    for (const auto& [id, there] : room(desk).hosts()) {
        std::int64_t tasks = std::numeric_limits<std::int64_t>::max();
        if (task.cpu_milli > 0) tasks = std::min(tasks, there.free.cpu_total_milli / task.cpu_milli);
        if (task.memory_bytes > 0) tasks = std::min(tasks, there.free.memory_total_bytes / task.memory_bytes);
        if (task.gpu_count > 0) {
            std::int64_t gpus = 0;
            for (const Room::Part& part : there.parts)
                if (model_matches(task.gpu_type, part.model))
                    gpus = std::max<std::int64_t>(gpus, std::ssize(part.gpus));
            tasks = std::min(tasks, gpus / task.gpu_count);
        }
        most = std::max(most, tasks);
    }
    return most;
}

// The host that takes all tasks of a gang.
Result<std::string> host_for(Desk& desk, const Job& job) {
    const auto asked = demands_of(desk, job);
    if (!asked)
        return fail(Code::conflict, fmt::format("spec {} does not exist", job.spec.spec_name),
                    "spec_missing");
    const Plan plan = room(desk).plan(
        asked->demands, asked->gang, [&desk] { return idle_stock(desk); }, kept_from(desk, job));
    if (!plan.places.empty()) return plan.places.front().host;
    Error error =
        refusal(*plan.denial, fmt::format("{} tasks of a gang need room on one host. ", job.spec.tasks));
    if (const std::int64_t most = most_on_one_host(desk, asked->demands.front()); most < job.spec.tasks) {
        error.reason = "placement_impossible";
        error.help = most < 2 ? "Choose a smaller spec, or tasks that are independent."
                              : fmt::format("The largest host takes {} of these tasks.", most);
    }
    return std::unexpected(std::move(error));
}

// Their addresses are known now, and none of them has begun.
void introduce(Desk& desk, const std::vector<std::string>& instances) {
    std::string peers;
    for (const std::string& id : instances)
        peers += (peers.empty() ? "" : ",") + desk.estate.instances.at(id).address;
    const std::string first = desk.estate.instances.at(instances.front()).address;
    for (const std::string& id : instances) {
        auto& variables = desk.estate.instances.edit(id).spec.environment;
        const auto add = [&](const std::string& name, const std::string& value) {
            if (std::ranges::count(variables, name, &InstanceVariable::name) == 0)
                variables.push_back({name, value});
        };
        add("MASTER_ADDR", first);
        add("HOSTLER_PEERS", peers);
        for (const auto& [name, value] : node_variables(peers)) add(name, value);
    }
}

Result<std::vector<std::string>> make_tasks(Desk& desk, const Job& job, const NextElement& element) {
    const auto task = TRY(task_request(job));
    const std::int64_t size = job.tasks_of_element();
    std::vector<std::string> made;
    std::optional<std::string> host;
    if (size > 1) host = TRY(host_for(desk, job));
    for (std::int64_t rank = 0; rank < size; ++rank) {
        api::CreateInstance request = task;
        request.instance_id = name_of_task(job, element, rank);
        add_variables(request.template_.envs, variables_of(desk, job, element, rank));
        if (host) {
            if (!request.placement) request.placement.emplace();
            request.placement->hosts = {*host};
        }
        TRY(create_instance(desk, request, "", Owner{"job", job.id}, job.created_by, Begins::later,
                            job.spec.program ? RunsAs::program : RunsAs::container));
        made.push_back(find_instance(desk, job.tenant, request.instance_id)->id);
    }
    return made;
}

}  // namespace

Amount size_of_element(const Desk& desk, const Job& job) {
    const Spec* spec = desk.estate.specs.find(job.spec.spec_name);
    if (!spec) return {};
    const std::int64_t tasks = job.tasks_of_element();
    const Amount one = amount_of(*spec);
    return {one.gpu_milli * tasks, one.cpu_milli * tasks, one.memory_bytes * tasks};
}

std::optional<Asked> demands_of(const Desk& desk, const Job& job) {
    const Spec* spec = desk.estate.specs.find(job.spec.spec_name);
    const auto task = task_request(job);
    if (!spec || !task) return std::nullopt;
    Instance like{.tenant = job.tenant, .project = job.project, .spec_name = job.spec.spec_name};
    like.spec.program = job.spec.program;
    like.spec.zone = task->zone.value_or("");
    std::vector<FieldError> wrong;
    if (task->placement) like.spec.placement = wishes_of(desk, *task->placement, "placement.", wrong);
    Asked asked;
    asked.demands.assign(static_cast<std::size_t>(job.tasks_of_element()), demand_of(desk, *spec, like));
    Need need;
    need.shape.gpu_milli = spec->gpu_count > 0 ? gpu_whole : 0;
    asked.gang.tasks.assign(asked.demands.size(), need);
    asked.gang.together = asked.demands.size() > 1 ? Area::host : Area::none;
    return asked;
}

bool may_pass(const Error& refusal) {
    constexpr std::string_view passing[] = {
        "insufficient_capacity", "quota_exceeded",     "volume_in_use",    "no_subnet",
        "instance_exists",       "volume_unavailable", "project_disabled", "tenant_disabled"};
    return std::ranges::count(passing, refusal.reason) > 0;
}

Result<> try_element(Desk& desk, const Job& job, const Look& look) {
    const Estate::Trial trial{desk.estate};
    const Live::Trial seen{desk.live};
    const auto made = TRY(make_tasks(desk, job, {}));
    if (look) look(made);
    return {};
}

Result<> admit_next(Desk& desk, const std::string& id) {
    const Job* job = desk.estate.jobs.find(id);
    const auto element = job ? next_element(*job, desk.estate.micros()) : std::nullopt;
    if (!element) return fail(Code::not_found, "the job has no element that may begin now", "nothing_waits");
    if (job->tasks_of_element() > 1) {  // All or none: what fits one by one is undone where one does not.
        const Estate::Trial trial{desk.estate};
        const Live::Trial seen{desk.live};
        TRY(make_tasks(desk, *job, *element));
    }
    const auto made = TRY(make_tasks(desk, *job, *element));
    if (made.size() > 1) introduce(desk, made);
    Job& row = desk.estate.jobs.edit(id);
    if (element->position == row.next && element->attempt == 1)
        ++row.next;
    else
        std::erase_if(row.again, [&](const JobRetry& one) { return one.position == element->position; });
    row.runs.push_back({.position = element->position,
                        .attempt = element->attempt,
                        .failures = element->failures,
                        .instances = made,
                        .admitted_at = desk.estate.micros()});
    note_backfill(desk, row, desk.estate.instances.at(made.front()).host);
    note_job(desk, id, JobEvent::admit, "admitted", "its tasks have a place");
    for (const std::string& instance : made) reconcile_instance(desk, instance);
    return {};
}

}  // namespace hostler::master
