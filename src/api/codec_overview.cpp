#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_overview.h"

HOSTLER_JSON(hostler::api::Overview)

namespace hostler::api {

ApiArea overview_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &overview,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"overview", "The cloud at a glance."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
