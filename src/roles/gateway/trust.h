// Whom to believe while no master answers: whoever had a good credential when one last spoke of it. Kept over
// a restart, without the credentials themselves.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "core/signal.h"
#include "core/timers.h"
#include "ports/digest.h"
#include "ports/journal.h"
#include "roles/gateway/verdicts.h"

namespace hostler::gateway {

// What a master said about a good credential.
struct Standing {
    std::string principal;
    std::vector<std::string> marks{};             // What it stands on; when one of these ends, so does it.
    std::optional<Duration> ends = std::nullopt;  // The credential's own end, from now.
    std::vector<std::string> groups{};            // As of a verdict.
};

// As whom a good credential lets in.
struct Granted {
    std::string principal;
    std::vector<std::string> groups;
    std::string mark;  // Of the credential on which it stands itself.
};

class Trust {
public:
    // Of one question, for a credential that is for some addresses alone.
    static constexpr std::size_t addresses_max = 64;

    // Bounded: the one that would end first goes first. `outage`: for so long after a master's last word.
    Trust(Journal& journal, const Digest& digest, std::size_t size_max, Duration outage, WallTime now);

    void keep(const Question& question, Standing standing, WallTime now);
    void forget(const Question& question);
    void forget_credential(const std::string& credential);  // Wherever it is shown.
    // What stood on one of these. `each` hears what is forgotten, if it was shown since the start.
    void end(const std::vector<std::string>& marks, const std::function<void(const Question&)>& each);

    enum class Belief { yes, ended, unknown };  // ended: it was good, and its time is over.
    Belief believes(const Question& question, WallTime now) const;
    std::optional<Granted> granted(const Question& question, WallTime now) const;  // Of what is believed.
    std::vector<std::string> marks() const;  // Of all that is believed, each once.
    std::size_t size() const { return entries_.size(); }

    Task<> run(Timers& timers);  // Writes down what changes, until cancelled.

private:
    struct Entry {
        std::int64_t until_us = 0;
        std::vector<std::string> marks;  // The principal, the mark of the credential, and others.
        std::vector<std::string> groups{};
        std::int64_t written_until_us = 0;
        std::optional<Question> question{};  // nullopt: not shown since the start.
    };
    std::string key_of(const Question& question) const;
    void make_room(const Question& question);
    void erase(const std::string& key);
    void write_later(const std::string& key, const Entry& entry);

    Journal& journal_;
    const Digest& digest_;
    const std::size_t size_max_;
    const Duration outage_;
    std::map<std::string, Entry> entries_;
    std::set<std::pair<std::int64_t, std::string>> by_end_;
    std::map<std::string, std::optional<std::string>> unwritten_;  // nullopt: to be erased.
    Signal changed_;
};

}  // namespace hostler::gateway
