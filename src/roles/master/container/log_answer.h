// A request for logs, as a host is asked, and its answer.
#pragma once

#include "core/result.h"
#include "core/timers.h"

namespace hostler::api {
struct GetLogs;
struct Logs;
}  // namespace hostler::api
namespace hostler::uplink {
class LogAnswer;
class LogRequest;
}  // namespace hostler::uplink

namespace hostler::master {

// What the host is asked for. Errors: invalid (`after` is no place of ours).
Result<> ask_for_logs(uplink::LogRequest& ask, const api::GetLogs& request, WallTime now);
// Errors: conflict (logs_without_times: an older agent's lines have no times, and the request needs them).
Result<api::Logs> log_answer(uplink::LogAnswer&& sent, const api::GetLogs& request, WallTime now);

}  // namespace hostler::master
