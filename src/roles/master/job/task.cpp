#include "roles/master/job/task.h"

#include "api/codec.h"
#include "api/types_instance.h"
#include "api/types_job.h"
#include "domain/job/job.h"

namespace hostler::master {

std::string kept_task(const api::SubmitJob& request) {
    api::CreateInstance task{.image = request.image};
    task.template_.cmd = request.cmd;
    task.template_.envs = request.envs;
    task.template_.volumes = request.volumes;
    task.zone = request.zone;
    task.placement = request.placement;
    task.secret_envs = request.secret_envs;
    task.secret_files = request.secret_files;
    task.entrypoint = request.entrypoint;
    task.shm_size = request.shm_size;
    task.stop_grace_seconds = request.stop_grace_seconds;
    task.no_init = request.no_init;
    return api::encode_brief(task);
}

Result<api::CreateInstance> task_request(const Job& job) {
    auto task = TRY(api::decode_stored<api::CreateInstance>(job.spec.task));
    task.instance_id = job.name;
    task.tenant_id = job.tenant;
    task.project = job.project;
    task.spec_name = job.spec.spec_name;
    task.inactivity_timeout_seconds = 0;
    task.loss_policy = task.template_.volumes.empty() ? api::LossPolicy::move : api::LossPolicy::stay;
    if (!job.labels.empty()) task.labels = job.labels;
    return task;
}

}  // namespace hostler::master
