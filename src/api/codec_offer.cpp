#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_offer.h"

HOSTLER_JSON(hostler::api::ListOffers)
HOSTLER_JSON(hostler::api::List<hostler::api::Offer>)

namespace hostler::api {

void Rules<ListOffers>::check(const ListOffers& request, Wrong& wrong) {
    if (const auto query = parse_query(request.query, offer_fields); !query)
        wrong.insert(wrong.end(), query.error().fields.begin(), query.error().fields.end());
    if (const auto order = parse_order(request.order, offer_fields); !order)
        wrong.insert(wrong.end(), order.error().fields.begin(), order.error().fields.end());
}

}  // namespace hostler::api

namespace hostler::api {

ApiArea offer_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &list_offers,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"offer", "Available instance shapes."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
