#include "roles/master/server/browser_sign_in.h"

namespace hostler::master {

// Without identity providers there is the password alone.
std::vector<SignInChoice> sign_in_choices(const Term&, std::string_view) { return {}; }

}  // namespace hostler::master
