// The audit of a store, looked at as an operator's `hostler audit verify` does it.
#pragma once

#include <memory>

#include "findings.h"
#include "roles/master/leader/term.h"

namespace hostler::simulation {

struct AuditChecked {
    bool done = false;  // All of it was looked at.
    std::uint64_t chained = 0, seals = 0;
};

// Within the life of the term's master; what is wrong is reported once all of it was looked at. A term that
// ends meanwhile leaves `done` as it is.
void check_audit(const master::TermPtr& term, Findings& found, std::shared_ptr<AuditChecked> into);

}  // namespace hostler::simulation
