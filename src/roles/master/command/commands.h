// Commands to hosts: at most one under way for each subject and generation.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::master {

// Makes a command, to be sent once it is durable. `image`: of pull_image. `passing`: the store does not keep
// its end.
void command(Desk& desk, const std::string& host, Verb verb, const std::string& subject,
             std::uint64_t generation, std::string image = {}, bool passing = false);

// One about this subject is under way.
bool commanded(const Desk& desk, const std::string& subject);

// The last one about this subject failed a moment ago: it is tried again, but not at once.
bool resting(const Desk& desk, const std::string& subject);

// It is tried again, but not at once.
void rest_for_now(Desk& desk, const std::string& subject);

// A newer generation makes those of older ones pointless: the host will refuse them.
void close_commands(Desk& desk, const std::string& subject, std::uint64_t below_generation);

struct CommandAnswer {
    bool done = false;
    std::string code;     // When it failed: as core/result.h names it,
    std::string reason;   // a token,
    std::string message;  // a sentence.
    int exit_code = 0;
    bool exited = false;  // exit_code says something.
    std::optional<HostFigures> measured{};
    bool absent = false;  // The host says that nothing of the subject runs now.
    // The run of this generation had not ended so long after SIGTERM, and got SIGKILL; 0: none.
    std::uint64_t killed_generation = 0;
    std::int64_t killed_after_s = 0;
    std::map<std::string, std::string> outputs{};  // Of a step of a driver: secrets.
    std::vector<std::string> leftovers{};          // Of a cluster on its host, "file /etc/cni/net.d".
};

// The host did not do it because the command itself was too old or too late for it.
bool refused_unread(const CommandAnswer& answer);

// The host is at work on it. Unknown commands are let pass.
void note_progress(Desk& desk, const std::string& host, const std::string& command, const std::string& phase,
                   const std::string& message);
// It has ended. What it was about moves on.
void note_answer(Desk& desk, const std::string& host, const std::string& command,
                 const CommandAnswer& answer);

// Ends those whose time is over.
void expire_commands(Desk& desk);

// The host has gone for good: nobody will answer.
void drop_commands(Desk& desk, const std::string& host);

}  // namespace hostler::master
