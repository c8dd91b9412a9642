// What was refused, in the audit: calls of known callers that they may not make, and sign-ins. Lines are
// bounded, since somebody else decides how many there are; what is more is counted, and one line tells the
// number at the end of the minute. Calls without a known credential leave none: they are counted
// (admission.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "api/handlers.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// In `Live`.
class Denials {
public:
    // Lines of a minute, of all callers and sign-ins together, without those that tell a number.
    static constexpr int lines_all_max = 120;

    struct Count {
        std::uint64_t calls = 0;            // Refused ones of known callers.
        std::uint64_t sign_ins_failed = 0;  // And those that were denied.
        std::uint64_t left_out = 0;         // Of both, without a line.
    };
    const Count& count() const { return count_; }

    // `who`: whose lines are counted together.
    void note_call(Desk& desk, const std::string& who, AuditLine line);
    void note_sign_in(Desk& desk, const std::string& who, AuditLine line);
    // Each second: tells how many were left out in a minute that is over.
    void tell_further(Desk& desk);

private:
    struct Recent {
        int lines = 0;
        std::uint64_t further = 0;
        AuditLine last;
    };
    void note(Desk& desk, const std::string& who, AuditLine line);
    void tell(Desk& desk, AuditLine like, std::uint64_t further);

    std::int64_t minute_ = 0;
    int lines_ = 0;
    std::map<std::string, Recent> recent_;  // Each has a line in this minute, so there are lines_all_max.
    std::uint64_t others_ = 0;              // Left out, of those without.
    Count count_;
};

// A call that was refused with Code::forbidden.
struct RefusedCall {
    std::string_view operation;   // "createHost"
    std::string_view service;     // "host"
    std::string_view permission;  // That it takes: "host.write".
    std::string_view subject;     // As the request names it; empty: it names none.
};
// The caller commits.
void audit_refused(Desk& desk, const api::Caller& caller, const RefusedCall& call, const Error& why);

enum class SignInResult { ok, denied, failed };
// Somebody signs in as `account`, or tries to: `denied` where the account is right and may not. `reason`: a
// token, as "wrong_password". The caller commits.
void audit_sign_in(Desk& desk, std::string_view account, std::string_view address, std::string_view client,
                   SignInResult result, std::string_view reason = {}, std::string_view request_id = {});

}  // namespace hostler::master
