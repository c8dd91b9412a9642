#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_price.h"

HOSTLER_JSON(hostler::api::Price)
HOSTLER_JSON(hostler::api::List<hostler::api::Price>)
HOSTLER_JSON(hostler::api::ListPrices)
HOSTLER_JSON(hostler::api::SetPrice)
HOSTLER_JSON(hostler::api::RemovePrice)

namespace hostler::api {

ApiArea price_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &list_prices,
        &set_price,
        &remove_price,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"price", "Prices of a GPU for an hour."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
