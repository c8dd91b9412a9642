#include "roles/master/http/api.h"
#include "api/operations_component.h"
#include "roles/master/component/components.h"

namespace hostler::master {

namespace {

Task<api::List<api::Component>> list_components(Api& service, api::Call call) {
    const TermPtr term = CO_TRY(service.leader());
    std::optional<SeriesStats> series;
    if (auto stats = co_await term->ports().series.stats()) series = std::move(*stats);
    CO_TRY(co_await check_cancelled());
    CO_TRY(co_await term->settled());
    const std::vector<api::Component> all = components(*term, series);
    api::List<api::Component> list;
    std::size_t at = call.after ? static_cast<std::size_t>(call.after->created) : 0;
    for (; at < all.size() && static_cast<int>(list.items.size()) < call.limit; ++at)
        list.items.push_back(all[at]);
    if (at < all.size()) list.next_cursor = api::to_string({call.list, 0, at, all[at].id});
    co_return list;
}

}  // namespace

void add_components(Api& service) {
    service.handlers().on<api::ops::list_components>(
        [&service](api::Call call, api::Empty) { return list_components(service, std::move(call)); });
}

}  // namespace hostler::master
