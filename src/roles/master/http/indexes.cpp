#include "roles/master/http/indexes.h"

#include "roles/master/state/index_keys.h"

namespace hostler::master {

Indexes<Answer>::Indexes()
    : tenant([](const Answer& row) { return one(row.tenant); }),
      expires_at([](const Answer& row) { return one(row.expires_at); }),
      tenant_expires_at([](const Answer& row) { return one(std::pair{row.tenant, row.expires_at}); }) {}

Indexes<LongOperation>::Indexes()
    : running_on(
          [](const LongOperation& row) { return one_if(row.phase == OperationPhase::running, row.subject); }),
      work([](const LongOperation& row) {
          return one_if(row.phase == OperationPhase::running, OperationWork::wait);
      }),
      ended_at([](const LongOperation& row) {
          return one_if(row.phase != OperationPhase::running, row.ended_at);
      }) {}

}  // namespace hostler::master
