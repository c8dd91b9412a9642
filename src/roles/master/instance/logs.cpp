#include "roles/master/instance/logs.h"

#include <fmt/format.h>

#include "api/types_log.h"
#include "proto/uplink.pb.h"
#include "roles/master/container/log_answer.h"
#include "roles/master/leader/term.h"

namespace hostler::master {

Task<api::Logs> fetch_logs(TermPtr term, Instance instance, api::GetLogs request) {
    const WallTime now = term->ports().timers.wall();
    const bool ended = is_final(instance.phase) || instance.phase == InstancePhase::resting;
    if (instance.host.empty())
        co_return fail(Code::not_found, fmt::format("{} has no logs: it is on no host", request.instance),
                       "no_logs");
    uplink::Frame frame;
    frame.mutable_log_request()->set_instance(instance.id);
    CO_TRY(ask_for_logs(*frame.mutable_log_request(), request, now));
    auto answer = co_await term->ask_host(instance.host, std::move(frame), std::chrono::seconds{15});
    // It has no container yet: whoever follows waits for its first line.
    const bool none_yet = !answer && answer.error().code == Code::not_found && request.follow && !ended;
    if (none_yet) answer = uplink::Frame{};
    uplink::Frame sent = CO_TRY(std::move(answer));
    api::Logs logs = CO_TRY(log_answer(std::move(*sent.mutable_log_answer()), request, now));
    logs.ended = ended;
    co_return logs;
}

}  // namespace hostler::master
