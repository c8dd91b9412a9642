#include "domain/health/book.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace hostler::health {

namespace {

constexpr Duration lasts = std::chrono::minutes{1};
constexpr std::int64_t burst_us = 5'000'000;
constexpr std::int64_t watched_us = std::int64_t{24} * 3600 * 1'000'000;
constexpr std::int64_t app_us = std::int64_t{3600} * 1'000'000;

std::int64_t micros(WallTime time) { return time.time_since_epoch().count(); }

bool holds(const GpuEvidence& evidence) { return evidence.health > GpuHealth::healthy; }

// What is past by itself: nothing was wrong with the GPU, and it is long ago.
bool is_past(const GpuEvidence& evidence, std::int64_t now) {
    if (holds(evidence)) return false;
    return now - evidence.last_at > (evidence.remedy == Remedy::watch ? watched_us : app_us);
}

bool worse(const GpuEvidence& a, const GpuEvidence& b) {
    return std::tie(a.health, a.remedy, a.last_at, a.kind, a.code) >
           std::tie(b.health, b.remedy, b.last_at, b.kind, b.code);
}

bool is_nvlink(const GpuFault& fault) {
    return fault.kind == "xid" && fault.code >= nvlink_xid_first && fault.code <= nvlink_xid_last;
}
bool has_numbers(const GpuFault& fault) { return fault.info != 0 || fault.status != 0; }

}  // namespace

void Book::note(const GpuFault& fault, const Moment& now) {
    if (fault.uuid.empty()) return;
    const Meaning means = meaning(fault);
    Entry& entry = gpus_[fault.uuid];
    if (is_nvlink(fault)) {
        if (!has_numbers(fault) && is_explained(entry, fault, now)) return settle(entry, now);
        if (has_numbers(fault)) explain(entry, fault, now);
    }
    if (fault.kind == "recovery_action")
        std::erase_if(entry.held, [](const GpuEvidence& one) { return one.kind == "recovery_action"; });
    if (means.severity == Severity::note) return settle(entry, now);
    GpuEvidence made{.kind = fault.kind, .code = fault.code};
    made.first_at = made.last_at = micros(now.wall);
    made.health = health_of(means.severity);
    made.remedy = means.remedy;
    made.sentence = means.sentence;
    if (holds(made)) {
        entry.fault_is_new = true;
        if (const auto until = std::exchange(entry.testing_until, std::nullopt))
            entry.ended = EndedTest{*until, made.last_at};
    }
    const auto same = std::ranges::find_if(entry.held, [&](const GpuEvidence& one) {
        return one.kind == made.kind && one.code == made.code && one.sentence == made.sentence;
    });
    if (same == entry.held.end()) {
        entry.held.push_back(std::move(made));
        std::ranges::sort(entry.held, worse);
        if (entry.held.size() > evidence_max) entry.held.resize(evidence_max);
    } else {
        // The driver's event and the kernel's line tell of one thing.
        if (made.last_at - same->last_at > burst_us) ++same->count;
        same->last_at = std::max(same->last_at, made.last_at);
    }
    settle(entry, now);
}

// An NVLink error comes twice: the driver's event has no numbers, the kernel's line has them. Whichever comes
// first, the numbers say what it means.
bool Book::is_explained(const Entry& entry, const GpuFault& fault, const Moment& now) {
    const auto explained = entry.explained.find(fault.code);
    return explained != entry.explained.end() && micros(now.wall) - explained->second <= burst_us;
}

// What was held without its numbers is taken back, and so is that it ended a test.
void Book::explain(Entry& entry, const GpuFault& fault, const Moment& now) {
    const std::int64_t at = micros(now.wall);
    entry.explained[fault.code] = at;
    GpuFault bare = fault;
    bare.info = bare.status = 0;
    const std::string vague = meaning(bare).sentence;
    const auto same = std::ranges::find_if(entry.held, [&](const GpuEvidence& one) {
        return one.kind == fault.kind && one.code == fault.code && one.sentence == vague &&
               at - one.last_at <= burst_us;
    });
    if (same == entry.held.end()) return;
    if (--same->count == 0) entry.held.erase(same);
    if (!entry.ended || at - entry.ended->at > burst_us) return;
    const EndedTest ended = *std::exchange(entry.ended, std::nullopt);
    const bool by_another = std::ranges::any_of(
        entry.held, [&](const GpuEvidence& one) { return holds(one) && one.last_at >= ended.at; });
    if (!by_another) entry.testing_until = ended.until;
}

