// Saves of clusters through the API.
#include <fmt/format.h>

#include "api/operations_cluster.h"
#include "roles/master/cluster/saves.h"
#include "roles/master/http/api.h"
#include "roles/master/http/lookup.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

api::ClusterSave view(const ClusterSave& save) {
    return {.id = save.id,
            .tenant_id = save.tenant,
            .project = save.project,
            .cluster = save.cluster,
            .cluster_name = save.cluster_name,
            .state = static_cast<api::ClusterSaveState>(save.phase),
            .reason = save.reason,
            .message = save.message,
            .driver = save.driver,
            .version = save.version,
            .values = save.values,
            .bytes = save.bytes,
            .created_by = save.created_by,
            .created_at = wall(save.created_at),
            .state_since = wall(save.phase_since)};
}

Result<const ClusterSave*> save_meant(const Desk& desk, const api::Call& call, const std::string& id) {
    const ClusterSave* save = desk.estate.cluster_saves.find(id);
    if (!save || !may(call, Permission::cluster_read, scope_of(*save)))
        return std::unexpected(no_such_save(id));
    TRY(check(call, scope_of(*save), no_such_save(id)));
    return save;
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call& call, const api::NameCluster& request);  // api.cpp
Subject subject_after(const Desk& desk, const api::Call& call, const api::NameCluster& request,
                      const api::ClusterSave& made) {
    Subject subject = subject_of(desk, call, request);
    subject.shown = api::encode(made);
    return subject;
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameClusterSave& request) {
    const auto found = save_meant(desk, call, request.save);
    return found ? subject_named(**found, api::encode(view(**found))) : Subject{};
}

void add_cluster_saves(Api& service) {
    namespace ops = api::ops;
    service.write<ops::save_cluster>(
        [](Desk& desk, const api::Call& call, const api::NameCluster& request) -> Result<api::ClusterSave> {
            const Cluster& cluster =
                *TRY(cluster_named(desk, call, request.cluster, request.tenant_id, request.project));
            return view(*TRY(create_save(desk, cluster, call.caller.actor)));
        });
    service.read<ops::list_cluster_saves>(
        [](const Desk& desk, const api::Call& call,
           const api::ListClusterSaves& request) -> Result<api::List<api::ClusterSave>> {
            const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
            return rows_of<api::ClusterSave>(
                       desk.estate.cluster_saves,
                       [&](const ClusterSave& row) {
                           return (tenant.empty() || row.tenant == tenant) &&
                                  (!request.project || row.project == *request.project) &&
                                  (!request.cluster || row.cluster == *request.cluster ||
                                   row.cluster_name == *request.cluster) &&
                                  (!request.state || row.phase == static_cast<SavePhase>(*request.state)) &&
                                  may(call, scope_of(row));
                       })
                .page(call, [](const ClusterSave& row) { return view(row); });
        });
    service.read<ops::get_cluster_save>([](const Desk& desk, const api::Call& call,
                                           const api::NameClusterSave& request) -> Result<api::ClusterSave> {
        return view(*TRY(save_meant(desk, call, request.save)));
    });
    service.write<ops::delete_cluster_save>(
        [](Desk& desk, const api::Call& call,
           const api::NameClusterSave& request) -> Result<api::ClusterSave> {
            const std::string id = TRY(save_meant(desk, call, request.save))->id;
            TRY(delete_save(desk, id));
            return view(desk.estate.cluster_saves.at(id));
        });
}

}  // namespace hostler::master
