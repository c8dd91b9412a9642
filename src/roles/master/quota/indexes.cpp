#include "roles/master/quota/indexes.h"

#include <algorithm>

#include "roles/master/state/index_keys.h"

namespace hostler::master {

Indexes<Quota>::Indexes()
    : tenant([](const Quota& row) { return one(row.tenant); }),
      subject([](const Quota& row) { return unless_empty(row.subject); }),
      guaranteed([](const Quota& row) {
          const bool any =
              std::ranges::any_of(row.limits, [](const QuotaLimit& limit) { return limit.guaranteed > 0; });
          return one_if(any, row.tenant);
      }) {}

}  // namespace hostler::master
