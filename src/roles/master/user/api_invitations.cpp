// Invitations.
#include <fmt/format.h>

#include "api/operations_user.h"
#include "domain/tenancy/credentials.h"
#include "roles/master/http/people.h"
#include "roles/master/state/refuse.h"
#include "roles/master/state/views.h"
#include "roles/master/tenancy/tenancy.h"
#include "roles/master/user/invitations.h"
#include "roles/master/user/letters.h"
#include "roles/master/user/roles.h"
#include "roles/master/user/users.h"

namespace hostler::master {

namespace {

Result<const Invitation*> invitation_named(const Desk& desk, const api::Call& call, const std::string& id) {
    Error absent{Code::not_found, fmt::format("there is no invitation {}", id), "invitation_not_found"};
    const Invitation* found = desk.estate.invitations.find(id);
    if (!found) return std::unexpected(std::move(absent));
    TRY(check(call, scope_of_tenant(found->tenant), std::move(absent)));
    return found;
}

Result<api::CreatedInvitation> decide_invite(Desk& desk, const api::Call& call,
                                             const api::CreateInvitation& request, const Digest& digest) {
    const bool in_tenant = !request.cloud && !request.provider;
    const std::string tenant = in_tenant ? TRY(tenant_meant(call, request.tenant_id)) : "";
    if (in_tenant && tenant.empty()) {
        Error wrong{Code::invalid, "one field of the request is wrong", "invalid"};
        wrong.fields.push_back({"tenantID", "name a tenant, a provider, or the cloud"});
        return std::unexpected(std::move(wrong));
    }
    TRY(check_new(call, scope_of_tenant(tenant)));
    if (request.project && !tenant.empty())
        TRY(check_project(desk, tenant, *request.project));
    else if (!tenant.empty())
        TRY(check_tenant(desk, tenant));
    const MadeInvitation made = TRY(make_invitation(desk, call, request, tenant, digest));
    if (!tenant.empty()) ensure_tenant(desk, tenant);
    return api::CreatedInvitation{.id = made.invitation->id,
                                  .tenant_id = made.invitation->tenant,
                                  .project = made.invitation->project,
                                  .provider = made.invitation->provider,
                                  .role = made.invitation->role,
                                  .secret = made.secret,
                                  .expires_at = wall(made.invitation->expires_at),
                                  .link = invitation_link(desk.settings, made.secret)};
}

// Of one who is signed in.
Result<> check_known(const api::AcceptInvitation& request) {
    Error wrong{Code::invalid, "you are signed in, and so no user is made", "invalid"};
    const auto refuse_if = [&](bool there, std::string field) {
        if (there) wrong.fields.push_back({std::move(field), "must be left out by a user who is signed in"});
    };
    refuse_if(request.login.has_value(), "login");
    refuse_if(request.name.has_value(), "name");
    refuse_if(request.password.has_value(), "password");
    if (!wrong.fields.empty()) return std::unexpected(std::move(wrong));
    return {};
}

// `password`: its hash; empty: the caller is a user.
Result<api::AcceptedInvitation> decide_accept(Desk& desk, const api::Call& call,
                                              const api::AcceptInvitation& request, const Digest& digest,
                                              const std::string& password) {
    const Invitation invitation = *TRY(invitation_of(desk, request.secret, digest, desk.estate.micros()));
    const User* user = user_of_call(desk, call);
    if (user) {
        TRY(check_known(request));
    } else {
        const std::string login = TRY(check_newcomer(invitation, request));
        user = TRY(make_user(desk, {.login = login,
                                    .name = request.name.value_or(""),
                                    .email = invitation.email,
                                    .tenant = invitation.tenant,
                                    .password = password}));
    }
    const std::string id = user->id;
    TRY(grant_of_invitation(desk, invitation, id));
    desk.estate.event("invitation", invitation.id, invitation.tenant, "accepted",
                      fmt::format("User {} accepted the invitation.", user->login));
    desk.estate.invitations.erase(invitation.id);
    return api::AcceptedInvitation{.user_id = id,
                                   .login = user->login,
                                   .tenant_id = invitation.tenant,
                                   .project = invitation.project,
                                   .provider = invitation.provider,
                                   .role = invitation.role};
}

}  // namespace

Result<std::string> check_newcomer(const Invitation& invitation, const api::AcceptInvitation& request) {
    Error wrong{Code::invalid, "the request is not complete, or wrong", "invalid"};
    const std::string login = request.login.value_or(invitation.login);
    if (login.empty()) wrong.fields.push_back({"login", "is required: the invitation suggests none"});
    if (!request.password)
        wrong.fields.push_back({"password", "is required, unless you are signed in"});
    else if (auto what = wrong_password(*request.password, login); !what.empty())
        wrong.fields.push_back({"password", std::move(what)});
    if (!wrong.fields.empty()) return std::unexpected(std::move(wrong));
    return login;
}

Task<api::AcceptedInvitation> accept_invitation(Api& service, api::Call call, api::AcceptInvitation request) {
    const TermPtr term = CO_TRY(service.leader());
    const Digest& digest = term->ports().digest;
    const std::int64_t now = term->ports().timers.wall().time_since_epoch().count();
    // Nobody has a password hashed without an invitation.
    const Invitation& invitation = *CO_TRY(invitation_of(term->look(), request.secret, digest, now));
    std::string password;
    if (!user_of_call(term->look(), call)) {
        if (call.caller.principal.kind != PrincipalKind::stranger)
            co_return fail(Code::conflict,
                           "an invitation is for a person: accept it without a key, or signed in as a user",
                           "not_a_person");
        CO_TRY(check_newcomer(invitation, request));
        password = CO_TRY(co_await term->ports().passwords.hash(*request.password));
    }
    co_return co_await service.perform<std::remove_cvref_t<decltype(api::ops::accept_invitation)>>(
        [&digest, password](Desk& desk, const api::Call& asked,
                            const api::AcceptInvitation& wanted) -> Result<api::AcceptedInvitation> {
            {  // It may be refused after a user is made.
                const Estate::Trial trial{desk.estate};
                TRY(decide_accept(desk, asked, wanted, digest, password));
            }
            return decide_accept(desk, asked, wanted, digest, password);
        },
        std::move(call), std::move(request));
}

Subject subject_of(const Desk&, const api::Call&, const api::CreateInvitation&) { return {}; }
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameInvitation& request) {
    const auto found = invitation_named(desk, call, request.invitation);
    return found ? subject_named(**found, api::encode(view(**found))) : Subject{};
}
Subject subject_after(const Desk& desk, const api::Call& call, const api::CreateInvitation&,
                      const api::CreatedInvitation& made) {
    return subject_of(desk, call, api::NameInvitation{made.id});
}
Subject subject_of(const Desk&, const api::Call&, const api::AcceptInvitation&) { return {}; }
Subject subject_after(const Desk& desk, const api::Call&, const api::AcceptInvitation&,
                      const api::AcceptedInvitation& made) {
    const User* user = desk.estate.users.find(made.user_id);
    return user ? subject_named(*user, api::encode(view(*user))) : Subject{};
}

