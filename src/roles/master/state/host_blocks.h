// What keeps a host, a GPU or an address from being given to somebody else, as several features ask.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::master {

// ── After a restore

// The last restore of the store; nullptr: there was none.
const Restore* restore_of(const Desk& desk);
// The store was restored, and this host has not said since what runs there: nothing is started or placed on a
// guess.
bool awaits_word(const Desk& desk, const std::string& host);
// How long its host may run it without hearing from us. An earlier leader may have granted a longer time.
std::chrono::milliseconds lease_of(const Desk& desk, const Instance& instance);
// It may have moved after the backup, and run on elsewhere by a lease that was given before the restore.
bool may_run_elsewhere(const Desk& desk, const Instance& instance);

// ── Workloads that the store does not know

const SeenWorkload* seen_workload(const Desk& desk, const Claim& foreign);  // nullptr: its host is silent.
// Its workload is seen to use the GPU, whoever the ledger gives that to.
bool uses(const Desk& desk, const Claim& foreign, const std::string& gpu);
// Another claim counts on a GPU or on the place in a subnet that the workload has.
bool collides(const Desk& desk, const Claim& claim, const SeenWorkload& workload);
// A workload is seen that has a GPU of this claim, or its place in a subnet.
bool used_by_foreign(const Desk& desk, const Claim& claim);

// ── Consolidations

// A host that is to be free takes nothing new until then.
bool is_emptied(const Desk& desk, const std::string& host);
// The step that this claim holds a place for; nullptr: none does.
const ConsolidationStep* step_of_claim(const Estate& estate, const std::string& claim);

}  // namespace hostler::master
