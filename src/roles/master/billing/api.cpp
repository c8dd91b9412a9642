#include "roles/master/http/api.h"
#include "api/operations_price.h"
#include "roles/master/billing/prices.h"

namespace hostler::master {

Subject subject_of(const Desk& desk, const api::Call&, const api::SetPrice& request) {
    const Price* price = holding_price(desk, terms_of(request));
    return price ? subject_named(*price, api::encode(view(*price))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call&, const api::RemovePrice& request) {
    const Price* price = holding_price(desk, terms_of(request));
    return price ? subject_named(*price, api::encode(view(*price))) : Subject{};
}

void add_prices(Api& service) {
    namespace ops = api::ops;
    service.read<ops::list_prices>(
        [](const Desk& desk, const api::Call& call, const api::ListPrices& request) {
            return rows_of<api::Price>(desk.estate.prices,
                                       [&](const Price& row) { return request.past || row.until == 0; })
                .page(call, [](const Price& row) { return view(row); });
        });
    service.write<ops::set_price>(
        [](Desk& desk, const api::Call&, const api::SetPrice& request) -> Result<api::Price> {
            return view(*TRY(set_price(desk, request)));
        });
    service.write<ops::remove_price>(
        [](Desk& desk, const api::Call&, const api::RemovePrice& request) -> Result<api::Price> {
            return view(*TRY(remove_price(desk, request)));
        });
}

}  // namespace hostler::master
