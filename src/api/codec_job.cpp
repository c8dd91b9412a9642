#include "api/codec_define.h"
#include "api/container_rules.h"
#include "api/operation_list.h"
#include "api/operations_job.h"

HOSTLER_JSON(hostler::api::JobAfter)
HOSTLER_JSON(hostler::api::SubmitJob)
HOSTLER_JSON(hostler::api::JobTask)
HOSTLER_JSON(hostler::api::JobEndShown)
HOSTLER_JSON(hostler::api::JobVictims)
HOSTLER_JSON(hostler::api::JobPlan)
HOSTLER_JSON(hostler::api::JobShare)
HOSTLER_JSON(hostler::api::JobExplanation)
HOSTLER_JSON(hostler::api::Job)
HOSTLER_JSON(hostler::api::ListJobs)
HOSTLER_JSON(hostler::api::NameJob)
HOSTLER_JSON(hostler::api::UpdateJob)
HOSTLER_JSON(hostler::api::GetJobLogs)
HOSTLER_JSON(hostler::api::List<hostler::api::Job>)

namespace hostler::api {

namespace {

std::string check_array(std::string_view text) {
    const auto array = read_array(text);
    return array ? "" : array.error().message;
}

}  // namespace

namespace forms {
constinit const Form array{"array", "", &check_array};
}  // namespace forms

void Rules<SubmitJob>::check(const SubmitJob& request, Wrong& wrong) {
    if (request.placement) {
        check_placement(*request.placement, "placement.", wrong);
        if (request.zone && !request.placement->zones.empty())
            wrong.push_back({"placement.zones", "only one of zone and placement.zones"});
    }
    check_container(request, request.envs, "envs", wrong);
    check_mounts(request.volumes, "volumes", wrong);
    refuse_doubles(request.after, "after[{}].job", &JobAfter::job, wrong);
    for (std::size_t i = 0; i < request.volumes.size(); ++i)
        if (request.volumes[i].name.empty())
            wrong.push_back({fmt::format("volumes[{}].name", i), "is required"});
    if (request.program.value_or(false)) {
        constexpr std::string_view only_containers = "is for containers, and this is a program";
        if (!request.image.empty()) wrong.push_back({"image", std::string{only_containers}});
        if (request.entrypoint) wrong.push_back({"entrypoint", std::string{only_containers}});
        if (request.no_init) wrong.push_back({"noInit", std::string{only_containers}});
        if (request.gang)
            wrong.push_back({"gang", "needs containers: programs have no network for its tasks"});
        if (request.cmd.empty()) wrong.push_back({"cmd", "is required for a program"});
    } else if (request.image.empty()) {
        wrong.push_back({"image", "is required, unless it is a program"});
    }
    if (request.gang && request.tasks == 1) wrong.push_back({"gang", "needs more than one task"});
    if (request.array && !request.gang && request.tasks > 1)
        wrong.push_back({"tasks", "more than one for each index of an array needs gang"});
}

ApiArea job_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &submit_job,
        &list_jobs,
        &get_job,
        &update_job,
        &cancel_job,
        &hold_job,
        &release_job,
        &explain_job,
        &list_job_events,
        &get_job_logs,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"job", "Work that waits for its turn and for room, and runs to its end."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
