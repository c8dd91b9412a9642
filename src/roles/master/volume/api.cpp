// Volumes, networks, and what takes longer.
#include <fmt/format.h>
#include <boost/describe/enum_to_string.hpp>

#include "api/operations_long_operation.h"
#include "api/operations_network.h"
#include "api/operations_volume.h"
#include "core/quantity.h"
#include "roles/master/http/api.h"
#include "roles/master/http/lookup.h"
#include "roles/master/network/subnets.h"
#include "roles/master/network/view.h"
#include "roles/master/state/views.h"
#include "roles/master/tenancy/tenancy.h"
#include "roles/master/volume/explain.h"
#include "roles/master/volume/view.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {

namespace {

Result<api::Volume> decide_create(Desk& desk, const api::Call& call, const api::CreateVolume& request) {
    const std::string tenant = TRY(one_tenant_meant(call, request.tenant_id));
    TRY(check_new(call, Scope::of_project(tenant, project_meant(request))));
    return view(desk, *TRY(create_volume(desk, request, tenant, call.caller.actor)));
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateVolume& request) {
    const Volume* volume = find_volume(desk, request.tenant_id.value_or(call.caller.tenant), request.name);
    return volume ? subject_named(*volume, api::encode(view(desk, *volume))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameVolume& request) {
    const auto found = volume_named(desk, call, request.volume, request.tenant_id);
    return found ? subject_named(**found, api::encode(view(desk, **found))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::ResizeVolume& request) {
    return subject_of(desk, call, api::NameVolume{request.volume, request.tenant_id});
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::RenameNetwork& request) {
    const auto found = network_named(desk, call, request.network, request.tenant_id);
    return found ? subject_named(**found, api::encode(view(desk, **found))) : Subject{};
}
// Its name is not the one any more by which it was asked for.
Subject subject_after(const Desk& desk, const api::Call& call, const api::RenameNetwork&,
                      const api::Network& made) {
    return subject_of(desk, call, api::RenameNetwork{.network = made.id});
}

void add_volumes(Api& service) {
    namespace ops = api::ops;
    service.write<ops::create_volume>(decide_create);
    service.read<ops::list_volumes>([](const Desk& desk, const api::Call& call,
                                       const api::ListVolumes& request) -> Result<api::List<api::Volume>> {
        const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
        return rows_of<api::Volume>(desk.estate.volumes,
                                    [&](const Volume& row) {
                                        return (tenant.empty() || row.tenant == tenant) &&
                                               (!request.project || row.project == *request.project) &&
                                               may(call, scope_of(row)) &&
                                               (!request.zone || zone_of(desk, row) == *request.zone) &&
                                               (!request.state || view(desk, row).state == *request.state);
                                    })
            .page(call, [&](const Volume& row) { return view(desk, row); });
    });
    service.read<ops::get_volume>(
        [](const Desk& desk, const api::Call& call, const api::NameVolume& request) -> Result<api::Volume> {
            return view(desk, *TRY(volume_named(desk, call, request.volume, request.tenant_id)));
        });
    service.read<ops::explain_volume>([](const Desk& desk, const api::Call& call,
                                         const api::NameVolume& request) -> Result<api::Explanation> {
        return explain_volume(desk, *TRY(volume_named(desk, call, request.volume, request.tenant_id)));
    });
    service.write<ops::resize_volume>([](Desk& desk, const api::Call& call,
                                         const api::ResizeVolume& request) -> Result<api::LongOperation> {
        const std::string id = TRY(volume_named(desk, call, request.volume, request.tenant_id))->id;
        const std::int64_t size = TRY(size_of(request.size));
        return view(*TRY(resize_volume(desk, id, size)));
    });
    service.write<ops::delete_volume>(
        [](Desk& desk, const api::Call& call, const api::NameVolume& request) -> Result<api::LongOperation> {
            const std::string id = TRY(volume_named(desk, call, request.volume, request.tenant_id))->id;
            return view(*TRY(delete_volume(desk, id)));
        });
    service.read<ops::list_networks>([](const Desk& desk, const api::Call& call,
                                        const api::ListNetworks& request) -> Result<api::List<api::Network>> {
        const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
        return rows_of<api::Network>(desk.estate.networks,
                                     [&](const Network& row) {
                                         return (tenant.empty() || row.tenant == tenant) &&
                                                (!request.project || row.project == *request.project) &&
                                                may(call, scope_of(row));
                                     })
            .page(call, [&](const Network& row) { return view(desk, row); });
    });
    service.read<ops::get_network>(
        [](const Desk& desk, const api::Call& call, const api::GetNetwork& request) -> Result<api::Network> {
            return view(desk, *TRY(network_named(desk, call, request.network, request.tenant_id)));
        });
    service.write<ops::rename_network>(
        [](Desk& desk, const api::Call& call, const api::RenameNetwork& request) -> Result<api::Network> {
            const Network& row = *TRY(network_named(desk, call, request.network, request.tenant_id));
            TRY(rename_network(desk, row.id, request.name));
            return view(desk, row);
        });
    service.read<ops::list_operations>(
        [](const Desk& desk, const api::Call& call, const api::ListOperations& request) {
            return rows_of<api::LongOperation>(
                       desk.estate.operations,
                       [&](const LongOperation& row) {
                           return may(call, scope_of(row)) &&
                                  (!request.project ||
                                   (!row.tenant.empty() && row.project == *request.project)) &&
                                  (!request.state || view(row).state == *request.state);
                       })
                .page(call, [](const LongOperation& row) { return view(row); });
        });
    service.read<ops::get_operation>([](const Desk& desk, const api::Call& call,
                                        const api::GetOperation& request) -> Result<api::LongOperation> {
        const LongOperation* row = desk.estate.operations.find(request.operation);
        if (row && may(call, scope_of(*row))) return view(*row);
        return fail(Code::not_found, fmt::format("there is no operation {}", request.operation),
                    "operation_not_found");
    });
}

}  // namespace hostler::master
