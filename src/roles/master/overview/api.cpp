#include "roles/master/http/api.h"
#include "api/operations_overview.h"
#include "roles/master/overview/overview.h"

namespace hostler::master {

void add_overview(Api& service) {
    service.read<api::ops::overview>(
        [](const Desk& desk, const api::Call& call, const api::Empty&) -> Result<api::Overview> {
            return overview(desk, call.caller);
        });
}

}  // namespace hostler::master