void Book::note(const GpuSample& sample, const GpuFacts* facts, const Moment& now) {
    Entry& entry = gpus_[sample.uuid];
    const bool away = sample.condition == GpuCondition::lost || sample.condition == GpuCondition::gone;
    if (sample.condition != GpuCondition::ok) entry.fault_is_new = false;
    if (away) entry.away = true;
    judge(entry, sample, facts, now);
    if (sample.energy_mj && sample.energy_mj != entry.energy_mj) {
        if (sample.energy_mj < entry.energy_mj && !entry.fault_is_new) begin_test(entry, now);
        entry.energy_mj = sample.energy_mj;
        entry.fault_is_new = false;
    }
    if (sample.condition == GpuCondition::ok && std::exchange(entry.away, false) && !entry.fault_is_new)
        begin_test(entry, now);
    settle(entry, now);
}

void Book::note_unseen(const std::string& uuid, bool unseen, const Moment& now) {
    if (!unseen && !gpus_.contains(uuid)) return;
    Entry& entry = gpus_[uuid];
    show(entry, Condition::unseen_by_driver, unseen, now);
    settle(entry, now);
}

void Book::test(const std::string& uuid, const Moment& now) {
    const auto found = gpus_.find(uuid);
    if (found == gpus_.end()) return;
    begin_test(found->second, now);
    settle(found->second, now);
}

std::vector<std::string> Book::due(const Moment& now) const {
    std::vector<std::string> all;
    for (const auto& [uuid, entry] : gpus_)
        if (bench_ && entry.testing_until && now.at >= *entry.testing_until) all.push_back(uuid);
    return all;
}

void Book::note(const std::string& uuid, const Retest& retest, const Moment& now) {
    const auto found = gpus_.find(uuid);
    if (found == gpus_.end()) return;
    Entry& entry = found->second;
    if (!entry.testing_until || now.at < *entry.testing_until) return;
    std::erase_if(entry.held, [](const GpuEvidence& one) { return one.kind == retest_kind; });
    GpuEvidence made{.kind = std::string{retest_kind}};
    made.first_at = made.last_at = micros(now.wall);
    made.sentence = retest.sentence;
    made.remedy = Remedy::watch;
    if (retest.outcome == Retest::Outcome::failed) {
        made.health = GpuHealth::faulty;
        made.remedy = retest.remedy;
        // From here on it takes a reset, whatever it was before.
        if (entry.left) entry.held.push_back(*std::exchange(entry.left, std::nullopt));
        entry.testing_until.reset();
    } else {
        take_back(entry);
    }
    entry.held.push_back(std::move(made));
    std::ranges::sort(entry.held, worse);
    if (entry.held.size() > evidence_max) entry.held.resize(evidence_max);
    settle(entry, now);
}

void Book::take_back(Entry& entry) {
    entry.testing_until.reset();
    entry.left.reset();
    std::erase_if(entry.held, holds);
}

void Book::begin_test(Entry& entry, const Moment& now) {
    entry.ended.reset();
    entry.ecc_uncorrected.reset();
    entry.rates.clear();
    entry.shown.erase(Condition::ecc_uncorrected);
    if (std::ranges::none_of(entry.held, holds) && !entry.left) return;
    entry.testing_until = now.at + test_;
    entry.testing_until_wall = now.wall + std::chrono::duration_cast<std::chrono::microseconds>(test_);
}

