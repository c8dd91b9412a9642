#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_foreign.h"

HOSTLER_JSON(hostler::api::ForeignWorkload)
HOSTLER_JSON(hostler::api::ListForeignWorkloads)
HOSTLER_JSON(hostler::api::NameForeignWorkload)
HOSTLER_JSON(hostler::api::SettleForeignWorkload)
HOSTLER_JSON(hostler::api::List<hostler::api::ForeignWorkload>)

namespace hostler::api {

ApiArea foreign_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &list_foreign_workloads,
        &adopt_foreign_workload,
        &keep_foreign_workload,
        &remove_foreign_workload,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"reconcile", "Workloads that run and are not in the store, for example after a restore."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
