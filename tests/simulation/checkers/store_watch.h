// Stands before the store, and compares what it gives back with what it acknowledged.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>

#include "findings.h"
#include "ports/store.h"
#include "store_behind.h"

namespace hostler::simulation {

// What the store must hold, over all lives of the master.
class StoreLedger {
public:
    explicit StoreLedger(Findings& found) : found_(found) {}

    void led(std::uint64_t epoch);
    std::uint64_t called(const Changes& changes);  // Which call that is.
    void acknowledged(std::uint64_t call);
    void refused(std::uint64_t call);                            // Certainly not written.
    void loaded(const Snapshot& snapshot, std::uint64_t epoch);  // By who led in that epoch last.
    // An older state has taken the place of all that was known: what is loaded next,
    void restored();
    // or what these commits made of an empty store.
    void restored(const std::vector<std::shared_ptr<const Changes>>& kept);
    // Whether the store has this instance as one that ended, for whoever asks by its tenant and name.
    bool has_ended(const std::string& tenant, const std::string& name) const;
    std::uint64_t calls = 0;
    std::string secret;                     // What is to be nowhere in what is written; empty: nothing is.
    std::function<void(std::string)> tell;  // The story.
    std::function<void(const Changes&)> on_call;  // At all that is written; unset: nobody does.
    // Why nobody may write this; empty: they may. What is refused by the store was never written.
    std::function<std::string(const Changes&)> object_to;
    // Where several masters commit: whether the store has this one, of an epoch and with a number. Else
    // those that were called before an acknowledged one are there too.
    std::function<bool(std::uint64_t, std::uint64_t)> took_effect;

private:
    void settle(std::uint64_t number);  // All up to this one is there, or never will be.
    void apply(const Changes& changes);
    void archive(const Object& object, const Changes& changes);
    void balance(const std::string& claim);
    void look_for_secret(const Changes& changes);

    Findings& found_;
    bool restored_ = false;
    std::set<std::uint64_t> epochs_;
    std::uint64_t acknowledged_ = 0;
    struct Call {
        std::uint64_t which = 0;
        Changes changes;
        std::string objection;
    };
    std::deque<Call> in_doubt_;  // Not answered; a part of them may be there after a crash.
    std::map<std::pair<std::string, std::string>, std::string> objects_;  // Live ones: body by kind and id.
    std::set<std::string> ended_;                                         // Instances: "tenant/name".
    std::map<std::string, std::string> ledger_;  // Body by claim, as its last line says.
};

class WatchedStore final : public StoreBehind {
public:
    WatchedStore(Store& store, StoreLedger& ledger) : StoreBehind(store), ledger_(ledger) {}
    Task<Lease> lead(Contender who, Duration length, std::uint64_t above) override;
    Task<> commit(Changes changes) override;
    Task<Snapshot> load() override;
    Task<Snapshot> load_since(StorePoint point) override;

private:
    Task<> wait_for(Task<> commit, std::uint64_t call);
    void loaded(const Snapshot& snapshot);
    StoreLedger& ledger_;
    std::uint64_t epoch_ = 0;
    bool led_ = false;  // And has not loaded since: what is loaded now is what the term begins with.
    std::map<std::pair<std::string, std::string>, Object> copy_;  // As the snapshots so far say.
};

}  // namespace hostler::simulation
