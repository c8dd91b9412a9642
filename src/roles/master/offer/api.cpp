#include "roles/master/http/api.h"
#include "api/operations_offer.h"
#include "api/operations_placement.h"
#include "roles/master/offer/offers.h"
#include "roles/master/policy/policies.h"

namespace hostler::master {

void add_offers(Api& service) {
    // A cursor is the number of the next one: they may be counted anew between two pages.
    service.read<api::ops::list_offers>([](const Desk& desk, const api::Call& call,
                                           const api::ListOffers& request) -> Result<api::List<api::Offer>> {
        api::List<api::Offer> list;
        const std::string tenant =
            request.tenant_id ? TRY(tenant_meant(call, request.tenant_id)) : call.caller.tenant;
        const bool all_tenants = tenant.empty() && may_everywhere(call);
        const bool priced = authorize_anywhere(call.caller.principal, Permission::price_read);
        const auto all = TRY(offers_for(desk, request, all_tenants ? Policies{} : policies_of(desk, tenant),
                                        priced ? PriceSight::shown : PriceSight::hidden));
        std::size_t at = call.after ? static_cast<std::size_t>(call.after->created) : 0;
        for (; at < all.size() && static_cast<int>(list.items.size()) < call.limit; ++at) {
            api::Offer& shown = list.items.emplace_back(*all[at]);
            if (!priced) shown.price.reset(), shown.currency.reset();
        }
        if (at < all.size()) list.next_cursor = api::to_string({call.list, 0, at, all[at]->spec});
        return list;
    });
}

}  // namespace hostler::master
