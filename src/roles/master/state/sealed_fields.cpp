#include "roles/master/state/sealed_fields.h"

#include <fmt/format.h>

namespace hostler::master {

namespace {

constexpr std::string_view mark = "sealed:";

// Each part with its length before it: no two places are written alike.
std::string place_of(const SecretsOf& of, std::string_view field) {
    std::string place;
    for (const std::string_view part : {of.kind, std::string_view{of.id}, std::string_view{of.tenant}, field})
        place += fmt::format("{}:{},", part.size(), part);
    return place;
}

}  // namespace

Result<> each_secret(Instance& row, const VisitSecret& visit) {
    for (InstanceVariable& one : row.spec.environment) TRY(visit("environment/" + one.name, one.value));
    return visit("request_digest", row.request_digest);
}

Result<> each_secret(alert::Receiver& row, const VisitSecret& visit) { return visit("secret", row.secret); }

Result<> each_secret(Answer& row, const VisitSecret& visit) {
    TRY(visit("digest", row.digest));
    return visit("body", row.body);
}

Result<> each_secret(Secret& row, const VisitSecret& visit) {
    for (SecretValue& one : row.values) TRY(visit("values/" + one.key, one.value));
    return {};
}

Result<> each_secret(User& row, const VisitSecret& visit) {
    TRY(visit("password", row.password));
    return visit("totp", row.totp);
}

Result<> each_secret(IdentityProvider& row, const VisitSecret& visit) {
    return visit("client_secret", row.client_secret);
}

Result<> each_secret(Cluster& row, const VisitSecret& visit) { return visit("secrets", row.secrets); }

std::optional<SealedText> parse_sealed(std::string_view stored) {
    if (!stored.starts_with(mark)) return std::nullopt;
    stored.remove_prefix(mark.size());
    const auto colon = stored.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    return SealedText{stored.substr(0, colon), stored.substr(colon + 1)};
}

Result<> seal_secret(const Sealer& sealer, std::string_view key, const SecretsOf& of, std::string_view field,
                     std::string& text) {
    if (text.empty()) return {};
    text = fmt::format("{}{}:{}", mark, key, TRY(sealer.seal(key, place_of(of, field), text)));
    return {};
}

Result<> open_secret(const Sealer& sealer, const std::set<std::string>& known, const SecretsOf& of,
                     std::string_view field, std::string& text) {
    const auto sealed = parse_sealed(text);
    if (!sealed || !known.contains(std::string{sealed->key})) return {};
    auto plain = sealer.open(sealed->key, place_of(of, field), sealed->text);
    if (!plain && plain.error().code == Code::not_found)
        return fail(Code::conflict,
                    fmt::format("{} {} has secrets sealed by {}", of.kind, of.id,
                                missing_key_words(std::string{sealed->key})),
                    "sealing_key_missing");
    if (!plain)
        return fail(Code::internal,
                    fmt::format("{} {} in the store: {}: {}", of.kind, of.id, field, plain.error().message));
    text = std::move(*plain);
    return {};
}

std::string missing_key_words(const std::string& keys) {
    return fmt::format(
        "{}, which this master does not have: bring it by `hostler seal export` from one that has it, or "
        "take "
        "the file that was put by, and `hostler seal import` here; then start again",
        keys);
}

}  // namespace hostler::master
