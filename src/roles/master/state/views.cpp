#include "roles/master/state/views.h"

#include <boost/describe/enum_from_string.hpp>

#include "api/problem.h"
#include "api/types_event.h"
#include "api/types_long_operation.h"

namespace hostler::master {

WallTime wall(std::int64_t micros) { return WallTime{std::chrono::microseconds{micros}}; }
std::optional<WallTime> wall_if(std::int64_t micros) {
    return micros == 0 ? std::nullopt : std::optional{wall(micros)};
}

api::LongOperation view(const LongOperation& operation) {
    api::LongOperation shown{.id = operation.id,
                             .kind = operation.kind,
                             .subject = operation.subject,
                             .tenant_id = operation.tenant,
                             .project = operation.tenant.empty() ? "" : operation.project};
    boost::describe::enum_from_string(text_of(operation.phase).c_str(), shown.state);
    shown.message = operation.message;
    if (operation.phase == OperationPhase::failed)
        shown.error = api::problem_of({Code::internal, operation.message, operation.code});
    shown.created_at = wall(operation.created_at);
    shown.ended_at = wall_if(operation.ended_at);
    return shown;
}

api::Event view(const EventRecord& event) {
    return {.number = event.number,
            .time = event.time,
            .kind = event.kind,
            .id = event.id,
            .tenant_id = event.tenant,
            .actor = event.actor,
            .reason = event.reason,
            .message = event.message};
}

}  // namespace hostler::master
