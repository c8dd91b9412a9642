#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_consolidation.h"

HOSTLER_JSON(hostler::api::ConsolidationMove)
HOSTLER_JSON(hostler::api::FreedHost)
HOSTLER_JSON(hostler::api::Consolidation)
HOSTLER_JSON(hostler::api::WantedMove)
HOSTLER_JSON(hostler::api::CreateConsolidation)
HOSTLER_JSON(hostler::api::GetConsolidation)
HOSTLER_JSON(hostler::api::List<hostler::api::Consolidation>)
HOSTLER_JSON(hostler::api::List<hostler::api::ConsolidationMove>)

namespace hostler::api {

ApiArea consolidation_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &list_consolidations,
        &get_consolidation,
        &create_consolidation,
        &cancel_consolidation,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"consolidation", "Moves that free whole hosts."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
