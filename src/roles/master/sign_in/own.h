// What is for people alone.
#pragma once

#include "roles/master/http/people.h"

namespace hostler::master {

// The person who calls. Errors: conflict (not_a_person).
Result<const User*> own_user(const Desk& desk, const api::Call& call);

class Throttle;
Throttle& throttle_of(Term& term);
// Waits for the turn of an attempt with a password. Errors: exhausted (too_many_sign_ins), cancelled.
struct Attempt {
    std::string login, address;
    bool known = false;
};
Task<Attempt> attempt(TermPtr term, std::string login, std::string address);
Task<Attempt> attempt(TermPtr term, Attempt like);
void attempt_succeeded(Term& term, const Attempt& attempt);

}  // namespace hostler::master
