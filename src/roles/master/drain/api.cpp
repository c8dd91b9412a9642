#include "roles/master/http/api.h"
#include "api/operations_host.h"
#include "roles/master/drain/drain.h"
#include "roles/master/host/audit.h"
#include "roles/master/host/view.h"
#include "roles/master/http/lookup.h"

namespace hostler::master {

Subject subject_of(const Desk& desk, const api::Call& call, const api::DrainHost& request) {
    return host_subject(desk, call, request.host);
}
void add_drains(Api& service) {
    namespace ops = api::ops;
    service.write<ops::drain_host>(
        [](Desk& desk, const api::Call& call, const api::DrainHost& request) -> Result<api::Host> {
            const Host& host = *TRY(host_named(desk, call, request.host));
            TRY(drain_host(desk, host.id, request));
            return view(desk, host);
        });
    service.write<ops::undrain_host>(
        [](Desk& desk, const api::Call& call, const api::NameHost& request) -> Result<api::Host> {
            const Host& host = *TRY(host_named(desk, call, request.host));
            TRY(undrain_host(desk, host.id));
            return view(desk, host);
        });
}

}  // namespace hostler::master
