#include "roles/master/user/invitations.h"

#include <fmt/format.h>

#include "api/types_user.h"
#include "domain/tenancy/credentials.h"
#include "roles/master/http/gate.h"
#include "roles/master/role/grants.h"
#include "roles/master/state/views.h"
#include "roles/master/user/users.h"

namespace hostler::master {

namespace {

constexpr std::string_view secret_prefix = "hi";

// A key that has merely ended leaves what it made; one that was taken away does not.
bool maker_stands(const Desk& desk, const Invitation& invitation, std::int64_t now) {
    constexpr std::string_view of_user = "user/", of_key = "key/", of_account = "account/";
    const Estate& estate = desk.estate;
    const auto id = [](const std::string& text, std::string_view prefix) {
        return text.substr(prefix.size());
    };
    if (invitation.made_by.starts_with(of_user)) {
        const User* user = estate.users.find(id(invitation.made_by, of_user));
        if (!user || user->disabled_at != 0) return false;
    }
    if (invitation.made_by.starts_with(of_account)) {
        const ServiceAccount* account = estate.service_accounts.find(id(invitation.made_by, of_account));
        if (!account || account->disabled_at != 0) return false;
    }
    if (invitation.made_by.starts_with(of_user) || invitation.made_by.starts_with(of_account)) {
        const Scope scope = scope_of_invitation(invitation);
        const auto role = role_for(desk, invitation.role, scope);
        if (!role || !holds_all({.held = held_by(desk, invitation.made_by, now)}, *role, scope)) return false;
    }
    if (invitation.credential == "key/operator" || !invitation.credential.starts_with(of_key)) return true;
    const ApiKey* key = estate.api_keys.find(id(invitation.credential, of_key));
    if (!key || key->revoked_at != 0 || key->disabled_at != 0) return false;
    if (key->account.empty()) return true;
    const ServiceAccount* account = estate.service_accounts.find(key->account);
    return account && account->disabled_at == 0;
}

}  // namespace

api::Invitation view(const Invitation& invitation) {
    return {.id = invitation.id,
            .tenant_id = invitation.tenant,
            .project = invitation.project,
            .provider = invitation.provider,
            .role = invitation.role,
            .login = invitation.login,
            .email = invitation.email,
            .made_by = invitation.made_by,
            .created_at = wall(invitation.created_at),
            .expires_at = wall(invitation.expires_at)};
}

Scope scope_of_invitation(const Invitation& invitation) {
    if (!invitation.provider.empty()) return Scope::of_provider(invitation.provider);
    if (invitation.project.empty()) return scope_of_tenant(invitation.tenant);
    return Scope::of_project(invitation.tenant, invitation.project);
}

Result<MadeInvitation> make_invitation(Desk& desk, const api::Call& call,
                                       const api::CreateInvitation& request, const std::string& tenant,
                                       const Digest& digest) {
    Invitation made{.tenant = tenant,
                    .project = request.project.value_or(""),
                    .provider = request.provider.value_or(""),
                    .role = request.role,
                    .login = plain_login(request.login.value_or("")),
                    .email = request.email.value_or(""),
                    .made_by = call.caller.actor,
                    .credential = call.caller.credential};
    if (!made.project.empty() && tenant.empty()) {
        Error wrong{Code::invalid, "one field of the request is wrong", "invalid"};
        wrong.fields.push_back({"project", "needs a tenantID"});
        return std::unexpected(std::move(wrong));
    }
    TRY(check_gives(desk, call, made.role, scope_of_invitation(made)));
    if (desk.estate.invitations.by().tenant.count(tenant) >= invitations_tenant_max)
        return fail(Code::exhausted,
                    fmt::format("{} invitations wait already, which is the most that a tenant may have "
                                "(invitations_tenant_max); revoke those that are not wanted",
                                invitations_tenant_max),
                    "quota_exceeded");
    std::string secret = new_secret(desk.random, secret_prefix);
    made.id = new_id(desk.random, "inv");
    made.hash = digest.sha256(secret);
    made.created_at = desk.estate.micros();
    made.expires_at = made.created_at + request.ttl_seconds * std::int64_t{1'000'000};
    desk.estate.event("invitation", made.id, tenant, "created",
                      fmt::format("An invitation to the role {} was created.", made.role));
    return MadeInvitation{&desk.estate.invitations.add(std::move(made)), std::move(secret)};
}

Result<const Invitation*> invitation_of(const Desk& desk, const std::string& secret, const Digest& digest,
                                        std::int64_t now) {
    const Invitation* found = desk.estate.invitations.by().hash.first(digest.sha256(secret));
    if (found && found->expires_at > now && maker_stands(desk, *found, now)) return found;
    return fail(Code::not_found,
                "this invitation is not known: it was accepted or revoked, has ended, or its maker may no "
                "longer invite; ask for another one",
                "invitation_unknown");
}

std::optional<std::string> invitation_link(const Settings& settings, std::string_view secret) {
    return link_to(settings, invitation_path, secret);
}

}  // namespace hostler::master
