#include "roles/master/user/indexes.h"

#include "roles/master/state/index_keys.h"

namespace hostler::master {

Indexes<User>::Indexes()
    : login([](const User& row) { return one(row.login); }),
      tenant([](const User& row) { return one(row.tenant); }),
      provider([](const User& row) {
          Texts providers;
          for (const UserIdentity& one : row.identities) providers.push_back(one.provider);
          return once_each(std::move(providers));
      }),
      identity([](const User& row) { return once_each(row.identities); }) {}

Indexes<Invitation>::Indexes()
    : tenant([](const Invitation& row) { return one(row.tenant); }),
      hash([](const Invitation& row) { return one(row.hash); }),
      expires_at([](const Invitation& row) { return one(row.expires_at); }) {}

}  // namespace hostler::master
