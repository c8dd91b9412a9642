#include "roles/master/sealing/keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/counted.h"
#include "roles/master/sealing/count.h"
#include "roles/master/state/sealed_fields.h"

namespace hostler::master {

namespace {

const SealingKey* in_phase(const Estate& estate, SealingPhase phase) {
    for (const auto& [id, key] : estate.sealing_keys.all())
        if (key.phase == phase) return &key;
    return nullptr;
}

// What the store calls it from here on.
void set(Desk& desk, const std::string& id, SealingPhase phase) {
    auto& keys = desk.estate.sealing_keys;
    if (!keys.find(id)) keys.add({.id = id});
    SealingKey& key = keys.edit(id);
    key.phase = phase;
    key.since = desk.estate.micros();
    desk.estate.event("sealing_key", id, "", text_of(phase),
                      fmt::format("Sealing key {}: {}.", id, text_of(phase)));
}

bool is_here(const Sealer& sealer, const std::string& id) {
    return std::ranges::count(sealer.keys(), id) > 0;
}

std::string missing(const std::vector<Object>& objects, const Sealer& sealer,
                    std::initializer_list<SealingPhase> needed) {
    std::string all;
    for (const Object& object : objects) {
        if (object.kind != Kind<SealingKey>::name) continue;
        const auto key = decode_body<SealingKey>(object.body);
        if (key && std::ranges::count(needed, key->phase) > 0 && !is_here(sealer, object.id))
            all += (all.empty() ? "" : ", ") + object.id;
    }
    return all;
}

}  // namespace

Result<> find_sealing_keys(const std::vector<Object>& objects, Sealer& sealer) {
    TRY(sealer.read());
    const std::string absent = missing(objects, sealer, {SealingPhase::current, SealingPhase::former});
    if (absent.empty()) return {};
    return fail(Code::conflict, "the store has secrets sealed by " + missing_key_words(absent),
                "sealing_key_missing");
}

std::string missing_sealing_keys(const std::vector<Object>& objects, const Sealer& sealer) {
    return missing(objects, sealer, {SealingPhase::next, SealingPhase::current, SealingPhase::former});
}

Result<> agree_on_sealing(Desk& desk, Sealer& sealer) {
    if (in_phase(desk.estate, SealingPhase::current)) return {};
    const auto keys = sealer.keys();
    set(desk, keys.empty() ? TRY(sealer.make()) : keys.back(), SealingPhase::current);
    return {};
}

Result<> begin_sealing_rotation(Desk& desk, Sealer& sealer) {
    if (!in_phase(desk.estate, SealingPhase::next)) set(desk, TRY(sealer.make()), SealingPhase::next);
    return {};
}

Result<> finish_sealing_rotation(Desk& desk, Sealer& sealer) {
    const SealingKey* next = in_phase(desk.estate, SealingPhase::next);
    if (!next && in_phase(desk.estate, SealingPhase::former)) return {};
    if (!next) return fail(Code::conflict, "no rotation has begun", "rotation_not_begun");
    TRY(sealer.read());
    if (!is_here(sealer, next->id))
        return fail(Code::conflict,
                    fmt::format("this master does not have the key {}: have it here by `hostler seal import`",
                                next->id),
                    "sealing_key_missing");
    const std::string follower = next->id;
    const SealingKey* current = in_phase(desk.estate, SealingPhase::current);
    HOSTLER_ASSERT(current);
    set(desk, std::string{current->id}, SealingPhase::former);
    set(desk, follower, SealingPhase::current);
    ++desk.live.part<SealingCount>().asked;
    return {};
}

Result<> forget_sealing_key(Desk& desk, const std::string& id) {
    const SealingKey* key = desk.estate.sealing_keys.find(id);
    if (!key)
        return fail(Code::not_found, fmt::format("there is no sealing key {}", id), "sealing_key_not_found");
    const auto in_use = [&id](std::string_view why) {
        return fail(Code::conflict, fmt::format("sealing key {} cannot be forgotten: {}", id, why),
                    "sealing_key_in_use");
    };
    switch (key->phase) {
        case SealingPhase::forgotten: return {};
        case SealingPhase::current: return in_use("it seals whatever is written");
        case SealingPhase::next: break;
        case SealingPhase::former: {
            const SealingCount& count = desk.live.part<SealingCount>();
            if (!count.whole() && !count.trouble.empty())
                return in_use("its secrets could not be counted: " + count.trouble);
            if (!count.whole())
                return in_use("its secrets are being sealed with the new key; ask again in a moment");
            const auto left = count.values.find(id);
            if (left != count.values.end() && left->second > 0)
                return in_use(fmt::format("it seals {}", counted(left->second, "secret")));
        }
    }
    set(desk, id, SealingPhase::forgotten);
    return {};
}

}  // namespace hostler::master
