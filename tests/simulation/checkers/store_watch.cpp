#include "store_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "roles/master/state/kinds.h"

namespace hostler::simulation {

void StoreLedger::led(std::uint64_t epoch) {
    // Where there are several, who is stopped before it is told may be told after the next one was: in what
    // order they were given is LeaseWatch's to see.
    const bool fell = !took_effect && !epochs_.empty() && epoch < *epochs_.rbegin();
    if (!epochs_.insert(epoch).second || fell)
        found_.report(Invariant::order,
                      fmt::format("the store gave epoch {} {}", epoch,
                                  fell ? fmt::format("after {}", *epochs_.rbegin()) : "twice"));
}

void StoreLedger::restored() {
    restored_ = true;
    epochs_.clear();
    objects_.clear();
    ended_.clear();
    ledger_.clear();
    in_doubt_.clear();
    acknowledged_ = 0;
}

void StoreLedger::restored(const std::vector<std::shared_ptr<const Changes>>& kept) {
    restored();
    restored_ = false;
    for (const auto& one : kept) apply(*one);
    if (!kept.empty()) acknowledged_ = kept.back()->number;
}

std::uint64_t StoreLedger::called(const Changes& changes) {
    in_doubt_.push_back({++calls, changes, object_to ? object_to(changes) : ""});
    look_for_secret(changes);
    if (on_call) on_call(changes);
    for (const EventRecord& event : changes.events)
        tell(fmt::format("commit {}: {} {} {}: {}", changes.number, event.kind, event.id, event.reason,
                         event.message));
    return calls;
}

void StoreLedger::look_for_secret(const Changes& changes) {
    if (secret.empty()) return;
    const auto look = [this](std::string_view where, std::initializer_list<std::string_view> texts) {
        for (const std::string_view text : texts)
            if (text.contains(secret))
                found_.report(Invariant::sealed, fmt::format("a secret stands in {}: {}", where, text));
    };
    for (const Object& object : changes.put)
        look(object.kind, {object.id, object.tenant, object.project, object.phase, object.body});
    for (const EventRecord& event : changes.events) look("an event", {event.id, event.reason, event.message});
    for (const LedgerLine& line : changes.ledger) look("the ledger", {line.claim, line.body});
    for (const AuditLine& line : changes.audit) look("the audit", {line.subject, line.before, line.after});
}

void StoreLedger::acknowledged(std::uint64_t call) {
    const auto at = std::ranges::find(in_doubt_, call, &Call::which);
    // It was read back before its answer came, or went with its primary.
    if (at != in_doubt_.end()) settle(at->changes.number);
}

// Commits take effect in order: those before one that is there are there too, answered or not.
void StoreLedger::settle(std::uint64_t number) {
    std::map<std::uint64_t, const Call*> there;
    for (const Call& one : in_doubt_)
        if (one.changes.number <= number &&
            (!took_effect || took_effect(one.changes.epoch, one.changes.number)))
            there[one.changes.number] = &one;
    for (const auto& [at, one] : there) {
        if (!one->objection.empty()) found_.report(Invariant::ended, one->objection);
        apply(one->changes);
    }
    std::erase_if(in_doubt_, [&](const Call& one) { return one.changes.number <= number; });
    acknowledged_ = std::max(acknowledged_, number);
}

void StoreLedger::refused(std::uint64_t call) {
    std::erase_if(in_doubt_, [&](const Call& one) { return one.which == call; });
}

void StoreLedger::apply(const Changes& changes) {
    std::vector<std::string> claims;
    for (const auto& [kind, id] : changes.erase) {
        objects_.erase({kind, id});
        if (kind == "claim") claims.push_back(id);
    }
    for (const Object& object : changes.put) {
        if (object.live)
            objects_[{object.kind, object.id}] = object.body;
        else
            objects_.erase({object.kind, object.id});
        if (object.kind == "claim") claims.push_back(object.id);
        if (object.kind == "instance" && !object.live) archive(object, changes);
    }
    for (const LedgerLine& line : changes.ledger) {
        line.use == "released" ? (void)ledger_.erase(line.claim) : (void)(ledger_[line.claim] = line.body);
        claims.push_back(line.claim);
    }
    for (const std::string& claim : claims) balance(claim);
}

// An instance leaves memory with its end told, and its name in the same commit.
void StoreLedger::archive(const Object& object, const Changes& changes) {
    const auto instance = master::decode_body<Instance>(object.body);
    if (!instance) return found_.report(Invariant::durable, instance.error().message);
    const std::string name = UsedName::id_of(instance->tenant, instance->caller_id);
    if (!is_final(instance->phase) || instance->reason.empty() || instance->message.empty())
        found_.report(Invariant::settled, fmt::format("instance {} has ended without a reason", object.id));
    if (!instance->name_passed_on && std::ranges::find(changes.put, name, &Object::id) == changes.put.end())
        found_.report(Invariant::durable,
                      fmt::format("instance {} has ended and its name is free", object.id));
    ended_.insert(name);
}

bool StoreLedger::has_ended(const std::string& tenant, const std::string& name) const {
    const std::string id = UsedName::id_of(tenant, name);
    return ended_.contains(id) || std::ranges::any_of(in_doubt_, [&](const Call& one) {
               return std::ranges::find(one.changes.put, id, &Object::id) != one.changes.put.end();
           });
}

// Of one claim: the ledger says the same as the object.
void StoreLedger::balance(const std::string& claim) {
    const auto held = objects_.find({"claim", claim});
    const auto line = ledger_.find(claim);
    const std::string is = held == objects_.end() ? "nothing" : held->second;
    const std::string says = line == ledger_.end() ? "nothing" : line->second;
    if (is != says)
        found_.report(Invariant::ledger,
                      fmt::format("claim {} is {}; by the ledger it is {}", claim, is, says));
}

void StoreLedger::loaded(const Snapshot& snapshot, std::uint64_t epoch) {
    if (!epochs_.empty() && epoch < *epochs_.rbegin()) return;  // Another has led since; this one will hear.
    if (std::exchange(restored_, false))
        for (const Object& object : snapshot.live) {
            objects_[{object.kind, object.id}] = object.body;
            if (object.kind == "claim") ledger_[object.id] = object.body;
        }
    if (snapshot.number < acknowledged_)
        found_.report(Invariant::durable, fmt::format("the store came back at commit {}; {} was acknowledged",
                                                      snapshot.number, acknowledged_));
    settle(snapshot.number);
    in_doubt_.clear();
    std::size_t same = 0;
    for (const Object& object : snapshot.live) {
        const auto at = objects_.find({object.kind, object.id});
        if (at == objects_.end() || at->second != object.body) {
            found_.report(Invariant::durable,
                          fmt::format("the store came back with {} {} as {}; it should be {}", object.kind,
                                      object.id, object.body, at == objects_.end() ? "gone" : at->second));
            return;
        }
        ++same;
    }
    if (same == objects_.size()) return;
    for (const auto& [key, body] : objects_)
        if (std::ranges::none_of(snapshot.live, [&](const Object& object) {
                return object.kind == key.first && object.id == key.second;
            }))
            found_.report(Invariant::durable,
                          fmt::format("the store came back without {} {}", key.first, key.second));
}

Task<Lease> WatchedStore::lead(Contender who, Duration length, std::uint64_t above) {
    auto lease = co_await store_.lead(std::move(who), length, above);
    if (lease) ledger_.led(epoch_ = lease->epoch);
    led_ = lease.has_value();
    co_return lease;
}

// Its place among the commits is that of the call, so the call is made here and now.
Task<> WatchedStore::commit(Changes changes) {
    const auto call = ledger_.called(changes);
    return wait_for(store_.commit(std::move(changes)), call);
}

Task<> WatchedStore::wait_for(Task<> commit, std::uint64_t call) {
    auto done = co_await std::move(commit);
    if (done)
        ledger_.acknowledged(call);
    else if (done.error().code == Code::conflict || done.error().code == Code::exhausted)
        ledger_.refused(call);
    co_return done;
}

Task<Snapshot> WatchedStore::load() {
    auto snapshot = co_await store_.load();
    if (snapshot) loaded(*snapshot);
    co_return snapshot;
}

Task<Snapshot> WatchedStore::load_since(StorePoint point) {
    auto snapshot = co_await store_.load_since(point);
    if (snapshot) loaded(*snapshot);
    co_return snapshot;
}

// A term that begins with a copy and what changed since begins with all that the store has.
void WatchedStore::loaded(const Snapshot& snapshot) {
    if (snapshot.whole) copy_.clear();
    for (const auto& key : snapshot.gone) copy_.erase(key);
    for (const Object& object : snapshot.live) {
        if (object.live)
            copy_.insert_or_assign({object.kind, object.id}, object);
        else
            copy_.erase({object.kind, object.id});
    }
    if (!std::exchange(led_, false)) return;
    Snapshot all{.number = snapshot.number};
    for (const auto& [key, object] : copy_) all.live.push_back(object);
    ledger_.loaded(all, epoch_);
}

}  // namespace hostler::simulation
