#include "roles/gateway/gatekeeper.h"

#include "core/task_group.h"

namespace hostler::gateway {

namespace {

using std::chrono::seconds;

constexpr std::size_t clients_max = 10'000;

Admission admission_of(const Verdict& verdict) {
    if (!verdict.known) return Admission::nobody;
    return verdict.allowed ? Admission::allowed : Admission::elsewhere;
}

}  // namespace

Gatekeeper::Gatekeeper(Timers& timers, const Settings& settings, MasterLink& master)
    : timers_(timers),
      settings_(settings),
      master_(master),
      verdicts_(settings.verdicts_max),
      questions_({.per_second = static_cast<double>(settings.questions_per_second),
                  .burst = static_cast<double>(settings.questions_burst)},
                 clients_max) {}

Task<Admission> Gatekeeper::admit(std::string credential, std::string tenant, std::string client) {
    if (const auto known = verdicts_.find(credential, tenant, timers_.now());
        known && known->age == Verdicts::Age::fresh)
        co_return admission_of(known->verdict);
    // A page loads with many requests at once: one question serves them all.
    const std::pair key{credential, tenant};
    if (const auto asked = asked_.find(key); asked != asked_.end()) {
        const auto signal = asked->second;
        CO_TRY(co_await signal->wait());
    } else if (!questions_.take(client, timers_.now())) {
        co_return Admission::too_many;
    } else {
        struct Asking {
            Gatekeeper& keeper;
            const std::pair<std::string, std::string>& key;
            ~Asking() {
                const auto signal = std::move(keeper.asked_.at(key));
                keeper.asked_.erase(key);
                signal->notify_all();
            }
        };
        asked_.emplace(key, std::make_shared<Signal>());
        const Asking asking{*this, key};
        co_await ask(credential, tenant);
        CO_TRY(co_await check_cancelled());
    }
    const auto known = verdicts_.find(credential, tenant, timers_.now());
    if (!known) co_return Admission::unavailable;
    // No master answered: who was let in lately stays in, and nobody else gets in.
    if (known->age == Verdicts::Age::stale && !known->verdict.allowed) co_return Admission::unavailable;
    co_return admission_of(known->verdict);
}

Task<> Gatekeeper::ask(std::string credential, std::string tenant) {
    auto word = CO_TRY(co_await master_.authenticate(credential, tenant));
    const Duration valid =
        word.verdict.allowed ? word.valid : std::min<Duration>(word.valid, seconds{settings_.refusal_s});
    // A word that may not be kept still has to reach those who asked for it.
    verdicts_.keep(credential, tenant, std::move(word.verdict), timers_.now(),
                   std::max<Duration>(valid, std::chrono::milliseconds{100}),
                   seconds{settings_.verdict_grace_s});
    co_return Result<>{};
}

Task<std::string> Gatekeeper::redeem(std::string code, std::string route, std::string client) {
    if (!questions_.take(client, timers_.now()))
        co_return fail(Code::exhausted, "too many codes from this address");
    auto word = co_await master_.redeem(std::move(code), std::move(route));
    if (!word && (word.error().code == Code::unavailable || word.error().code == Code::timeout ||
                  word.error().code == Code::cancelled))
        co_return std::unexpected(word.error());
    const auto fits = [](char c) {
        return c > ' ' && c < 0x7f && c != ';' && c != ',' && c != '"' && c != '\\';
    };
    if (!word || !word->verdict.known || word->session.empty() ||
        !std::all_of(word->session.begin(), word->session.end(), fits))
        co_return fail(Code::forbidden, word ? "nobody has this code" : word.error().message);
    co_return std::move(word->session);
}

}  // namespace hostler::gateway
