#include "roles/master/http/api.h"
#include "api/operations_series.h"
#include "roles/master/series/parts.h"
#include "roles/master/series/query.h"

namespace hostler::master {

void add_series(Api& service) {
    namespace ops = api::ops;
    // A cursor is the number of the next one.
    service.handlers().on<ops::list_series_metrics>(
        [](api::Call call, api::Empty) -> Task<api::List<api::SeriesMetric>> {
            const auto all = series_metrics();
            api::List<api::SeriesMetric> list;
            std::size_t at = call.after ? static_cast<std::size_t>(call.after->created) : 0;
            for (; at < all.size() && static_cast<int>(list.items.size()) < call.limit; ++at)
                if (api::lets_through(call.query, all[at])) list.items.push_back(all[at]);
            if (at < all.size()) list.next_cursor = api::to_string({call.list, 0, at, all[at].name});
            co_return list;
        });
    service.handlers().on<ops::query_series>(
        [&service](api::Call call, api::QuerySeries request) -> Task<api::SeriesAnswer> {
            const TermPtr term = CO_TRY(service.leader());
            auto query = CO_TRY(series_query(term->look(), call, request, term->ports().timers.wall()));
            auto lines = CO_TRY(co_await queries_of(*term).ask(call.caller.tenant, query));
            co_return series_answer(request, query, std::move(lines));
        });
}

}  // namespace hostler::master
