#include "roles/master/state/indexes.h"

#include "roles/master/state/index_keys.h"

namespace hostler::master {

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
