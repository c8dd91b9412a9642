// Queues of jobs.
#include <fmt/format.h>

#include "api/operations_queue.h"
#include "roles/master/http/api.h"
#include "roles/master/job/settings.h"
#include "roles/master/role/subjects.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

Scope scope_of_queue(const QueuePath& path) {
    return path.project.empty() ? Scope::of_tenant(path.tenant)
                                : Scope::of_project(path.tenant, path.project);
}

template <class Request>
Result<QueuePath> queue_meant(const Desk& desk, const api::Call& call, const Request& request) {
    QueuePath path{.tenant = TRY(one_tenant_meant(call, request.tenant_id)),
                   .project = request.project.value_or("")};
    if (request.user) path.user = TRY(subject_named_by(desk, call, path.tenant, *request.user));
    return path;
}

// A tenant does not raise its own share.
Result<> check_may_set(const api::Call& call, const QueuePath& path) {
    if (may(call, path.project.empty() ? Scope::cloud() : Scope::of_tenant(path.tenant))) return {};
    auto missing = api::permission_missing(call.permission);
    if (path.project.empty() && may(call, Scope::of_tenant(path.tenant))) {
        missing.error().message = fmt::format(
            "the queue of tenant {} is an operator's to change: it needs the permission {} in the whole "
            "cloud",
            path.tenant, name_of(call.permission));
        missing.error().help = "Queues of projects and users are yours to change.";
    }
    return missing;
}

Result<api::List<api::Queue>> list(const Desk& desk, const api::Call& call, const api::ListQueues& request) {
    const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    std::vector<Standing> all = job_queues(desk).order().standings(desk.estate.micros());
    std::erase_if(all, [&](const Standing& standing) {
        const QueuePath& path = standing.path;
        return path.tenant.empty() || (!tenant.empty() && path.tenant != tenant) ||
               (request.project && path.project != *request.project) || !may(call, scope_of_queue(path));
    });
    api::List<api::Queue> list;
    std::size_t at = call.after ? static_cast<std::size_t>(call.after->created) : 0;
    for (; at < all.size() && std::ssize(list.items) < call.limit; ++at)
        list.items.push_back(view(desk, all[at]));
    if (at < all.size())
        list.next_cursor = api::to_string({call.list, 0, at, QueueSettings::id_of(all[at].path)});
    return list;
}

Subject subject_of_queue(const Desk& desk, const Result<QueuePath>& path) {
    const QueueSettings* row = path ? desk.estate.queues.find(QueueSettings::id_of(*path)) : nullptr;
    return row ? subject_named(*row, api::encode(view_queue(desk, *path))) : Subject{};
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call& call, const api::SetQueue& request) {
    return subject_of_queue(desk, queue_meant(desk, call, request));
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::DeleteQueue& request) {
    return subject_of_queue(desk, queue_meant(desk, call, request));
}

void add_queues(Api& service) {
    namespace ops = api::ops;
    service.write<ops::set_queue>(
        [](Desk& desk, const api::Call& call, const api::SetQueue& request) -> Result<api::Queue> {
            const QueuePath path = TRY(queue_meant(desk, call, request));
            TRY(check_may_set(call, path));
            TRY(check_tenant(desk, path.tenant));
            if (!path.project.empty()) TRY(check_project(desk, path.tenant, path.project));
            TRY(set_queue(desk, path, request));
            return view_queue(desk, path);
        });
    service.read<ops::list_queues>(list);
    service.write<ops::delete_queue>(
        [](Desk& desk, const api::Call& call, const api::DeleteQueue& request) -> Result<api::Empty> {
            const QueuePath path = TRY(queue_meant(desk, call, request));
            TRY(check_may_set(call, path));
            TRY(delete_queue(desk, path, request.if_version));
            return api::Empty{};
        });
}

}  // namespace hostler::master
