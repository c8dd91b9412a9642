// Ways into the cloud, and which of them are the best: values in, a choice out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/timers.h"

namespace hostler::agent {

struct Way {
    std::string address{};  // What is dialled.
    std::string name{};     // The access point there; empty: not known yet.
    std::string zone{};
    int load_percent = 0;
    bool up = true;  // As far as the master knows.
    bool draining = false;
    std::optional<Duration> rtt{};  // Median of the last samples; nullopt: none yet.
    Instant rests_until{};          // It failed a moment ago.
};

// What a way costs us: its round trip, made dearer by load and by standing in another zone. Only measured by
// us and bounded by it: a load that is a lie doubles it at most.
Duration cost(const Way& way, const std::string& zone);

// So much better that moving is worth it. No two ways are each clearly better than the other, and noise of a
// fifth in their round trips makes no two of one zone take turns.
bool clearly_better(const Way& other, const Way& present, const std::string& zone);

// The best to dial now that is neither `taken` nor rests; ways that drain or that the master does not hear
// only where nothing else is left, and those that drain not even then if `last` is false. nullptr: none.
const Way* pick(const std::vector<Way>& ways, const Way* taken, const std::string& zone, Instant now,
                bool last);

// When to move, round of measurements by round: only what was clearly better in several rounds in a row is.
class Compass {
public:
    enum class Step {
        stay,
        swap,  // Speak through the standby.
        turn,  // Let the standby go: a third way is better.
    };
    // Indices into `ways`; nullopt: there is none.
    Step advise(const std::vector<Way>& ways, std::optional<std::size_t> active,
                std::optional<std::size_t> standby, const std::string& zone, Instant now);

    static constexpr int rounds = 3;

private:
    int swap_ = 0;
    int turn_ = 0;
    std::string swap_to_, turn_to_;  // Whose rounds are counted.
};

}  // namespace hostler::agent
