#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_event.h"

HOSTLER_JSON(hostler::api::Event)
HOSTLER_JSON(hostler::api::ListEvents)
HOSTLER_JSON(hostler::api::List<hostler::api::Event>)

namespace hostler::api {

ApiArea event_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &list_events,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"event", "What happened."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
