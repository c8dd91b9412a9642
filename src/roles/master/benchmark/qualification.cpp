#include "roles/master/benchmark/qualification.h"

#include <fmt/format.h>

#include <algorithm>

#include "roles/master/benchmark/network_speed.h"
#include "roles/master/scheduler/capacity.h"

namespace hostler::master {

namespace {

constexpr std::int64_t minute_us = 60'000'000;
constexpr std::int64_t failed_rest_us = 10 * minute_us;

bool joined_before(const Host& one, const Host& other) {
    return std::pair{one.joined_at, one.id} < std::pair{other.joined_at, other.id};
}

// GPUs without an id of their own are named by their place, which each host has.
bool has_own_uuid(const GpuFacts& gpu) { return !gpu.uuid.starts_with("pci-"); }

bool is_gone(const Host& host, const GpuFacts& gpu) {
    const auto state = host.gpu_states.find(gpu.uuid);
    return state != host.gpu_states.end() && state->second.health == GpuHealth::gone;
}

// What no other host is to say of its GPUs.
std::set<std::string> marks_of(const Host& host) {
    constexpr std::size_t serial_min = 6;  // Shorter ones stand for none.
    std::set<std::string> marks;
    if (host.phase == HostPhase::retired) return marks;
    for (const GpuFacts& gpu : host.facts.gpus) {
        if (is_gone(host, gpu)) continue;
        if (has_own_uuid(gpu)) marks.insert(gpu.uuid);
        if (gpu.serial.size() >= serial_min)
            marks.insert(fmt::format("{} {} {}", text_of(gpu.vendor), gpu.model, gpu.serial));
    }
    return marks;
}

struct Unjudged {
    static constexpr bool follows_estate = true;
    Follower<Host> described;
    std::set<std::string> ids;
};

// Who has one in common with it is judged anew.
void note_marks(Desk& desk, const std::string& id, std::set<std::string> now) {
    Live& live = desk.live;
    std::set<std::string>& known = live.hosts[id].gpu_marks;
    if (known == now) return;
    const auto judge_others = [&](const std::set<std::string>& there) {
        for (const std::string& other : there)
            if (other != id) live.hosts[other].judged = false, live.part<Unjudged>().ids.insert(other);
    };
    for (const std::string& mark : known) {
        auto& there = live.gpu_marks[mark];
        there.erase(id);
        judge_others(there);
        if (there.empty()) live.gpu_marks.erase(mark);
    }
    for (const std::string& mark : now) {
        auto& there = live.gpu_marks[mark];
        there.insert(id);
        judge_others(there);
    }
    known = std::move(now);
}

// Of two hosts that say that they have the same GPU the one that joined later is not believed.
std::string twin_of(const Desk& desk, const Host& host) {
    for (const std::string& mark : desk.live.hosts.at(host.id).gpu_marks)
        for (const std::string& other : desk.live.gpu_marks.at(mark))
            if (other != host.id && joined_before(desk.estate.hosts.at(other), host))
                return fmt::format("Host {}, which joined before, says too that it has GPU {}.", other, mark);
    return {};
}

// None of its GPUs is held by what runs, or may.
bool is_unused(const Desk& desk, const std::string& id) {
    const auto& hosts = room(desk).hosts();
    const auto there = hosts.find(id);
    return there == hosts.end() || std::ranges::none_of(there->second.claims, [&](const std::string& claim) {
               const Claim& held = desk.estate.claims.at(claim);
               return held.use != ClaimUse::stock && !held.gpus.empty();
           });
}

bool can_be_asked(const Desk& desk, const Host& host, const HostLive& live) {
    return host.phase == HostPhase::ready && host.quarantined.empty() && live.connected && live.greeted &&
           live.complete && live.measure_rest_until <= desk.estate.micros();
}

bool proving_due(const Desk& desk, const Host& host) {
    return desk.settings.challenge.every.count() > 0 && host.facts.measures &&
           host.facts.unmeasurable.empty() && host.admission.prove_next <= desk.estate.micros() &&
           std::ranges::any_of(host.facts.gpus,
                               [&](const GpuFacts& gpu) { return can_prove(host.admission, gpu); });
}

// Nobody is to know when.
std::int64_t between(Desk& desk, std::int64_t least_us, std::int64_t most_us) {
    return desk.estate.micros() + least_us +
           static_cast<std::int64_t>(random_number(desk.random) %
                                     static_cast<std::uint64_t>(most_us - least_us + 1));
}

std::int64_t next_proof(Desk& desk) {
    const std::int64_t every = std::chrono::microseconds{desk.settings.challenge.every}.count();
    return between(desk, every / 2, every + every / 2);
}

void ask(Desk& desk, const std::string& id, Verb verb) {
    Host& host = desk.estate.hosts.edit(id);
    command(desk, id, verb, id, ++host.admission.asked);
}

void judge_some(Desk& desk) {
    constexpr int judged_max = 200;  // In a second.
    auto& unjudged = desk.live.part<Unjudged>().ids;
    unjudged.merge(desk.live.part<Unjudged>().described.changed(desk.estate.hosts));
    std::erase_if(unjudged, [&](const std::string& id) {
        const Host* host = desk.estate.hosts.find(id);
        return !host || host->phase == HostPhase::retired || host->phase == HostPhase::joining ||
               desk.live.hosts[id].judged;
    });
    std::vector<std::string> ids;
    for (const std::string& id : unjudged) {
        if (ids.size() == judged_max) break;
        ids.push_back(id);
    }
    for (const std::string& id : ids) judge_host(desk, id);
}

// What an answer that was wrong, late or did not come makes of a host.
void note_doubt(Desk& desk, Host& host, bool wrong, std::vector<std::string> sentences) {
    HostAdmission& known = host.admission;
    ++known.proofs_failed;
    known.prove_next = between(desk, failed_rest_us, 2 * failed_rest_us);
    desk.estate.event("host", host.id, "", "proof_failed", sentences.front());
    if (wrong || known.proofs_failed >= desk.settings.challenge.failures_max)
        known.unproven = std::move(sentences);
    judge_host(desk, host.id);
}

}  // namespace

void judge_host(Desk& desk, const std::string& id) {
    const Host& host = desk.estate.hosts.at(id);
    if (!std::exchange(desk.live.gpu_marks_known, true))
        for (const auto& [other, row] : desk.estate.hosts.all()) note_marks(desk, other, marks_of(row));
    note_marks(desk, id, marks_of(host));
    desk.live.hosts[id].judged = true;
    if (host.phase == HostPhase::retired) return;
    Admitted judged = judge_admission(host.facts, host.admission, desk.settings.host_admission,
                                      trust_of(host) == Trust::trusted, twin_of(desk, host));
    const hostler::Admission before = host.admission.state;
    if (before == judged.state && host.admission.reasons == judged.reasons) return;
    HostAdmission& known = desk.estate.hosts.edit(id).admission;
    known.state = judged.state;
    known.reasons = std::move(judged.reasons);
    if (before == judged.state) return;
    desk.estate.event("host", id, "", text_of(known.state),
                      known.reasons.empty() ? "It has passed its admission test." : known.reasons.front());
}

void forget_gpus(Desk& desk, const std::string& id) { note_marks(desk, id, {}); }

Result<> ask_measuring(Desk& desk, const std::string& id) {
    if (!desk.estate.hosts.at(id).facts.measures)
        return fail(Code::conflict, fmt::format("the agent of host {} measures nothing: upgrade it", id),
                    "cannot_measure");
    HostAdmission& known = desk.estate.hosts.edit(id).admission;
    known.wanted = true;
    known.let_in.clear();
    known.unproven.clear();
    known.proofs_failed = 0;
    desk.live.hosts[id].measure_rest_until = 0;
    want_speeds(desk, id);
    judge_host(desk, id);
    return {};
}

void admit_host(Desk& desk, const std::string& id) {
    Host& host = desk.estate.hosts.edit(id);
    host.admission.let_in.clear();
    for (const GpuFacts& gpu : host.facts.gpus) host.admission.let_in.push_back(gpu.uuid);
    desk.estate.event("host", id, "", "let_in", "An operator lets it sell, whatever was measured.");
    judge_host(desk, id);
}

static std::map<std::string, const Host*> due_hosts(const Desk& desk, bool challenges) {
    const auto& by = desk.estate.hosts.by();
    std::map<std::string, const Host*> due;
    for (const Host* host : by.work.of(HostWork::measure)) due.emplace(host->id, host);
    if (challenges)
        for (const Host* host : by.prove_at.up_to(desk.estate.micros())) due.emplace(host->id, host);
    return due;
}

void watch_measuring(Desk& desk, bool challenges) {
    judge_some(desk);
    std::set<std::string> busy;
    std::size_t measuring = 0, proving = 0;
    for (const Verb verb : {Verb::measure_host, Verb::prove_gpus})
        for (const HostCommand* command : desk.estate.commands.by().verb.of(verb)) {
            ++(verb == Verb::measure_host ? measuring : proving);
            busy.insert(command->host);
        }
    std::vector<std::pair<std::string, Verb>> due;
    for (const auto& [id, row] : due_hosts(desk, challenges)) {
        const Host& host = *row;
        const auto live = desk.live.hosts.find(id);
        if (live == desk.live.hosts.end() || busy.contains(id) || !can_be_asked(desk, host, live->second))
            continue;
        const bool measure = measuring_due(host.facts, host.admission);
        if (!measure && (!challenges || !proving_due(desk, host))) continue;
        std::size_t& at_once = measure ? measuring : proving;
        if (at_once >= (measure ? desk.settings.measured_at_once_max : desk.settings.proving_at_once_max) ||
            !is_unused(desk, id))
            continue;
        ++at_once;
        due.emplace_back(id, measure ? Verb::measure_host : Verb::prove_gpus);
    }
    for (const auto& [id, verb] : due) ask(desk, id, verb);
}

void note_measured(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    const Host* host = desk.estate.hosts.find(command.host);
    if (!host || host->phase == HostPhase::retired) return;
    if (refused_unread(answer)) return;
    HostAdmission& known = desk.estate.hosts.edit(command.host).admission;
    HostLive& live = desk.live.hosts[command.host];
    if (!answer.done || !answer.measured) {
        known.failure = answer.done ? "its agent gave no figures" : answer.message;
        // One that is in use may be free in a minute; what else fails is likely to fail again.
        live.measure_failures = answer.reason == "in_use" ? 0 : std::min(live.measure_failures + 1, 5);
        live.measure_rest_until =
            desk.estate.micros() + std::min((minute_us << live.measure_failures) / 2, failed_rest_us);
        return judge_host(desk, command.host);
    }
    known.failure.clear();
    live.measure_failures = 0;
    known.wanted = false;
    known.measured_at = desk.estate.micros();
    known.driver_version = host->facts.driver_version;
    known.disk = answer.measured->disk;
    known.gpus.clear();
    if (host->facts.unmeasurable.empty()) known.gpus = rate_host(host->facts, *answer.measured);
    known.prove_next = between(desk, minute_us, 10 * minute_us);
    judge_host(desk, command.host);
}

GpuChallenge challenge_of(const Desk& desk, const std::string& command) {
    std::uint32_t seed = 0;
    for (const char c : command) seed = mixed(seed ^ static_cast<unsigned char>(c));
    const ChallengeLimits& limits = desk.settings.challenge;
    return {.seed = seed, .rounds = limits.rounds, .steps = limits.steps, .walkers = limits.walkers};
}

std::optional<std::uint32_t> path_for(Desk& desk, const std::string& host, const std::string& id,
                                      Instant now) {
    const HostCommand* command = desk.estate.commands.find(id);
    if (!command || command->host != host || command->verb != Verb::prove_gpus) return std::nullopt;
    auto& under_way = desk.live.hosts[host].challenge;
    // Who is told again would have had more time.
    if (under_way && under_way->command == id) return std::nullopt;
    under_way = HostChallenge{.command = id, .challenge = challenge_of(desk, id), .told = now};
    under_way->challenge.path_seed = static_cast<std::uint32_t>(random_number(desk.random));
    return under_way->challenge.path_seed;
}

std::optional<ProofCheck> note_walked(Desk& desk, const std::string& id, const std::string& command,
                                      std::vector<GpuProof> proofs, Instant now) {
    const Host* host = desk.estate.hosts.find(id);
    auto& under_way = desk.live.hosts[id].challenge;
    if (!host || !under_way || under_way->command != command || std::exchange(under_way->walked, true))
        return std::nullopt;
    ProofCheck check{
        .challenge = under_way->challenge, .proofs = std::move(proofs), .took = now - under_way->told};
    for (const GpuFacts& gpu : host->facts.gpus)
        if (can_prove(host->admission, gpu) && !is_gone(*host, gpu)) check.gpus.push_back(gpu);
    check.asked.push_back(static_cast<std::uint32_t>(random_number(desk.random) % check.challenge.walkers));
    return check;
}

void note_checked(Desk& desk, const std::string& id, Duration took, std::vector<std::string> doubts) {
    const Host* found = desk.estate.hosts.find(id);
    if (!found || found->phase == HostPhase::retired) return;
    Host& host = desk.estate.hosts.edit(id);
    if (!doubts.empty()) return note_doubt(desk, host, true, std::move(doubts));
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(took);
    if (ms > desk.settings.challenge.walk_max)
        return note_doubt(
            desk, host, false,
            {fmt::format("Its answers to a challenge took {} ms, the way included: more than {}.", ms.count(),
                         desk.settings.challenge.walk_max.count())});
    host.admission.proved_at = desk.estate.micros();
    host.admission.prove_next = next_proof(desk);
    host.admission.proofs_failed = 0;
    host.admission.unproven.clear();
    judge_host(desk, id);
}

void note_proving_ended(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    const Host* found = desk.estate.hosts.find(command.host);
    if (!found || found->phase == HostPhase::retired) return;
    HostLive& live = desk.live.hosts[command.host];
    const bool told = live.challenge && live.challenge->command == command.id;
    const bool walked = told && live.challenge->walked;
    if (told) live.challenge.reset();
    if (walked) return;  // The answers say more.
    if (answer.reason == "in_use" || refused_unread(answer) || !told) {
        desk.estate.hosts.edit(command.host).admission.prove_next =
            between(desk, failed_rest_us, 2 * failed_rest_us);
        return;
    }
    note_doubt(desk, desk.estate.hosts.edit(command.host), false,
               {fmt::format("It did not answer a challenge: {}", answer.message)});
}

}  // namespace hostler::master
