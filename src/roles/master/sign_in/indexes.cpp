#include "roles/master/sign_in/indexes.h"

#include "roles/master/state/index_keys.h"

namespace hostler::master {

std::string session_id(const Login& login) {
    constexpr std::size_t digits = 16;
    return "s-" + login.hash.substr(0, digits);
}

Indexes<Login>::Indexes()
    : user([](const Login& row) { return one(row.user); }),
      session([](const Login& row) { return one(session_id(row)); }),
      identity([](const Login& row) {
          return one_if(!row.subject.empty(), UserIdentity{row.provider, row.subject});
      }),
      sid([](const Login& row) { return one_if(!row.sid.empty(), UserIdentity{row.provider, row.sid}); }),
      provider([](const Login& row) { return unless_empty(row.provider); }),
      expires_at([](const Login& row) { return one(row.expires_at); }),
      used_at([](const Login& row) { return one(row.used_at); }) {}

Indexes<PasswordLink>::Indexes()
    : user([](const PasswordLink& row) { return one(row.user); }),
      expires_at([](const PasswordLink& row) { return one(row.expires_at); }) {}

}  // namespace hostler::master
