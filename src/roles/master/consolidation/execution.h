// Consolidation: a plan of moves that frees whole hosts, and its execution step by step. An instance begins
// in its new place, held from the beginning, once its host has said that nothing of it runs in the old one.
#pragma once

#include "domain/scheduler/consolidation_record.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct Consolidation;
struct CreateConsolidation;
}  // namespace hostler::api

namespace hostler::master {

// What would be done: moves as wanted, else as `consolidate()` finds them. Nothing leaves its zone. Errors:
// invalid (zone), conflict (plan_outdated: a move that is wanted can no longer be made).
Result<ConsolidationRecord> plan_consolidation(const Desk& desk, const api::CreateConsolidation& request);

// Why it may not be moved; empty: it may.
std::string immovable(const Desk& desk, const Instance& instance);

// Begins it. Errors: those of the plan, conflict (nothing_to_move, consolidation_running).
Result<const ConsolidationRecord*> begin_consolidation(Desk& desk, const api::CreateConsolidation& request);

// Errors: not_found (consolidation_not_found), conflict (consolidation_ended).
Result<const ConsolidationRecord*> cancel_consolidation(Desk& desk, const std::string& id);

// Takes all steps that can be taken. By level, every second.
void follow_consolidations(Desk& desk);

// The host was removed: what was held there for instances that stop elsewhere is given up.
void forget_reservations(Desk& desk, const std::string& host);

api::Consolidation view(const Desk& desk, const ConsolidationRecord& record);

}  // namespace hostler::master
