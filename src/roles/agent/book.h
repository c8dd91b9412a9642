// Which commands came, which are done and what was answered, over crashes: each command is done once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/timers.h"
#include "ports/journal.h"
#include "ports/sealer.h"
#include "roles/agent/messages_fwd.h"

namespace hostler::agent {

// In the journal: "epoch", "generation/<subject>", "command/<id>". An answer is kept until it is
// acknowledged, its outputs sealed and no longer; what was acknowledged is remembered until the command could
// not be begun any more, so that a late copy is not obeyed. A command holds what tenants tell their programs:
// it stands there sealed, and only until it is done.
class CommandBook {
public:
    // Null: commands are not sealed, as where nothing outlives the process. Its newest key seals.
    CommandBook(Journal& journal, Timers& timers, Sealer* sealer = nullptr);
    ~CommandBook();

    void load();
    // What an older agent wrote in the clear is sealed, and what was written before goes from the disk. Once,
    // after load(). Errors: as the journal's and the sealer's.
    Task<> seal();

    std::uint64_t epoch() const { return epoch_; }
    Task<> raise_epoch(std::uint64_t epoch);  // Durable when it returns. A lower one changes nothing.

    struct Admission {
        bool begin = false;                                   // Nobody has seen it: do it, then finish() it.
        std::shared_ptr<const uplink::CommandUpdate> answer;  // To be sent now; nullptr: none.
    };
    // What to do with a command that came. When it is to begin, that is durable.
    Task<Admission> admit(uplink::Command command);
    // The progress that a copy of the command is told about.
    void progress(const uplink::CommandUpdate& update);
    // Durable when it returns, and so is what is written `with` it, before it. Errors: as the journal's; the
    // answer then is not to be sent yet.
    Task<> finish(uplink::CommandUpdate answer, std::vector<Journal::Entry> with = {});
    Task<> acknowledge(std::string id);

    std::vector<uplink::Command> unfinished() const;            // In the order in which they came.
    std::vector<uplink::CommandUpdate> unacknowledged() const;  // In the order in which they came.
    // Forgets what can do no harm any more.
    Task<> sweep();

    std::uint64_t generation(const std::string& subject) const;
    static constexpr std::size_t open_max = 4096;     // Unfinished, or answered and not acknowledged.
    static constexpr std::size_t message_max = 4096;  // Bytes of an answer's sentence that are kept.

private:
    enum class State : char { begun = 'B', done = 'D', acknowledged = 'A' };
    static bool is_known(State state);
    // In the journal, not to be read without its key: begun, and done with outputs.
    static constexpr char sealed = 'S', sealed_done = 'O';
    struct Record;
    struct Obeyed {
        std::uint64_t generation = 0;
        std::int64_t forget = 0;
        bool operator==(const Obeyed&) const = default;
    };
    std::int64_t now() const { return timers_.wall().time_since_epoch().count(); }
    Result<Journal::Entry> entry(const std::string& id) const;
    bool read(const std::string& key, char state, std::string_view body, Record& into) const;
    Result<std::string> seal(const std::string& key, const std::string& text) const;
    std::size_t open() const;

    Journal& journal_;
    Timers& timers_;
    Sealer* sealer_;
    std::uint64_t epoch_ = 0;
    std::uint64_t order_ = 0;
    std::map<std::string, std::unique_ptr<Record>> records_;
    std::map<std::string, Obeyed> obeyed_;
};

uplink::CommandUpdate failed(std::string id, const Error& error);

}  // namespace hostler::agent
