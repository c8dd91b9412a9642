#include "roles/master/key/indexes.h"

#include "roles/master/state/index_keys.h"

namespace hostler::master {

Indexes<ApiKey>::Indexes()
    : hash([](const ApiKey& row) { return one(row.hash); }), account([](const ApiKey& row) {
          return one_if(row.revoked_at == 0 && !row.account.empty(), row.account);
      }) {}

Indexes<SignIn>::Indexes()
    : expires_at([](const SignIn& row) { return one(row.expires_at); }),
      credential_route([](const SignIn& row) {
          return one_if(!row.credential.empty(), std::pair{row.credential, row.route});
      }) {}

}  // namespace hostler::master
