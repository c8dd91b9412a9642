#include <fmt/format.h>

#include "api/operations_consolidation.h"
#include "roles/master/consolidation/execution.h"
#include "roles/master/http/api.h"

namespace hostler::master {

Subject subject_of(const Desk&, const api::Call&, const api::CreateConsolidation&) { return {}; }
Subject subject_of(const Desk& desk, const api::Call&, const api::GetConsolidation& request) {
    const ConsolidationRecord* run = desk.estate.consolidations.find(request.consolidation);
    return run ? subject_named(*run, api::encode(view(desk, *run))) : Subject{};
}
Subject subject_after(const Desk& desk, const api::Call& call, const api::CreateConsolidation&,
                      const api::Consolidation& made) {
    return subject_of(desk, call, api::GetConsolidation{made.id});
}

void add_consolidations(Api& service) {
    namespace ops = api::ops;
    service.write<ops::create_consolidation>(
        [](Desk& desk, const api::Call& call,
           const api::CreateConsolidation& request) -> Result<api::Consolidation> {
            if (call.dry_run) return view(desk, TRY(plan_consolidation(desk, request)));
            return view(desk, *TRY(begin_consolidation(desk, request)));
        });
    service.write<ops::cancel_consolidation>(
        [](Desk& desk, const api::Call&, const api::GetConsolidation& request) -> Result<api::Consolidation> {
            return view(desk, *TRY(cancel_consolidation(desk, request.consolidation)));
        });
    service.read<ops::list_consolidations>([](const Desk& desk, const api::Call& call, const api::Empty&) {
        return rows_of<api::Consolidation>(desk.estate.consolidations,
                                           [](const ConsolidationRecord&) { return true; })
            .page(call, [&](const ConsolidationRecord& row) { return view(desk, row); });
    });
    service.read<ops::get_consolidation>(
        [](const Desk& desk, const api::Call&,
           const api::GetConsolidation& request) -> Result<api::Consolidation> {
            if (const auto* row = desk.estate.consolidations.find(request.consolidation))
                return view(desk, *row);
            return fail(Code::not_found, fmt::format("there is no consolidation {}", request.consolidation),
                        "consolidation_not_found");
        });
}

}  // namespace hostler::master
