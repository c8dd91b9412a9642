// Clusters of `hostler apply`: the hosts of the control plane and the pools become as the file says.
#include "api/operations_cluster.h"
#include "cli/compare.h"
#include "cli/request.h"
#include "cli/settle.h"

namespace hostler::cli {

namespace {

// Pools without what is left out anyway.
json::array brief(const json::value* pools) {
    json::array brief;
    if (!pools || !pools->is_array()) return brief;
    for (const json::value& pool : pools->get_array()) {
        json::object one{{"count", 1}};
        if (const auto* fields = pool.if_object())
            for (const auto& [name, value] : *fields)
                if (name == "count" || !is_empty(value)) one[name] = value;
        brief.push_back(std::move(one));
    }
    return brief;
}

bool same_pools(const json::object& wanted, const json::value& seen) {
    const json::value* pools = wanted.if_contains("pools");
    return !pools ||
           brief(pools) == brief(seen.is_object() ? seen.get_object().if_contains("pools") : nullptr);
}

}  // namespace

Task<> Settle::cluster(Item& item, const json::value& seen) {
    json::object rest = item.fields, hosts;
    for (const char* field : {"control", "pools"})
        if (const json::value* wanted = item.fields.if_contains(field)) {
            hosts[field] = *wanted;
            rest.erase(field);
        }
    const api::Schema& shown = item.kind.get->response();
    CO_TRY(compare(item, rest, shown, seen));
    item.outcome = Outcome::unchanged;
    json::object plane = hosts;
    plane.erase("pools");
    if (same_pools(hosts, seen) && differences(item.kind.create->request(), shown, plane, seen).empty())
        co_return Result<>{};
    hosts["cluster"] = item.name;
    for (const char* field : {"tenantID", "project"})
        if (const json::value* owner = item.fields.if_contains(field)) hosts[field] = *owner;
    item.answer = CO_TRY(co_await send(place_fields(api::ops::scale_cluster, std::move(hosts))));
    item.outcome = Outcome::updated;
    item.message = "its hosts";
    co_return Result<>{};
}

}  // namespace hostler::cli
