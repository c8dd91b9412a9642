// What is secret in rows of the store, and how it stands there: "sealed:KEY:TEXT", for its row and field
// alone. In memory it is clear. An empty text stays empty.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "domain/alert/receiver.h"
#include "domain/cluster/cluster.h"
#include "domain/instance/instance.h"
#include "domain/oidc/provider.h"
#include "domain/tenancy/key.h"
#include "domain/tenancy/secret.h"
#include "domain/tenancy/user.h"
#include "ports/sealer.h"

namespace hostler::master {

// Told each secret of a row by the name of its field.
using VisitSecret = std::function<Result<>(std::string_view field, std::string& text)>;

// Also digests: they would tell whether a guess is right. Errors: those of the visit, after the first.
Result<> each_secret(Instance& row, const VisitSecret& visit);
Result<> each_secret(alert::Receiver& row, const VisitSecret& visit);
Result<> each_secret(Answer& row, const VisitSecret& visit);
Result<> each_secret(Secret& row, const VisitSecret& visit);
Result<> each_secret(User& row, const VisitSecret& visit);
Result<> each_secret(IdentityProvider& row, const VisitSecret& visit);
Result<> each_secret(Cluster& row, const VisitSecret& visit);

template <class T>
concept HasSecrets = requires(T& row, const VisitSecret& visit) {
    { each_secret(row, visit) } -> std::same_as<Result<>>;
};

// Nothing: it is clear.
struct SealedText {
    std::string_view key, text;
};
std::optional<SealedText> parse_sealed(std::string_view stored);

// Whose secrets they are: no sealed text opens in another row.
struct SecretsOf {
    std::string_view kind;
    std::string id;
    std::string tenant;
};

// One by one, for each_secret(). Errors: conflict (sealing_key_missing), internal: it was sealed for another
// place, or was changed.
Result<> seal_secret(const Sealer& sealer, std::string_view key, const SecretsOf& of, std::string_view field,
                     std::string& text);
// What only looks sealed, by a key that the store does not know, is a text as any other.
Result<> open_secret(const Sealer& sealer, const std::set<std::string>& known, const SecretsOf& of,
                     std::string_view field, std::string& text);

// "bring it by …": what an operator does about a key that is not here.
std::string missing_key_words(const std::string& keys);

}  // namespace hostler::master
