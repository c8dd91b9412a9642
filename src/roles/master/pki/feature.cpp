#include "roles/master/state/feature.h"
#include "roles/master/pki/rotation.h"

namespace hostler::master {

void add_authority(Api& service);

static constexpr ApiPart pki_api[] = {add_authority};
extern const Feature pki_feature{
    .name = "pki",
    .api = pki_api,
    .tell = rotate,
    .host_gone =
        [](Desk& desk, const std::string& host) {
            if (desk.estate.holders.find("host/" + host)) desk.estate.holders.erase("host/" + host);
        },
};

}  // namespace hostler::master
