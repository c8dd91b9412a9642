#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_watch.h"

HOSTLER_JSON(hostler::api::WatchChanges)
HOSTLER_JSON(hostler::api::ChangeMade)
HOSTLER_JSON(hostler::api::ObjectChange)

namespace hostler::api {

ApiArea watch_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &watch_changes,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"watch", "Changes of all kinds of objects, as they happen."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