void Book::judge(Entry& entry, const GpuSample& sample, const GpuFacts* facts, const Moment& now) {
    const auto set = [](const Metric& metric) { return metric.value_or(0) > 0; };
    const auto is = [&](GpuCondition condition) { return sample.condition == condition; };
    show(entry, Condition::unresponsive, is(GpuCondition::unresponsive), now, sample.reason);
    show(entry, Condition::lost, is(GpuCondition::lost), now, sample.reason);
    show(entry, Condition::gone, is(GpuCondition::gone), now, sample.reason);
    if (sample.condition != GpuCondition::ok) return;  // The rest is not known; what was seen holds.
    show(entry, Condition::rows_failed, set(sample.rows_failed), now);
    show(entry, Condition::rows_exhausted, sample.rows_remapped_uncorrected.value_or(0) >= rows_remapped_max,
         now);
    // How many pages others' boards may retire is not known.
    show(entry, Condition::pages_exhausted,
         facts && facts->vendor == GpuVendor::nvidia && sample.pages_retired.value_or(0) >= pages_retired_max,
         now);
    show(entry, Condition::rows_pending, set(sample.rows_pending), now);
    show(entry, Condition::pages_pending, set(sample.pages_pending), now);
    show(entry, Condition::recovery_action, set(sample.recovery_action), now, {},
         sample.recovery_action.value_or(0));
    if (sample.ecc_uncorrected) {
        if (entry.ecc_uncorrected && *sample.ecc_uncorrected > *entry.ecc_uncorrected)
            show(entry, Condition::ecc_uncorrected, true, now);
        entry.ecc_uncorrected = sample.ecc_uncorrected;
    }
    const auto& heat = sample.temperature_celsius;
    const auto over = [&](const Metric& limit) -> std::optional<bool> {
        if (!heat || !limit || *limit <= 0) return std::nullopt;
        return *heat >= *limit;
    };
    show(entry, Condition::overheated, over(sample.temperature_shutdown_celsius).value_or(false), now);
    show_lasting(entry, Condition::hot, over(sample.temperature_slowdown_celsius), now);
    if (sample.throttle_reasons)
        show_lasting(entry, Condition::thermal_slowdown,
                     (*sample.throttle_reasons & throttle_thermal_hardware) != 0, now);
    judge_links(entry, sample, facts, now);
}

void Book::judge_links(Entry& entry, const GpuSample& sample, const GpuFacts* facts, const Moment& now) {
    // An idle link may rest: only a busy GPU says how it is.
    if (facts && sample.utilisation_percent.value_or(0) >= busy_percent) {
        const auto below = [](const Metric& is, int best) { return is && *is > 0 && best > 0 && *is < best; };
        if (sample.pcie_width || sample.pcie_generation)
            show_lasting(entry, Condition::pcie_link,
                         below(sample.pcie_width, facts->pcie_width_max) ||
                             below(sample.pcie_generation, facts->pcie_generation_max),
                         now);
    } else if (Lasting& link = entry.lasting[Condition::pcie_link]; !link.on) {
        link.since.reset();
    }
    show_rate(entry, Condition::pcie_replays, sample.pcie_replays, pcie_replays_per_minute, now);
    show_rate(entry, Condition::nvlink_errors, sample.nvlink_errors, nvlink_errors_per_minute, now);
    if (sample.nvlinks_active) {
        entry.nvlinks_max = std::max(entry.nvlinks_max, *sample.nvlinks_active);
        show_lasting(entry, Condition::nvlinks_down, *sample.nvlinks_active < entry.nvlinks_max, now);
    }
}

void Book::show(Entry& entry, Condition condition, bool is, const Moment& now, std::string said,
                std::int64_t code) {
    const auto found = entry.shown.find(condition);
    if (!is) {
        if (found == entry.shown.end()) return;
        // As bad as a fault: silence alone does not heal it.
        const GpuEvidence& past = found->second;
        if (past.health == GpuHealth::faulty || past.health == GpuHealth::gone)
            if (!entry.left || worse(past, *entry.left)) entry.left = past;
        entry.shown.erase(found);
        return;
    }
    const ConditionRow& row = row_of(condition);
    GpuEvidence made{.kind = boost::describe::enum_to_string(condition, ""), .code = code};
    made.first_at = found == entry.shown.end() ? micros(now.wall) : found->second.first_at;
    made.last_at = found == entry.shown.end() ? made.first_at : found->second.last_at;
    made.health = row.health;
    made.remedy = row.remedy;
    made.sentence = said.empty() ? std::string{row.what} : std::move(said);
    if (condition == Condition::recovery_action) {
        const Meaning asked = recovery_meaning(code);
        made.health = health_of(asked.severity);
        made.remedy = asked.remedy;
        made.sentence = asked.sentence;
    }
    entry.shown.insert_or_assign(condition, std::move(made));
}

void Book::show_lasting(Entry& entry, Condition condition, std::optional<bool> is, const Moment& now) {
    if (!is) return;
    Lasting& lasting = entry.lasting[condition];
    if (*is == lasting.on) {
        lasting.since.reset();
    } else if (!lasting.since) {
        lasting.since = now.at;
    } else if (now.at - *lasting.since >= lasts) {
        lasting.on = *is;
        lasting.since.reset();
    }
    show(entry, condition, lasting.on, now);
}

