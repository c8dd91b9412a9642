// The way to the master: one connection to an access point after the other.
#pragma once

#include <functional>
#include <string>

#include "core/task_group.h"
#include "roles/agent/book.h"
#include "roles/agent/identity.h"
#include "roles/agent/reporter.h"
#include "wire/link.h"

namespace hostler::agent {

class Session {
public:
    struct Hooks {
        std::function<void(uplink::Command)> command;
        std::function<void(uplink::TunnelOrder)> tunnel;
        std::function<Task<std::string>(std::string instance, std::size_t bytes_max)> logs;
    };
    Session(const Settings& settings, const Ports& ports, MemberBook& member, CommandBook& book,
            Reporter& reporter, Hooks hooks);

    Task<> run();  // For ever.
    void send(
        const uplink::CommandUpdate& update);  // When connected; else it is sent after the next welcome.
    bool connected() const { return welcomed_ != nullptr; }

    static constexpr std::size_t logs_default = 64 * 1024;
    static constexpr std::size_t logs_max = 1 << 20;
    static constexpr std::size_t log_requests_max = 16;  // At one time.

private:
    Task<> serve(StreamPtr stream);
    Task<> renew_if_due(wire::Link& link);
    Task<> greet(wire::Link& link);
    Task<> accept(uplink::AgentWelcome welcome);
    Task<> receive(wire::Link& link, TaskGroup& tasks);
    Task<> handle(wire::Link& link, TaskGroup& tasks, uplink::Frame frame);
    Task<> send_reports(wire::Link& link);
    Task<> send_answers(wire::Link& link);
    Task<> watch_certificate(wire::Link& link);
    Task<> answer_logs(wire::Link& link, std::uint64_t call, uplink::LogRequest request);

    const Settings& settings_;
    Ports ports_;
    MemberBook& member_;
    CommandBook& book_;
    Reporter& reporter_;
    Hooks hooks_;
    wire::Link* welcomed_ = nullptr;
    std::size_t log_requests_ = 0;
};

}  // namespace hostler::agent
