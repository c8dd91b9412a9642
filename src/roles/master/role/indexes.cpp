#include "roles/master/role/indexes.h"

#include "roles/master/state/index_keys.h"

namespace hostler::master {

Indexes<Grant>::Indexes()
    : subject([](const Grant& row) { return one(row.subject); }),
      tenant([](const Grant& row) { return one(row.tenant); }),
      role([](const Grant& row) { return one(std::pair{row.tenant, row.role}); }),
      until([](const Grant& row) { return one_if(row.until != 0, row.until); }) {}

Indexes<CustomRole>::Indexes() : tenant([](const CustomRole& row) { return one(row.tenant); }) {}

Indexes<Group>::Indexes()
    : tenant([](const Group& row) { return one(row.tenant); }),
      member([](const Group& row) { return once_each(row.members); }),
      name([](const Group& row) { return one(row.name); }) {}

}  // namespace hostler::master