void Book::show_rate(Entry& entry, Condition condition, const Metric& counter, std::int64_t per_minute,
                     const Moment& now) {
    if (!counter) return;
    Rate& rate = entry.rates[condition];
    if (!rate.value || *counter < *rate.value) {
        rate = {.value = *counter, .since = now.at, .high = false};
    } else if (const auto passed = now.at - rate.since; passed >= lasts) {
        const auto seconds =
            std::max<std::int64_t>(1, std::chrono::duration_cast<std::chrono::seconds>(passed).count());
        rate = {.value = *counter,
                .since = now.at,
                .high = (*counter - *rate.value) * 60 >= per_minute * seconds};
    }
    show(entry, condition, rate.high, now);
}

// After every change: what is past goes, a test may begin or end, and the health may be another.
void Book::settle(Entry& entry, const Moment& now) {
    const auto bad = [](const auto& row) { return row.second.health >= GpuHealth::faulty; };
    std::erase_if(entry.held, [&](const GpuEvidence& one) { return is_past(one, micros(now.wall)); });
    if (std::ranges::any_of(entry.shown, bad))
        entry.testing_until.reset();
    else if (entry.left && !entry.testing_until)
        begin_test(entry, now);
    if (!bench_ && entry.testing_until && now.at >= *entry.testing_until) take_back(entry);
    if (const GpuHealth health = state_of(entry).health; health != entry.before || entry.since == 0) {
        entry.before = health;
        entry.since = micros(now.wall);
    }
}

GpuState Book::state_of(const Entry& entry) {
    GpuState state;
    for (const auto& [condition, one] : entry.shown) state.evidence.push_back(one);
    if (entry.left && std::ranges::none_of(state.evidence, [&](const GpuEvidence& one) {
            return one.kind == entry.left->kind;
        }))
        state.evidence.push_back(*entry.left);
    std::ranges::copy(entry.held, std::back_inserter(state.evidence));
    std::ranges::sort(state.evidence, worse);
    if (state.evidence.size() > evidence_max) state.evidence.resize(evidence_max);
    if (!state.evidence.empty()) {
        const GpuEvidence& worst = state.evidence.front();
        state.health = worst.health;
        state.remedy = worst.remedy;
        state.reason = worst.sentence;
        if (entry.testing_until && worst.health > GpuHealth::healthy) {
            // Gone and unresponsive is only what is so now.
            state.health = std::min(state.health, GpuHealth::faulty);
            state.remedy = Remedy::none;
            state.testing_until = micros(entry.testing_until_wall);
            state.reason = "it was reset and is being tested, after: " + worst.sentence;
        }
    }
    state.since = entry.since;
    return state;
}

GpuState Book::of(const std::string& uuid) const {
    const auto found = gpus_.find(uuid);
    return found == gpus_.end() ? GpuState{} : state_of(found->second);
}

std::optional<Memory> Book::memory(const std::string& uuid, const std::string& boot_id) const {
    const auto found = gpus_.find(uuid);
    if (found == gpus_.end()) return std::nullopt;
    const Entry& entry = found->second;
    if (std::ranges::none_of(entry.held, holds) && !entry.left &&
        std::ranges::none_of(entry.shown,
                             [](const auto& row) { return row.second.health >= GpuHealth::faulty; }))
        return std::nullopt;
    Memory made{.boot_id = boot_id, .energy_mj = entry.energy_mj, .state = state_of(entry)};
    std::erase_if(made.state.evidence, [](const GpuEvidence& one) { return !holds(one); });
    return made;
}

void Book::recall(const std::string& uuid, const Memory& memory, const std::string& boot_id,
                  const Moment& now) {
    Entry& entry = gpus_[uuid];
    // What samples showed they show again, if it still is so; if not, the GPU is tested.
    constexpr std::string_view told[] = {"xid",        "sxid", "recovery_action", "lost", "ecc_uncorrected",
                                         "unavailable"};
    const bool failed = std::ranges::count(memory.state.evidence, retest_kind, &GpuEvidence::kind) > 0;
    for (const GpuEvidence& one : memory.state.evidence)
        if (failed || std::ranges::count(told, one.kind) > 0)
            entry.held.push_back(one);
        else if (one.health >= GpuHealth::faulty && (!entry.left || worse(one, *entry.left)))
            entry.left = one;
    entry.energy_mj = memory.energy_mj;
    entry.since = memory.state.since;
    entry.before = memory.state.health;
    if (memory.boot_id != boot_id || memory.state.testing_until != 0) begin_test(entry, now);
    settle(entry, now);
}

}  // namespace hostler::health
