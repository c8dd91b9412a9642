// What runs on hosts and is not in the store.
#include <fmt/format.h>

#include "api/operations_foreign.h"
#include "roles/master/http/api.h"
#include "roles/master/instance/view.h"
#include "roles/master/unmanaged/unmanaged.h"

namespace hostler::master {

api::ForeignWorkload view_foreign(const Desk& desk, const Claim& claim) {
    api::ForeignWorkload shown{.id = claim.holder,
                               .host = claim.host,
                               .zone = claim.zone,
                               .tenant_id = claim.tenant,
                               .state = "unknown",
                               .gpus = claim.gpus,
                               .why = claim.why,
                               .not_known = not_known(desk, claim),
                               .seen_since = WallTime{std::chrono::microseconds{claim.since}}};
    boost::describe::enum_from_string(text_of(claim.wish).c_str(), shown.decision);
    const SeenWorkload* workload = seen_workload(desk, claim);
    if (workload) {
        shown.name = workload->name;
        shown.image = workload->image;
        shown.state = workload->state;
        shown.gpus = workload->gpus;
    }
    if (earlier_run(desk, claim)) {
        shown.reason = "later_run";
        shown.message =
            "its instance rests, as far as the store knows; it was started again after the backup";
    } else if (desk.estate.instances.find(claim.holder)) {
        shown.reason = "left_over";
        shown.message = "its instance has ended; it is being stopped";
    } else if (!workload) {
        shown.reason = "host_unreachable";
        shown.message = "its host is not connected at the moment";
    } else {
        shown.reason = "not_in_store";
        shown.message = desk.estate.restores.all().empty()
                            ? "the store knows no instance of this id"
                            : "the store knows no instance of this id: it was made after the backup, perhaps";
    }
    return shown;
}

// Of a workload that is adopted it is the instance from then on.
Subject subject_of(const Desk& desk, const api::Call&, const api::NameForeignWorkload& request) {
    if (const auto claim = find_foreign(desk, request.workload))
        return {"foreign_workload/" + request.workload, (*claim)->tenant,
                api::encode(view_foreign(desk, **claim))};
    const Instance* instance = desk.estate.instances.find(request.workload);
    return instance ? subject_named(*instance, api::encode(view(desk, *instance))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::SettleForeignWorkload& request) {
    return subject_of(desk, call, api::NameForeignWorkload{request.workload});
}

void add_foreign(Api& service) {
    namespace ops = api::ops;
    service.read<ops::list_foreign_workloads>([](const Desk& desk, const api::Call& call,
                                                 const api::ListForeignWorkloads& request) {
        return rows_of<api::ForeignWorkload>(
                   desk.estate.claims,
                   [&](const Claim& row) {
                       return row.use == ClaimUse::foreign && (!request.host || row.host == *request.host) &&
                              (!request.decision || text_of(row.wish) == text_of(*request.decision));
                   })
            .page(call, [&](const Claim& row) { return view_foreign(desk, row); });
    });
    service.write<ops::adopt_foreign_workload>(
        [](Desk& desk, const api::Call&, const api::NameForeignWorkload& request) -> Result<api::Instance> {
            return view(desk, *TRY(adopt_foreign(desk, request.workload)));
        });
    service.write<ops::keep_foreign_workload>(
        [](Desk& desk, const api::Call&,
           const api::SettleForeignWorkload& request) -> Result<api::ForeignWorkload> {
            return view_foreign(desk, *TRY(keep_foreign(desk, request.workload, request.why.value_or(""))));
        });
    service.write<ops::remove_foreign_workload>(
        [](Desk& desk, const api::Call&,
           const api::SettleForeignWorkload& request) -> Result<api::ForeignWorkload> {
            return view_foreign(desk, *TRY(remove_foreign(desk, request.workload, request.why.value_or(""))));
        });
}

}  // namespace hostler::master
