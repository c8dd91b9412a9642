// Who may pass: asks masters about credentials and keeps their answers.
#pragma once

#include "core/rate.h"
#include "roles/gateway/master_link.h"
#include "roles/gateway/settings.h"
#include "roles/gateway/verdicts.h"

namespace hostler::gateway {

enum class Admission {
    nobody,     // No credential, or none that anybody has.
    elsewhere,  // Somebody, but of another tenant.
    allowed,
    unavailable,  // It cannot be known now.
    too_many,     // This client asks about too many.
};

class Gatekeeper {
public:
    Gatekeeper(Timers& timers, const Settings& settings, MasterLink& master);

    Task<Admission> admit(std::string credential, std::string tenant, std::string client);
    // The value of a cookie for a one-time code. Errors: forbidden (used, too old, of another instance);
    // exhausted; unavailable, timeout.
    Task<std::string> redeem(std::string code, std::string route, std::string client);
    void forget(const std::string& credential) { verdicts_.forget(credential); }

private:
    Task<> ask(std::string credential, std::string tenant);

    Timers& timers_;
    const Settings& settings_;
    MasterLink& master_;
    Verdicts verdicts_;
    Rates questions_;
    std::map<std::pair<std::string, std::string>, std::shared_ptr<Signal>>
        asked_;  // Somebody waits for the answer.
};

}  // namespace hostler::gateway
