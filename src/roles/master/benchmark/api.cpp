#include "roles/master/http/api.h"
#include "api/operations_host.h"
#include "api/types_host.h"
#include "roles/master/benchmark/qualification.h"
#include "roles/master/host/audit.h"
#include "roles/master/host/view.h"
#include "roles/master/http/lookup.h"

namespace hostler::master {

void add_measuring(Api& service) {
    namespace ops = api::ops;
    service.write<ops::measure_host>(
        [](Desk& desk, const api::Call& call, const api::NameHost& request) -> Result<api::Host> {
            const Host& host = *TRY(host_named(desk, call, request.host));
            TRY(ask_measuring(desk, host.id));
            return view(desk, host);
        });
    service.write<ops::admit_host>(
        [](Desk& desk, const api::Call& call, const api::NameHost& request) -> Result<api::Host> {
            const Host& host = *TRY(host_named(desk, call, request.host));
            admit_host(desk, host.id);
            return view(desk, host);
        });
}

}  // namespace hostler::master
