// Clusters through the API.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/operations_cluster.h"
#include "roles/master/cluster/access.h"
#include "roles/master/cluster/clusters.h"
#include "roles/master/cluster/nodes.h"
#include "roles/master/cluster/view.h"
#include "roles/master/http/api.h"
#include "roles/master/http/events_page.h"
#include "roles/master/http/lookup.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

Result<api::Cluster> decide_create(Desk& desk, const api::Call& call, const api::CreateCluster& request) {
    const std::string tenant = TRY(one_tenant_meant(call, request.tenant_id));
    TRY(check_new(call, Scope::of_project(tenant, project_meant(request))));
    const std::string id = TRY(create_cluster(desk, request, tenant, call.caller.actor))->id;
    api::Cluster shown = view_whole(desk, call, desk.estate.clusters.at(id));
    if (call.dry_run) shown.plan = plan_shown(desk, call, id);
    return shown;
}

template <class Request>
Result<const Cluster*> meant(const Desk& desk, const api::Call& call, const Request& request) {
    return cluster_named(desk, call, request.cluster, request.tenant_id, request.project);
}

Result<const ClusterNode*> node_meant(const Desk& desk, const api::Call& call, const std::string& id) {
    const ClusterNode* node = desk.estate.cluster_nodes.find(id);
    Error absent{Code::not_found, fmt::format("there is no node {} of a cluster", id),
                 "cluster_node_not_found"};
    if (!node || !may(call, Permission::cluster_read, scope_of(*node)))
        return std::unexpected(std::move(absent));
    TRY(check(call, Scope::cloud(), std::move(absent)));
    return node;
}

Subject subject(const Desk& desk, const Result<const Cluster*>& found) {
    return found ? subject_named(**found, api::encode(view(desk, **found))) : Subject{};
}

void add_reads(Api& service) {
    namespace ops = api::ops;
    service.read<ops::list_clusters>([](const Desk& desk, const api::Call& call,
                                        const api::ListClusters& request) -> Result<api::List<api::Cluster>> {
        const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
        const LabelFilter labels = filter_of(request.label);
        return rows_of<api::Cluster>(
                   desk.estate.clusters,
                   [&](const Cluster& row) {
                       return (tenant.empty() || row.tenant == tenant) &&
                              (!request.project || row.project == *request.project) &&
                              (!request.state || row.phase == static_cast<ClusterPhase>(*request.state)) &&
                              labels.fits(row.labels) && may(call, scope_of(row));
                   })
            .page(call, [&](const Cluster& row) { return view(desk, row); });
    });
    service.read<ops::get_cluster>(
        [](const Desk& desk, const api::Call& call, const api::NameCluster& request) -> Result<api::Cluster> {
            return view_whole(desk, call, *TRY(meant(desk, call, request)));
        });
    service.read<ops::explain_cluster>(
        [](const Desk& desk, const api::Call& call,
           const api::NameCluster& request) -> Result<api::ClusterExplanation> {
            return explain_cluster(desk, *TRY(meant(desk, call, request)));
        });
    service.handlers().on<ops::list_cluster_events>(
        [&service](api::Call call, api::NameCluster request) -> Task<api::List<api::Event>> {
            const TermPtr term = CO_TRY(service.leader());
            const std::string id = CO_TRY(meant(term->look(), call, request))->id;
            co_return co_await events_page(term, std::move(call), {.kind = "cluster", .id = id});
        });
    service.read<ops::get_cluster_drivers>(
        [](const Desk& desk, const api::Call&, const api::Empty&) -> Result<api::ClusterDrivers> {
            api::ClusterDrivers shown;
            for (const Driver& driver : desk.settings.drivers)
                shown.drivers.push_back(
                    {driver.name, driver.title, driver.versions, driver.ports, driver.values});
            return shown;
        });
    service.read<ops::get_cluster_images>(
        [](const Desk& desk, const api::Call&,
           const api::GetClusterImages& request) -> Result<api::ClusterImages> {
            DriverImages found = TRY(images_of(desk, request.driver, request.version));
            return api::ClusterImages{request.driver, std::move(found.version), std::move(found.images)};
        });
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateCluster& request) {
    const Cluster* cluster = find_cluster(desk, request.tenant_id.value_or(call.caller.tenant),
                                          project_meant(request), request.name);
    return cluster ? subject_named(*cluster, api::encode(view(desk, *cluster))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::ScaleCluster& request) {
    return subject(desk, meant(desk, call, request));
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::DeleteCluster& request) {
    return subject(desk, meant(desk, call, request));
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameCluster& request) {
    const auto found = meant(desk, call, request);
    return found ? subject_named(**found, "") : Subject{};
}
Subject subject_after(const Desk& desk, const api::Call& call, const api::NameCluster& request,
                      const api::ClusterCredential& made) {
    Subject subject = subject_of(desk, call, request);
    subject.shown = fmt::format(R"({{"user":"{}","groups":"{}"}})", made.user, fmt::join(made.groups, " "));
    return subject;
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::ForgetClusterNode& request) {
    const auto found = node_meant(desk, call, request.node);
    return found ? subject_named(**found, api::encode(view(desk, call, **found))) : Subject{};
}

void add_clusters(Api& service) {
    namespace ops = api::ops;
    add_reads(service);
    service.write<ops::create_cluster>(decide_create);
    service.write<ops::scale_cluster>(
        [](Desk& desk, const api::Call& call, const api::ScaleCluster& request) -> Result<api::Cluster> {
            const std::string id = TRY(meant(desk, call, request))->id;
            TRY(scale_cluster(desk, id, request));
            return view_whole(desk, call, desk.estate.clusters.at(id));
        });
    service.write<ops::delete_cluster>(
        [](Desk& desk, const api::Call& call, const api::DeleteCluster& request) -> Result<api::Cluster> {
            const std::string id = TRY(meant(desk, call, request))->id;
            delete_cluster(desk, id, request.force ? request.reason : std::nullopt);
            api::Cluster shown = view_whole(desk, call, desk.estate.clusters.at(id));
            if (request.force) shown.leaves = left_behind(desk, id);
            return shown;
        });
    service.handlers().on<ops::create_cluster_credential>(
        [&service](api::Call call, api::NameCluster request) -> Task<api::ClusterCredential> {
            const TermPtr term = CO_TRY(service.leader());
            co_return co_await service.perform<std::remove_cvref_t<decltype(ops::create_cluster_credential)>>(
                [&term](Desk& desk, const api::Call& asked,
                        const api::NameCluster& wanted) -> Result<api::ClusterCredential> {
                    return make_cluster_credential(*term, desk, asked, *TRY(meant(desk, asked, wanted)));
                },
                std::move(call), std::move(request));
        });
    service.write<ops::forget_cluster_node>(
        [](Desk& desk, const api::Call& call,
           const api::ForgetClusterNode& request) -> Result<api::ClusterNode> {
            const ClusterNode node = *TRY(node_meant(desk, call, request.node));
            TRY(forget_node(desk, node.id, request.reason));
            return view(desk, call, node);
        });
}

}  // namespace hostler::master
