#include "roles/master/state/feature.h"

namespace hostler::master {

void add_search(Api& service);

static constexpr ApiPart search_api[] = {add_search};
extern const Feature search_feature{
    .name = "search",
    .api = search_api,
};

}  // namespace hostler::master
