#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_ticket.h"

HOSTLER_JSON(hostler::api::CreateTicket)
HOSTLER_JSON(hostler::api::CreatedTicket)

namespace hostler::api {

ApiArea ticket_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &create_ticket,
    });
    return {operations, {}};
}

}  // namespace hostler::api
