#include "roles/master/state/feature.h"

namespace hostler::master {

void add_offers(Api& service);

static constexpr ApiPart offer_api[] = {add_offers};
extern const Feature offer_feature{
    .name = "offer",
    .api = offer_api,
};

}  // namespace hostler::master
