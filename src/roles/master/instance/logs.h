// What instances wrote.
#pragma once

#include "core/task.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct GetLogs;
struct Logs;
}  // namespace hostler::api

namespace hostler::master {

class Term;
using TermPtr = std::shared_ptr<Term>;

// Asks the host where it ran last. Errors: not_found (no_logs), unavailable, timeout, invalid.
Task<api::Logs> fetch_logs(TermPtr term, Instance instance, api::GetLogs request);

}  // namespace hostler::master
