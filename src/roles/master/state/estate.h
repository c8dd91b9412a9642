// Everything that is, in memory: the one place where the master's decisions are made. It belongs to one
// thread, and nothing is awaited between reading it and changing it. What was changed is taken out as one
// commit.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ports/sealer.h"
#include "ports/store.h"
#include "roles/master/changes/notice.h"
#include "roles/master/state/kinds.h"
#include "roles/master/state/table.h"

namespace hostler::master {

// What one commit changed, for those who watch.
struct Touched {
    std::string kind;
    std::string id;
    bool operator==(const Touched&) const = default;
};

// Whose a claim becomes.
struct ClaimOf {
    std::string tenant{};  // Empty: nobody's.
    std::string project = "default";
    std::string holder;        // The slot or instance.
    std::string created_by{};  // As the instance says.
};

class Estate {
public:
#define PART(type)
#define KIND(type, table, ...) Table<type> table;
#include "roles/master/kinds.def"
#undef KIND

    // Who changes things from here on, and when: the head of every event and ledger line.
    void begin(std::string actor, WallTime time);
    WallTime time() const { return time_; }
    std::int64_t micros() const { return time_.time_since_epoch().count(); }

    void event(std::string_view kind, const std::string& id, const std::string& tenant, std::string reason,
               std::string message);
    // Every change of who holds what goes through these three.
    const Claim& hold(Claim claim);
    void pass_on(const std::string& claim, ClaimUse use, ClaimOf of);
    void readdress(const std::string& claim, int address_index);
    void release(const std::string& claim);
    // A line without a result is of something that was done.
    void audit(AuditLine line) {
        if (line.result.empty()) line.result = audit_ok;
        audit_.push_back(std::move(line));
    }
    void audit_seal(AuditSeal seal) { seals_.push_back(std::move(seal)); }
    // How far the chain of the audit is in the store, and how far it is sealed: as it was loaded.
    struct AuditState {
        AuditHead head, sealed;
    };
    const AuditState& audit_state() const { return audit_state_; }
    void audit_state(AuditState state) { audit_state_ = std::move(state); }
    // What has ended is not in memory: it is written again as it is here.
    void put_again(Object object) { again_.push_back(std::move(object)); }

    // Undoes at its end what was changed while it was there; nothing is taken out meanwhile. A dry run costs
    // what it changes, however much there is. One may be within another.
    class Trial {
    public:
        explicit Trial(Estate& estate);
        ~Trial();
        Trial(const Trial&) = delete;
        Trial& operator=(const Trial&) = delete;

    private:
        Estate& estate_;
        std::vector<EventRecord> events_;
        std::vector<LedgerLine> ledger_;
        std::vector<AuditLine> audit_;
        std::vector<AuditSeal> seals_;
        std::vector<Object> again_;
    };

    // What is taken out is sealed by the current one of `sealing_keys` from here on, and what is loaded is
    // opened. Without a sealer sealed texts are loaded as they are, and no row that has secrets is taken out.
    void seal_with(const Sealer& sealer) { sealer_ = &sealer; }

    bool in_trial() const { return trials_ > 0; }
    bool unchanged() const;
    std::size_t size() const;            // Objects of all kinds.
    std::uint64_t rows_visited() const;  // Of all kinds, see Table::rows_visited().
    // All that was changed since the last take(), as commit `number`.
    Changes take(std::uint64_t epoch, std::uint64_t number, std::vector<Touched>& touched);
    // What the last take() has for those who watch all kinds.
    std::vector<Notice> take_notices() { return std::exchange(notices_, {}); }
    // An object whose body cannot be read is set aside. Errors: conflict (sealing_key_missing); internal: a
    // secret that belongs elsewhere; row_damaged: one that nothing can be decided without.
    Result<> load(const std::vector<Object>& objects);
    // The same for some of a snapshot's objects; `keys` is what known_keys() says of all of them. An object
    // that is there is replaced, one that has ended is left out.
    Result<> load(std::span<const Object> objects, const std::set<std::string>& keys);
    std::set<std::string> known_keys(const std::vector<Object>& objects) const;
    void forget(std::string_view kind, const std::string& id);  // As load() of one that has ended.
    // The store has it and nobody can read it: the rest goes on without it. What it holds by a claim stays
    // held. Errors: internal (row_damaged).
    Result<> set_aside(const Unreadable& row);
    // Those that were set aside: why, by kind and id.
    const std::map<std::pair<std::string, std::string>, std::string>& unreadable() const {
        return unreadable_;
    }

    template <class Visit>
    void each_table_of(Visit visit) const {
        each_table(*this, visit);
    }
    template <class Visit>
    void each_table_of(Visit visit) {
        each_table(*this, visit);
    }

private:
    template <class Self, class Visit>
    static void each_table(Self& self, Visit visit) {
#define KIND(type, table, ...) visit(self.table);
#include "roles/master/kinds.def"
#undef KIND
#undef PART
    }
    template <class T>
    Result<> load_into(Table<T>& table, const Object& object, const std::set<std::string>& keys);
    void ledger(const Claim& claim, std::string use);
    // They are kept when the host no longer says them.
    void name_models(Claim& claim) const;
    std::string current_key() const;

    std::string actor_ = "master";
    WallTime time_;
    std::vector<EventRecord> events_;
    std::vector<LedgerLine> ledger_;
    std::vector<AuditLine> audit_;
    std::vector<AuditSeal> seals_;
    AuditState audit_state_;
    std::vector<Object> again_;
    std::vector<Notice> notices_;
    std::map<std::pair<std::string, std::string>, std::string> unreadable_;
    const Sealer* sealer_ = nullptr;
    int trials_ = 0;  // Under way, one within another.
};

}  // namespace hostler::master
