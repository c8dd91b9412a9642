// The way to the master: connections to two access points, of which one is spoken through.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "core/task_group.h"
#include "roles/agent/access_book.h"
#include "roles/agent/book.h"
#include "roles/agent/identity.h"
#include "roles/agent/kept_log.h"
#include "roles/agent/master_link.h"
#include "roles/agent/pulse.h"
#include "roles/agent/reporter.h"
#include "wire/link.h"

namespace hostler::agent {

// The other connection is the standby: it takes orders and tunnels, so that instances stay reachable while
// the first one dies, and it has said nothing. To move is to say hello on the standby; the first one is let
// go after.
class Session {
public:
    struct Hooks {
        std::function<std::uint64_t()> stamp;  // Of a report that is sent now.
        std::function<void(uplink::ReportAck)> confirmed;
        std::function<void(uplink::Command)> command;
        std::function<void(uplink::ChallengePath)> path;
        std::function<void(uplink::SpeedOrder)> speed;
        std::function<void(uplink::TunnelOrder)> tunnel;
        std::function<Task<LogPart>(std::string instance, LogsWanted wanted)> logs;
    };
    Session(const Settings& settings, const Ports& ports, MemberBook& member, CommandBook& book,
            Reporter& reporter, Hooks hooks);

    Task<> run();  // For ever.
    void send(
        const uplink::CommandUpdate& update);  // When connected; else it is sent after the next welcome.
    bool connected() const { return active_ != nullptr; }
    std::string access() const;  // Whom it speaks through, "nj-1"; empty: nobody.
    std::size_t links() const;   // Access points that it is connected to.

    static constexpr std::size_t logs_max = 1 << 20;
    static constexpr std::size_t log_requests_max = 16;  // At one time.

private:
    struct Slot {
        std::string address;  // Dialled or connected; empty: neither.
        wire::Link* link = nullptr;
        std::shared_ptr<MasterLink> master{};  // Inside it.
        TaskGroup* tasks = nullptr;            // End with the link.
        std::uint64_t number = 0;              // Of the link; each has its own.
        Instant quiet_until{};                 // A hello was not answered.
        Duration quiet{};
        bool tried = false;  // Once since the start, in vain.
    };
    // connections
    Task<> hold(std::size_t index);
    Task<> serve(Slot& slot, StreamPtr stream);
    Task<> receive(Slot& slot);
    const Way* way_for(std::size_t index) const;
    // which of them is spoken through (session_turns.cpp)
    Task<> conduct();
    Slot* best();
    void follow_advice();
    void leave_draining();
    Task<> greet(Slot& slot);
    Task<> say_hello(Slot& slot, std::uint64_t number, Duration deadline);
    Task<> accept(uplink::AgentWelcome welcome);
    bool speaks(const Slot& slot, std::uint64_t turn) const { return active_ == &slot && turn_ == turn; }
    Slot& other(const Slot& slot) { return &slot == &slots_[0] ? slots_[1] : slots_[0]; }
    // what is said (session_words.cpp)
    Task<> handle(Slot& slot, uplink::Frame frame);
    Task<> hear(Slot& slot, std::shared_ptr<wire::Link> link);
    Task<> obey(Slot& slot, std::shared_ptr<wire::Link> link, uplink::Frame frame);
    Task<> send_reports(Slot& slot, std::uint64_t turn);
    Task<> send_answers(Slot& slot, std::uint64_t turn);
    Task<> send_telemetry(Slot& slot, std::uint64_t turn);
    Task<> watch_certificate(Slot& slot, std::uint64_t turn);
    Task<> renew_as_wished(std::shared_ptr<wire::Link> link);
    Task<> answer_logs(std::shared_ptr<wire::Link> link, std::uint64_t call, uplink::LogRequest request);

    const Settings& settings_;
    Ports ports_;
    MemberBook& member_;
    CommandBook& book_;
    Reporter& reporter_;
    Hooks hooks_;
    AccessBook ways_;
    Compass compass_;
    std::uint64_t rounds_ = 0;  // Of measurements, that the compass has seen.
    std::array<Slot, 2> slots_;
    Slot* active_ = nullptr;  // The master has welcomed us there.
    Slot* wanted_ = nullptr;  // Clearly better than that.
    std::uint64_t links_made_ = 0;
    std::string life_;
    std::uint64_t turn_ = 0;  // Counts hellos.
    Signal changed_;
    Pulse pulse_;
    std::uint64_t telemetry_dropped_ = 0;
    std::size_t log_requests_ = 0;
    bool renewing_ = false;               // As the master wishes.
    std::shared_ptr<wire::Link> wished_;  // Where it has wished so since.
};

}  // namespace hostler::agent
