#include "roles/master/http/audit_seals.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/log.h"

namespace hostler::master {

namespace {

constexpr Duration seal_every = std::chrono::hours{1};
constexpr Duration seal_again = std::chrono::minutes{1};  // After one that failed.

struct AuditSealing {
    std::uint64_t position = 0;   // What the last seal is of.
    std::optional<Instant> next;  // nullopt: at once.
};

AuditSealing& sealing_of(Term& term) {
    return term.part<AuditSealing>([&term] {
        return std::make_shared<AuditSealing>(
            AuditSealing{term.look().estate.audit_state().sealed.position, std::nullopt});
    });
}

void tell_of_missing(Term& term, Desk& desk) {
    const AuditHead head = term.audit_head(), sealed = desk.estate.audit_state().sealed;
    const bool is_there = head.position > sealed.position || head == sealed;
    if (is_there) return;
    const std::string text = fmt::format(
        "The audit was sealed at line {}, and the store has its line {} as the last one: lines were removed "
        "or "
        "changed. See `hostler audit verify`.",
        sealed.position, head.position);
    log_error("master: {}", text);
    desk.estate.event("master", "audit", "", "audit_cut", text);
}

// Errors: those of the authority.
Result<AuditSeal> make_seal(const Term& term, const Desk& desk) {
    const auto all = term.ports().authority.all();
    const auto issuing = std::ranges::find_if(all, &AuthorityFacts::issues);
    if (issuing == all.end()) return fail(Code::not_found, "no authority issues");
    AuditSeal seal{.head = term.audit_head(),
                   .time = desk.estate.time(),
                   .epoch = term.epoch(),
                   .authority = issuing->fingerprint,
                   .certificate = issuing->certificate,
                   .signature = {}};
    seal.signature = TRY(term.ports().authority.sign_text(seal_text(seal)));
    return seal;
}

}  // namespace

void seal_audit(Term& term, Desk& desk) {
    const Instant now = term.ports().timers.now();
    AuditSealing& sealing = sealing_of(term);
    if (!sealing.next) tell_of_missing(term, desk);
    if (sealing.next && now < *sealing.next) return;
    sealing.next = now + seal_every;
    if (term.audit_head().position <= sealing.position) return;
    auto seal = make_seal(term, desk);
    if (!seal) {
        sealing.next = now + seal_again;
        log_warn("master: the audit is not sealed yet: {}", seal.error().message);
        return;
    }
    sealing.position = seal->head.position;
    desk.estate.audit_seal(*std::move(seal));
}

std::uint64_t sealed_position(Term& term) { return sealing_of(term).position; }

SealCheck seal_check(const Desk& desk, const Ports& ports) {
    return [&desk, &ports](const AuditSeal& seal) -> Result<> {
        const auto here = ports.authority.all();
        if (std::ranges::count(here, seal.authority, &AuthorityFacts::fingerprint) == 0 &&
            !desk.estate.authorities.find(seal.authority))
            return fail(Code::unauthenticated,
                        fmt::format("the authority {} is not known here", seal.authority));
        return ports.authority.check_text(seal_text(seal), seal.signature, seal.certificate, seal.authority);
    };
}

}  // namespace hostler::master
