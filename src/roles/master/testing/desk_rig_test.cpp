#include "roles/master/testing/desk_rig.h"

#include "api/types_stock.h"
#include "api/types_volume.h"
#include "roles/master/stock/slots.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master::testing {

Result<> make_stock(Desk& desk, int number, const std::string& spec, std::optional<std::string> zone,
                    int gpus) {
    return create_stock(desk, {.number = number,
                               .spec_name = spec,
                               .cpu = "4",
                               .memory = "16Gi",
                               .gpu_type = "H100",
                               .gpu_num = gpus,
                               .zone = std::move(zone)});
}

const Volume& make_volume(Desk& desk, const std::string& name, const std::string& tenant,
                          std::optional<std::string> zone) {
    return *create_volume(desk, {.name = name, .size = "1Gi", .zone = std::move(zone)}, tenant).value();
}

}  // namespace hostler::master::testing
