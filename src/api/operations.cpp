#include "api/operations.h"

namespace hostler::api {

std::string_view name(Method method) {
    switch (method) {
        case Method::get: return "GET";
        case Method::post: return "POST";
        case Method::put: return "PUT";
        case Method::patch: return "PATCH";
        case Method::delete_: return "DELETE";
    }
    broken("a method outside its enum", __FILE__, __LINE__);
}

std::span<const Operation* const> operations() {
    using namespace ops;
    static constexpr auto all = std::to_array<const Operation*>({
        &create_stocks,
        &delete_stocks,
        &create_instance,
        &delete_instance,
        &get_instance_state,
        &list_zones,
        &create_zone,
        &get_zone,
        &delete_zone,
        &list_access_points,
        &get_access_point,
        &drain_access_point,
        &undrain_access_point,
        &create_host_token,
        &list_host_tokens,
        &delete_host_token,
        &list_hosts,
        &get_host,
        &cordon_host,
        &uncordon_host,
        &release_host,
        &explain_host,
        &remove_host,
        &list_gpus,
        &get_gpu,
        &explain_gpu,
        &return_gpu,
        &list_gpu_usage,
        &list_host_usage,
        &list_specs,
        &get_spec,
        &list_offers,
        &list_stocks,
        &get_stock,
        &prepare_stock,
        &list_instances,
        &get_instance,
        &stop_instance,
        &start_instance,
        &restart_instance,
        &keep_instance_alive,
        &update_instance,
        &get_instance_logs,
        &list_instance_events,
        &explain_instance,
        &create_share,
        &list_shares,
        &delete_share,
        &list_templates,
        &get_template,
        &create_volume,
        &list_volumes,
        &get_volume,
        &resize_volume,
        &delete_volume,
        &list_networks,
        &get_network,
        &list_operations,
        &get_operation,
        &list_foreign_workloads,
        &adopt_foreign_workload,
        &keep_foreign_workload,
        &remove_foreign_workload,
        &get_authorities,
        &rotate_authority,
        &create_api_key,
        &list_api_keys,
        &delete_api_key,
        &list_events,
        &whoami,
    });
    return all;
}

}  // namespace hostler::api
