#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_volume.h"

HOSTLER_JSON(hostler::api::Volume)
HOSTLER_JSON(hostler::api::CreateVolume)
HOSTLER_JSON(hostler::api::ListVolumes)
HOSTLER_JSON(hostler::api::NameVolume)
HOSTLER_JSON(hostler::api::ResizeVolume)
HOSTLER_JSON(hostler::api::List<hostler::api::Volume>)

namespace hostler::api {

ApiArea volume_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &create_volume,
        &list_volumes,
        &get_volume,
        &explain_volume,
        &resize_volume,
        &delete_volume,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"volume", "Data that outlives an instance."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
