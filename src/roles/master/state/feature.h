// What the kernel calls of each feature. features.def lists the features, in the order in which they are
// called.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "roles/master/state/desk.h"

namespace hostler::master {

class Api;
class Term;
struct CommandAnswer;
struct HostReport;

using ApiPart = void (*)(Api&);  // Adds operations.

// Commands of one kind. Each verb is in the row of one feature.
struct VerbRow {
    Verb verb;
    // It has ended, and is not in the estate any more.
    void (*answered)(Desk&, const HostCommand&, const CommandAnswer&);
    // Its host is at work on it. Null: its phases are nothing to note.
    void (*progressed)(Desk&, const HostCommand&, const std::string& phase,
                       const std::string& message) = nullptr;
    // Its host did not answer in time. Null: the next sweep sees to it.
    void (*expired)(Desk&, const std::string& subject) = nullptr;
};

// What a feature has no use for is null or empty.
struct Feature {
    std::string_view name;
    // Adds its operations to the API.
    std::span<const ApiPart> api{};
    std::span<const VerbRow> verbs{};

    // ── Of a term

    // It begins: starts the tasks that go on as long as it does. It ends.
    void (*start)(Term&) = nullptr;
    void (*ended)(Term&) = nullptr;
    // By level, each second: decides what is to do. What was decided is committed after the last feature.
    void (*sweep)(Term&, Desk&) = nullptr;
    // After that, each second: tells others what they do not know yet.
    void (*tell)(Term&) = nullptr;
    // These rows are durable as they are now.
    void (*published)(Term&, std::span<const Touched>) = nullptr;

    // ── Of a host

    // It has said what it is: for the first time in this term, or something else than before.
    void (*host_described)(Desk&, const std::string& host) = nullptr;
    // A report of it came. What it says of workloads is not noted yet;
    void (*host_reports)(Desk&, const std::string& host, HostReport&) = nullptr;
    // now it is. `complete`: it said all that it has.
    void (*host_reported)(Desk&, const std::string& host, bool complete) = nullptr;
    // Its last samples are others than before.
    void (*host_sampled)(Desk&, const std::string& host) = nullptr;
    // Its silence is so long that its workloads are lost.
    void (*host_lost)(Desk&, const std::string& host) = nullptr;
    // It is being removed. Claims that nobody released are released afterwards.
    void (*host_gone)(Desk&, const std::string& host) = nullptr;
    // There may be more room than before.
    void (*room_made)(Desk&) = nullptr;
};

// In the order of features.def; defined in server/features.cpp, which alone knows them all.
std::span<const Feature* const> features();

// Calls this member of each feature that has it.
template <class Member, class... Args>
void each_feature(Member member, Args&&... args) {
    for (const Feature* feature : features())
        if (feature->*member) (feature->*member)(args...);
}

// The row of this verb, and its feature's.
const VerbRow& row_of(Verb verb);

}  // namespace hostler::master