void add_invitations(Api& service) {
    namespace ops = api::ops;
    write_mailing<ops::create_invitation>(service, decide_invite);
    service.read<ops::list_invitations>(
        [](const Desk& desk, const api::Call& call,
           const api::ListInvitations& request) -> Result<api::List<api::Invitation>> {
            const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
            return rows_of<api::Invitation>(desk.estate.invitations,
                                            [&](const Invitation& row) {
                                                return may(call, scope_of_tenant(row.tenant)) &&
                                                       (tenant.empty() || row.tenant == tenant);
                                            })
                .page(call, [](const Invitation& row) { return view(row); });
        });
    service.write<ops::delete_invitation>(
        [](Desk& desk, const api::Call& call, const api::NameInvitation& request) -> Result<api::Empty> {
            const Invitation& row = *TRY(invitation_named(desk, call, request.invitation));
            desk.estate.event("invitation", row.id, row.tenant, "revoked", "The invitation was revoked.");
            desk.estate.invitations.erase(std::string{row.id});
            return api::Empty{};
        });
    service.handlers().on<ops::accept_invitation>(
        [&service](api::Call call, api::AcceptInvitation request) -> Task<api::AcceptedInvitation> {
            return accept_invitation(service, std::move(call), std::move(request));
        });
}

}  // namespace hostler::master
