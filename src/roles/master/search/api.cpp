#include "roles/master/http/api.h"
#include "api/operations_search.h"
#include "roles/master/search/search.h"

namespace hostler::master {

void add_search(Api& service) {
    service.read<api::ops::search>(
        [](const Desk& desk, const api::Call& call, const api::Search& request) -> Result<api::SearchResult> {
            return search(desk, call.caller, request);
        });
}

}  // namespace hostler::master
