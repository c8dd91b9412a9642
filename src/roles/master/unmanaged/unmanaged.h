// Workloads that hosts have and the store does not know: somebody else's, or ours from before a restore. They
// hold what they hold, and are left alone until a person decides.
#pragma once

#include "roles/master/state/host_blocks.h"

namespace hostler::master {

// Claims for what a host says that it runs and the store does not know.
inline constexpr RateLimit foreign_host_rate{.per_second = 0.1, .burst = workloads_host_max};

// A complete report came. The first after a restore tells what the store has forgotten: later runs of
// instances, and that starts of then came to nothing.
void note_word(Desk& desk, const std::string& host);
// Claims of instances that the store has no row of become foreign: whatever runs there is a person's to
// settle.
void hold_for_unknown(Desk& desk);
// The same, each time: foreign claims follow what is there.
void note_foreign(Desk& desk, const std::string& host);

// A restored store does not know this host, which has shown a certificate of ours: it joined after the
// backup.
bool may_come_back(const Desk& desk, const std::string& host);
void take_back(Desk& desk, const std::string& host, const std::string& access);

// Errors of all: not_found (foreign_not_found), conflict (workload_ambiguous: two hosts say that they have
// it).
Result<const Claim*> find_foreign(const Desk& desk, const std::string& workload);
Result<const Claim*> keep_foreign(Desk& desk, const std::string& workload, std::string why);
Result<const Claim*> remove_foreign(Desk& desk, const std::string& workload, std::string why);
// Errors: unavailable (host_unreachable), conflict (not_running; tenant_unknown; tenant_differs;
// place_unknown; place_taken: another has what it uses, by the ledger; volume_taken; volume_in_use).
Result<const Instance*> adopt_foreign(Desk& desk, const std::string& workload);

// Its instance, of whose later run the store does not know; nullptr: it knows no instance.
const Instance* earlier_run(const Desk& desk, const Claim& foreign);
std::vector<std::string> not_known(const Desk& desk, const Claim& foreign);  // If it were adopted.

}  // namespace hostler::master
