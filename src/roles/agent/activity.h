// Who uses the instances of this host, and when they last did. What the platform does by itself – probes, a
// gateway's kept connections – is no use.
#pragma once

#include <list>
#include <map>
#include <optional>
#include <string>

#include "core/timers.h"
#include "roles/agent/workloads.h"

namespace hostler::agent {

// What was not measured counts as use: an agent that has just started, a container that has just become
// ready.
class Activity {
public:
    explicit Activity(Timers& timers) : timers_(timers) {}
    Activity(const Activity&) = delete;

    enum class Bytes { in, out };  // Towards the instance, or from it.
    enum class Counts {
        bytes,   // When bytes go through, and while the instance owes an answer to the last that went in.
        moving,  // When bytes go through.
        always,  // As long as it is there.
    };
    // Something that uses an instance as long as it lives.
    class User {
    public:
        User(Activity& activity, std::string instance, std::string what, Counts counts,
             std::uint16_t port = 0);
        ~User();
        User(const User&) = delete;
        void moved(Bytes way) {
            moved_ = true;
            last_ = way;
        }

    private:
        friend class Activity;
        Activity& activity_;
        const std::string instance_;
        const std::string what_;
        const Counts counts_;
        const std::uint16_t port_;  // Of a connection to a declared port.
        bool moved_ = false;        // Since the last look.
        Bytes last_ = Bytes::out;
        std::list<User*>::iterator at_;
    };

    struct Use {
        Duration unused{};  // 0: it is in use now.
        std::string by;     // What used it last: connection, terminal, command, files, port, jupyter, start.
        bool operator==(const Use&) const = default;
    };
    // Of this generation, where it runs; nullopt: it does not. As exact as the looks are frequent.
    std::optional<Use> of(const std::string& instance, std::uint64_t generation);

    // A workload has become something else.
    void note(const Workload& changed);
    // What a notebook server says of itself: how long nothing was run in it. From now on connections to its
    // port do not count, until it cannot be asked (nullopt).
    void note_jupyter(const std::string& instance, std::uint16_t port, std::optional<Duration> unused);
    // What went on since the last look happened now.
    void look();

private:
    struct Seen {
        std::uint64_t generation = 0;
        bool ready = false;
        Instant used;
        std::string by;
        std::uint16_t answers_for_itself = 0;  // The port of its notebook server.
    };
    void look_at(User& user);

    Timers& timers_;
    std::map<std::string, Seen> seen_;  // By instance; those that run.
    std::list<User*> users_;
};

}  // namespace hostler::agent
