#include "roles/master/http/api.h"

#include <fmt/format.h>

#include "roles/master/state/feature.h"

namespace hostler::master {

namespace {

constexpr std::int64_t answer_life_us = 24ll * 3600 * 1'000'000;

// A person's or service account's are its alone: others of its tenant may have other rights.
std::string answer_id(const api::Call& call) {
    const PrincipalKind kind = call.caller.principal.kind;
    const bool alone = kind == PrincipalKind::user || kind == PrincipalKind::service_account;
    return (alone ? call.caller.actor : call.caller.tenant) + "|" + call.idempotency_key;
}

// The key in the request is the question's name, not part of what is asked.
std::string digest_of(const Digest& digest, const api::Call& call) {
    return digest.sha256(fmt::format("{}\n{}", call.operation->name, call.request));
}

}  // namespace

Api::Api(const Lead& lead) : lead_(lead) {
    for (const Feature* feature : features())
        for (const auto add : feature->api) add(*this);
    handlers_.on_refused([this](const auto& caller, const auto& operation, auto subject, const Error& why) {
        refused(caller, {operation.name, operation.noun, name_of(operation.permission), subject}, why);
    });
    HOSTLER_ASSERT(handlers_.missing().empty());
}

void Api::refused(const api::Caller& caller, const RefusedCall& call, const Error& why) const {
    const TermPtr term = leader().value_or(nullptr);
    if (!term || term->read_only()) return;
    audit_refused(term->desk(caller.actor), caller, call, why);
    term->commit_then(nullptr);
}

Result<TermPtr> Api::leader() const {
    if (lead_.term && !lead_.term->ended()) return lead_.term;
    if (lead_.damaged)
        return fail(
            Code::unavailable,
            "no master can lead: the store has damaged rows; the master's log names them, and so does "
            "`hostler store check`",
            "no_leader");
    return fail(Code::unavailable,
                lead_.shared ? "no master leads at the moment; try again in a moment"
                             : "the master is starting or stopping; try again in a moment",
                "no_leader");
}

Result<std::optional<std::string>> replay(const Desk& desk, const Digest& digest, const api::Call& call) {
    if (call.idempotency_key.empty()) return std::nullopt;
    const Answer* before = desk.estate.answers.find(answer_id(call));
    if (!before) return std::nullopt;
    if (before->digest == digest_of(digest, call)) {
        if (!before->body.empty()) return before->body;
        Error told{Code::conflict, "this was done before, and the secret in its answer is shown only once",
                   "secret_told"};
        told.help = "Delete the object of that request, and create another with a new Idempotency-Key.";
        return std::unexpected(std::move(told));
    }
    Error error{Code::conflict, fmt::format("'{}' was used for another request before", call.idempotency_key),
                "idempotency_key_reused"};
    error.help = "Use a new operationID or Idempotency-Key for each new request.";
    return std::unexpected(std::move(error));
}

void remember_answer(Desk& desk, const Digest& digest, const api::Call& call, std::string body) {
    desk.estate.answers.add({.id = answer_id(call),
                             .tenant = call.caller.tenant,
                             .digest = digest_of(digest, call),
                             .body = std::move(body),
                             .expires_at = desk.estate.micros() + answer_life_us});
}

}  // namespace hostler::master
