#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_share.h"

HOSTLER_JSON(hostler::api::Share)
HOSTLER_JSON(hostler::api::CreateShare)
HOSTLER_JSON(hostler::api::CreatedShare)
HOSTLER_JSON(hostler::api::ListShares)
HOSTLER_JSON(hostler::api::NameShare)
HOSTLER_JSON(hostler::api::List<hostler::api::Share>)

namespace hostler::api {

ApiArea share_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &create_share,
        &list_shares,
        &delete_share,
    });
    return {operations, {}};
}

}  // namespace hostler::api
