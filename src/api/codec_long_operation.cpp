#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_long_operation.h"

HOSTLER_JSON(hostler::api::LongOperation)
HOSTLER_JSON(hostler::api::ListOperations)
HOSTLER_JSON(hostler::api::GetOperation)
HOSTLER_JSON(hostler::api::List<hostler::api::LongOperation>)

namespace hostler::api {

ApiArea long_operation_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &list_operations,
        &get_operation,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"operation", "Calls that take long."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
