#include "roles/master/http/api.h"
#include "api/operations_placement.h"
#include "roles/master/placement/placement.h"

namespace hostler::master {

void add_placements(Api& service) {
    // It changes nothing, so it is no write in spite of its method.
    service.read<api::ops::explain_placement>(explain_placement);
}

}  // namespace hostler::master
