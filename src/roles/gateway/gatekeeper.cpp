#include "roles/gateway/gatekeeper.h"

#include "core/log.h"
#include "core/task_group.h"

namespace hostler::gateway {

namespace {

using std::chrono::seconds;

constexpr std::size_t clients_max = 10'000;
constexpr Duration retry_telling = seconds{1};
constexpr Duration catch_up_again = seconds{30};
constexpr std::string_view sign_out_key = "sign-out/";
// Of a client without one. Empty is no address: that stands for all of them.
constexpr std::string_view no_address = "unknown";

bool is_away(const Error& error) {
    return error.code == Code::unavailable || error.code == Code::timeout || error.code == Code::cancelled;
}

Admission admission_of(const Verdict& verdict) {
    if (!verdict.known) return Admission::nobody;
    return verdict.allowed ? Admission::allowed : Admission::elsewhere;
}

}  // namespace

Gatekeeper::Gatekeeper(const Ports& ports, const Settings& settings, MasterLink& master)
    : timers_(ports.timers),
      settings_(settings),
      master_(master),
      journal_(ports.journal),
      verdicts_(settings.verdicts_max),
      trust_(ports.journal, ports.digest, settings.verdicts_max, seconds{settings.outage_trust_s},
             ports.timers.wall()),
      questions_({.per_second = static_cast<double>(settings.questions_per_second),
                  .burst = static_cast<double>(settings.questions_burst)},
                 clients_max) {
    const auto& kept = journal_.all();
    for (auto at = kept.lower_bound(std::string{sign_out_key});
         at != kept.end() && at->first.starts_with(sign_out_key); ++at)
        leaving_[at->first.substr(sign_out_key.size())] = at->second;
}

Task<Admission> Gatekeeper::admit(Question& question, std::string client) {
    if (leaving_.contains(question.credential)) co_return Admission::nobody;
    const std::string from = client.empty() ? std::string{no_address} : client;
    if (const auto known = said(question, from)) co_return *known;
    if (!master_.linked()) co_return believed(question, from);
    // Before the answer it is not known whether the address matters.
    Question asked = question.from_anywhere();
    asked.address = from;
    // A page loads with many requests at once: one question serves them all.
    if (const auto other = asked_.find(asked); other != asked_.end()) {
        const auto signal = other->second;
        CO_TRY(co_await signal->wait());
    } else if (!questions_.take(client, timers_.now())) {
        co_return Admission::too_many;
    } else {
        struct Asking {
            Gatekeeper& keeper;
            const Question& question;
            ~Asking() {
                const auto signal = std::move(keeper.asked_.at(question));
                keeper.asked_.erase(question);
                signal->notify_all();
            }
        };
        asked_.emplace(asked, std::make_shared<Signal>());
        const Asking asking{*this, asked};
        co_await ask(asked);
        CO_TRY(co_await check_cancelled());
    }
    if (leaving_.contains(question.credential)) co_return Admission::nobody;
    const auto known = said(question, from);
    co_return known ? *known : believed(question, from);
}

// What is known for all addresses, or for this one.
std::optional<Admission> Gatekeeper::said(Question& question, const std::string& from) {
    question.address.clear();
    auto known = verdicts_.find(question, timers_.now());
    if (!known) {
        question.address = from;
        known = verdicts_.find(question, timers_.now());
    }
    return known ? std::optional{admission_of(*known)} : std::nullopt;
}

// No master answers: who was let in before comes in, and nobody else.
Admission Gatekeeper::believed(Question& question, const std::string& from) const {
    question.address.clear();
    if (trust_.believes(question, timers_.wall()) == Trust::Belief::yes) return Admission::allowed;
    question.address = from;
    return trust_.believes(question, timers_.wall()) == Trust::Belief::yes ? Admission::allowed
                                                                           : Admission::unavailable;
}

void Gatekeeper::end(const std::vector<std::string>& marks) {
    ++ends_;
    trust_.end(marks, [&](const Question& question) {
        verdicts_.forget(question.credential);
        stays_.end(question);
    });
}

Task<> Gatekeeper::catch_up() {
    constexpr std::ptrdiff_t marks_max = 5'000;  // In one question.
    std::uint64_t seen = 0;
    while (true) {
        seen = CO_TRY(co_await master_.linked_after(seen));
        const auto marks = trust_.marks();
        for (auto next = marks.begin(); next != marks.end();) {
            const auto last = next + std::min(marks_max, marks.end() - next);
            const auto over = co_await master_.over_among({next, last});
            CO_TRY(co_await check_cancelled());
            if (!over) {  // It is slow, has gone, or is an older one that does not know this question.
                CO_TRY(co_await master_.linked_after(seen, catch_up_again));
                if (master_.came() != seen) break;
                continue;
            }
            end(*over);
            next = last;
        }
    }
}

Task<> Gatekeeper::ask(Question question) {
    keep(question, CO_TRY(co_await word_on(question)));
    co_return Result<>{};
}

// What ends while a master answers may have ended after it looked: it is asked again.
Task<MasterLink::Word> Gatekeeper::word_on(Question question) {
    constexpr int tries_max = 3;
    for (int tries = 0; tries < tries_max; ++tries) {
        const std::uint64_t before = ends_;
        auto word = CO_TRY(co_await master_.authenticate(question));
        if (before == ends_) co_return word;
    }
    co_return fail(Code::unavailable, "credentials end all the time");
}

// A word for one address says nothing about another, in either direction.
void Gatekeeper::keep(const Question& asked, MasterLink::Word word) {
    const Question anywhere = asked.from_anywhere();
    verdicts_.forget(asked);
    verdicts_.forget(anywhere);
    if (word.by_address || !word.verdict.allowed) {
        trust_.forget(anywhere);
        stays_.end(anywhere);
    }
    if (word.by_address && asked.address.empty()) return;
    const Question& about = word.by_address ? asked : anywhere;
    if (word.verdict.allowed) {
        trust_.keep(about, {word.verdict.principal, std::move(word.marks), word.ends, word.verdict.groups},
                    timers_.wall());
    } else {
        trust_.forget(asked);
        stays_.end(asked);
    }
    const Duration valid =
        word.verdict.allowed ? word.valid : std::min<Duration>(word.valid, seconds{settings_.refusal_s});
    // A word that may not be kept still has to reach those who asked for it.
    verdicts_.keep(about, std::move(word.verdict), timers_.now(),
                   std::max<Duration>(valid, std::chrono::milliseconds{100}));
}

Task<std::string> Gatekeeper::redeem(std::string code, std::string route, std::string client) {
    if (!questions_.take(client, timers_.now()))
        co_return fail(Code::exhausted, "too many codes from this address");
    auto word = co_await master_.redeem(std::move(code), std::move(route));
    if (!word && is_away(word.error())) co_return std::unexpected(word.error());
    const auto fits = [](char c) {
        return c > ' ' && c < 0x7f && c != ';' && c != ',' && c != '"' && c != '\\';
    };
    if (!word || !word->verdict.known || word->session.empty() ||
        !std::all_of(word->session.begin(), word->session.end(), fits))
        co_return fail(Code::forbidden, word ? "this code is unknown" : word.error().message);
    co_return std::move(word->session);
}

Task<bool> Gatekeeper::sign_out(std::string session, std::string route, std::string client) {
    if (!questions_.take(client, timers_.now()))
        co_return fail(Code::exhausted, "too many sign-outs from this address");
    if (leaving_.size() >= settings_.sign_outs_max && !leaving_.contains(session))
        co_return fail(Code::exhausted, "too many sign-outs wait for a master");
    leaving_[session] = route;
    verdicts_.forget(session);
    trust_.forget_credential(session);
    stays_.end(session);
    const auto kept = co_await journal_.put(std::string{sign_out_key} + session, route);
    CO_TRY(co_await check_cancelled());
    if (!kept) log_warn("gateway: a sign-out is not written down: {}", kept.error().message);
    co_await tell_sign_out(session, std::move(route));
    leaving_changed_.notify_all();
    CO_TRY(co_await check_cancelled());
    co_return !leaving_.contains(session);
}

// What is asked about a session before its end is answered before it, and forgotten with it.
Task<> Gatekeeper::tell_sign_out(std::string session, std::string route) {
    const auto told = co_await master_.sign_out(session, std::move(route));
    if (!told && is_away(told.error())) co_return told;
    if (!told) log_warn("gateway: a sign-out was refused by the master: {}", told.error().message);
    verdicts_.forget(session);
    trust_.forget_credential(session);
    leaving_.erase(session);
    const auto erased = co_await journal_.erase(std::string{sign_out_key} + session);
    if (!erased && erased.error().code != Code::cancelled)
        log_warn("gateway: a sign-out that is over stays written down: {}", erased.error().message);
    co_return Result<>{};
}

Task<> Gatekeeper::run() {
    while (true) {
        if (leaving_.empty()) {
            CO_TRY(co_await leaving_changed_.wait());
            continue;
        }
        const auto [session, route] = *leaving_.begin();
        const auto told = co_await tell_sign_out(session, route);
        CO_TRY(co_await check_cancelled());
        if (!told) CO_TRY(co_await sleep(timers_, retry_telling));
    }
}

Task<> Gatekeeper::watch() {
    while (true) {
        CO_TRY(co_await sleep(timers_, seconds{settings_.recheck_s}));
        for (const Question& question : stays_.questions()) {
            auto word = co_await word_on(question);
            CO_TRY(co_await check_cancelled());
            if (!word && is_away(word.error())) {  // Nobody is cut on a guess.
                for (const Question& open : stays_.questions())
                    if (trust_.believes(open, timers_.wall()) == Trust::Belief::ended) stays_.end(open);
                break;
            }
            if (!word) continue;
            const Admission admission = admission_of(word->verdict);
            keep(question, std::move(*word));
            if (admission != Admission::allowed)
                log_info("gateway: the connections of {} are cut: it has ended",
                         question.route.empty() || question.is_mark() ? "a credential"
                                                                      : "a session of " + question.route);
        }
    }
}

}  // namespace hostler::gateway
