#include "roles/master/sealing/sealing.h"

#include <fmt/format.h>

#include "core/log.h"
#include "roles/master/leader/term.h"
#include "roles/master/sealing/count.h"
#include "roles/master/sealing/keys.h"
#include "roles/master/sealing/metrics.h"
#include "roles/master/state/sealed_fields.h"

namespace hostler::master {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

#define PART(type)
#define KIND(type, rows, ...) \
    [[maybe_unused]] Table<type>& table(Estate& estate, const type*) { return estate.rows; }
#include "roles/master/kinds.def"
#undef KIND
#undef PART

// One look at all that has secrets.
struct Look {
    Desk& desk;
    std::string current{};
    std::map<std::string, std::uint64_t> values{};  // As they were found; "": by no key.
    bool again = false;                             // Not all was as it should be.

    // Of one object, as the store has it.
    template <HasSecrets T>
    Result<> at(const Object& object) {
        bool beyond = false, stale = false;
        T row = TRY(decode_body<T>(object.body, &beyond));
        TRY(each_secret(row, [&](std::string_view, std::string& text) -> Result<> {
            const auto sealed = parse_sealed(text);
            const std::string key{sealed ? sealed->key : ""};
            const bool known = desk.estate.sealing_keys.find(key) != nullptr;
            if (known || !text.empty()) ++values[known ? key : ""];
            stale |= !text.empty() && (!known || key != current || !object.live);
            text.clear();
            return {};
        }));
        if (!stale) return {};
        again = true;
        auto& rows = table(desk.estate, static_cast<const T*>(nullptr));
        if (object.live && rows.find(object.id)) rows.edit(object.id);
        if (object.live) return {};
        Object bare = object;
        bare.body = beyond ? encode_body_onto(row, object.body) : encode_body(row);
        desk.estate.put_again(std::move(bare));
        return {};
    }
};

template <HasSecrets T>
Task<> look_at(Term& term, Look& look) {
    ListQuery query{.kind = std::string{Kind<T>::name}, .limit = reseal_batch};
    while (true) {
        const auto page = co_await term.ports().store.list(query);
        CO_TRY(co_await check_cancelled());
        if (!page) co_return std::unexpected(page.error());
        term.desk("master");
        for (const Object& object : page->objects) {
            if (const auto seen = look.at<T>(object); !seen)
                co_return fail(Code::internal,
                               fmt::format("{} {}: {}", object.kind, object.id, seen.error().message));
            query.after_created = object.created;
            query.after_id = object.id;
        }
        query.at = page->at;
        CO_TRY(co_await term.commit());
        if (!page->more) co_return Result<>{};
    }
}

// A key is forgotten by what is found here: no kind may be left out.
template <class T>
Task<> look_at_kind(Term& term, Look& look) {
    if constexpr (HasSecrets<T>) CO_TRY(co_await look_at<T>(term, look));
    co_return Result<>{};
}

Task<> look_at_all(Term& term) {
    SealingCount& count = term.desk("master").live.part<SealingCount>();
    const std::uint64_t asked = count.asked;
    CO_TRY(co_await term.commit());  // What was sealed by another key before is there now.
    Look look{term.desk("master")};
    for (const auto& [id, key] : look.desk.estate.sealing_keys.all())
        if (key.phase == SealingPhase::current) look.current = id;
#define PART(type)
#define KIND(type, ...) CO_TRY(co_await look_at_kind<type>(term, look));
#include "roles/master/kinds.def"
#undef KIND
#undef PART
    count.values = std::move(look.values);
    count.at = term.ports().timers.wall().time_since_epoch().count();
    count.trouble.clear();
    if (!look.again) count.counted = asked;
    co_return Result<>{};
}

// By level, once the store calls them so.
Task<> forget_keys(Term& term) {
    std::vector<std::string> gone;
    for (const std::string& id : term.ports().sealer.keys())
        if (const SealingKey* key = term.look().estate.sealing_keys.find(id);
            key && key->phase == SealingPhase::forgotten)
            gone.push_back(id);
    if (gone.empty()) co_return Result<>{};
    CO_TRY(co_await term.commit());
    for (const std::string& id : gone)
        if (const auto done = term.ports().sealer.forget(id); !done)
            log_error("master: the sealing key {} is not taken out of the ring yet: {}", id,
                      done.error().message);
    co_return Result<>{};
}

Task<> keep_sealed(Term& term) {
    Timers& timers = term.ports().timers;
    Instant next = timers.now();
    while (!term.ended()) {
        SealingCount& count = term.desk("master").live.part<SealingCount>();
        if (!count.whole() && count.trouble.empty()) next = timers.now();
        if (timers.now() >= next) {
            const auto looked = co_await look_at_all(term);
            CO_TRY(co_await check_cancelled());
            if (!looked && !term.ended())
                log_warn("master: not all secrets in the store are sealed by the current key yet: {}",
                         count.trouble = looked.error().message);
            next = timers.now() + (looked ? reseal_pause : Duration{minutes{1}});
        }
        CO_TRY(co_await forget_keys(term));
        CO_TRY(co_await sleep(timers, seconds{1}));
    }
    co_return Result<>{};
}

}  // namespace

void write_sealing_metrics(MetricsPage& page, const Desk& desk, const Sealer& sealer) {
    using enum MetricsPage::Type;
    const SealingCount& count = desk.live.part<SealingCount>();
    std::map<std::string, std::uint64_t> values = count.values;
    std::uint64_t not_current = values[""];
    page.begin("hostler_master_secrets",
               "Secrets in the store at the last whole look, by the key that seals them.", gauge);
    page.value({{"key", ""}, {"state", "clear"}}, values[""]);
    for (const auto& [id, key] : desk.estate.sealing_keys.all()) {
        if (key.phase == SealingPhase::forgotten) continue;
        page.value({{"key", id}, {"state", text_of(key.phase)}}, values[id]);
        if (key.phase != SealingPhase::current) not_current += values[id];
    }
    page.add("hostler_master_secrets_not_current",
             "Secrets that the current key does not seal: they are sealed again.", gauge, not_current);
    page.add("hostler_master_sealing_whole",
             "1: a whole look since the current key became that has found nothing else.", gauge,
             int{count.whole()});
    page.add("hostler_master_sealing_failing", "1: the last look at the store did not get through.", gauge,
             int{!count.trouble.empty()});
    page.add("hostler_master_sealing_counted_timestamp_seconds", "When the last whole look ended; 0: never.",
             gauge, count.at / 1'000'000);
    page.add_bounded("hostler_master_sealing_keys", "Keys in the ring.", sealer.keys().size(),
                     Sealer::keys_max);
}

void start_sealing(Term& term) { term.tasks().start("sealing", keep_sealed(term)); }

Task<> warn_of_missing_keys(Ports ports, const Lead& lead) {
    std::string told;
    while (true) {
        CO_TRY(co_await sleep(ports.timers, seconds{15}));
        if (!lead.other) continue;
        const auto page = co_await ports.store.list({.kind = std::string{Kind<SealingKey>::name}});
        CO_TRY(co_await check_cancelled());
        if (!page || !ports.sealer.read()) continue;
        const std::string absent = missing_sealing_keys(page->objects, ports.sealer);
        if (std::exchange(told, absent) == absent || absent.empty()) continue;
        log_error("master: it could not lead: the store has secrets sealed by {}", missing_key_words(absent));
    }
}

}  // namespace hostler::master
