// Checks quotas by counting the rows of the estate at each step. It does not use the master's counters.
#pragma once

#include <tuple>

#include "domain/quota/check.h"
#include "findings.h"
#include "roles/master/leader/term.h"

namespace hostler::simulation {

class QuotaCheck {
public:
    // Since the last look no quota was exceeded: what is used is within its limit, or not more than it was.
    // What the master keeps of it says the same. Of what came with another epoch only the latter is looked
    // at.
    void look(const master::Desk& desk, std::uint64_t epoch, Findings& found);

private:
    using Scope = std::tuple<std::string, std::string, std::string>;  // Tenant, project, subject.
    using Use = std::map<Scope, Amounts>;
    struct Before {
        bool claimed = false;
        InstancePhase phase{};
        std::string reason;
    };
    static Use count(const master::Desk& desk, const std::map<std::string, Before>& moved_from);
    void compare(const master::Desk& desk, const Use& use, Findings& found) const;

    std::uint64_t epoch_ = 0;
    Use used_;
    std::map<std::string, Quota> quotas_;
    std::map<std::string, Before> instances_;
};

}  // namespace hostler::simulation
