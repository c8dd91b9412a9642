// Identity providers.
#include <fmt/format.h>

#include "api/operations_oidc.h"
#include "core/safe_text.h"
#include "roles/master/http/api.h"
#include "roles/master/oidc/oidc_state.h"
#include "roles/master/oidc/providers.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

api::IdentityProvider shown_provider(const Desk& desk, const IdentityProvider& row) {
    return view(row, desk.settings.public_url);
}

Result<api::IdentityProvider> decide_create_provider(Desk& desk, const api::Call& call,
                                                     const api::CreateIdentityProvider& request) {
    const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    TRY(check_new(call, scope_of_tenant(tenant)));
    if (!tenant.empty()) TRY(check_tenant(desk, tenant));
    const IdentityProvider& made = *TRY(create_identity_provider(desk, call, request, tenant));
    if (!tenant.empty()) ensure_tenant(desk, tenant);
    return shown_provider(desk, made);
}

void add_hints(const IdentityProvider& row, const Discovery& discovery, const Settings& settings,
               api::TestedIdentityProvider& answer) {
    if (settings.public_url.empty())
        answer.problems.emplace_back(
            "The public URL of the API is not set (--public-url): the redirect URI follows the address that "
            "a "
            "browser uses.");
    if (!row.groups_claim.empty() && discovery.userinfo_endpoint.empty())
        answer.problems.emplace_back(
            "It has no userinfo endpoint: groups count only if they are in the ID token.");
    if (discovery.end_session_endpoint.empty())
        answer.problems.emplace_back(
            "It has no end_session_endpoint: signing out here does not end its own session.");
}

Task<api::TestedIdentityProvider> test_provider(Api& service, api::Call call,
                                                api::NameIdentityProvider request) {
    const TermPtr term = CO_TRY(service.leader());
    IdentityProvider row = *CO_TRY(identity_provider_named(term->look(), call, request.identity_provider));
    api::TestedIdentityProvider answer;
    if (call.dry_run) co_return answer;
    row.id += "/test";  // What is kept of it does not count, and stays as it is.
    oidc_of(*term).published.erase(row.id);
    const auto discovery = co_await discovery_of(term, row);
    if (!discovery && discovery.error().code == Code::cancelled) co_return std::unexpected(discovery.error());
    if (!discovery) {
        answer.problems.push_back(safe_line(discovery.error().message));
        co_return answer;
    }
    answer.authorization_endpoint = discovery->authorization_endpoint;
    answer.token_endpoint = discovery->token_endpoint;
    answer.userinfo_endpoint = discovery->userinfo_endpoint;
    answer.end_session_endpoint = discovery->end_session_endpoint;
    answer.keys_url = discovery->jwks_uri;
    const auto keys = co_await keys_of(term, row, *discovery, published_age_max);
    if (!keys && keys.error().code == Code::cancelled) co_return std::unexpected(keys.error());
    if (!keys) answer.problems.push_back(safe_line(keys.error().message));
    answer.ok = keys.has_value();
    add_hints(row, *discovery, term->settings(), answer);
    co_return answer;
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call& call, const api::NameIdentityProvider& request) {
    const auto found = identity_provider_named(desk, call, request.identity_provider);
    return found ? subject_named(**found, api::encode(shown_provider(desk, **found))) : Subject{};
}
Subject subject_of(const Desk&, const api::Call&, const api::CreateIdentityProvider&) { return {}; }
Subject subject_after(const Desk& desk, const api::Call& call, const api::CreateIdentityProvider&,
                      const api::IdentityProvider& made) {
    return subject_of(desk, call, api::NameIdentityProvider{made.id});
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::UpdateIdentityProvider& request) {
    return subject_of(desk, call, api::NameIdentityProvider{request.identity_provider});
}

void add_identity_providers(Api& service) {
    namespace ops = api::ops;
    service.write<ops::create_identity_provider>(decide_create_provider);
    service.read<ops::list_identity_providers>(
        [](const Desk& desk, const api::Call& call,
           const api::ListIdentityProviders& request) -> Result<api::List<api::IdentityProvider>> {
            const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
            return rows_of<api::IdentityProvider>(desk.estate.identity_providers,
                                                  [&](const IdentityProvider& row) {
                                                      return may(call, scope_of(row)) &&
                                                             (tenant.empty() || row.tenant == tenant);
                                                  })
                .page(call, [&](const IdentityProvider& row) { return shown_provider(desk, row); });
        });
    service.read<ops::get_identity_provider>(
        [](const Desk& desk, const api::Call& call,
           const api::NameIdentityProvider& request) -> Result<api::IdentityProvider> {
            return shown_provider(desk, *TRY(identity_provider_named(desk, call, request.identity_provider)));
        });
    service.write<ops::update_identity_provider>(
        [](Desk& desk, const api::Call& call,
           const api::UpdateIdentityProvider& request) -> Result<api::IdentityProvider> {
            const std::string id = TRY(identity_provider_named(desk, call, request.identity_provider))->id;
            TRY(update_identity_provider(desk, call, id, request));
            return shown_provider(desk, desk.estate.identity_providers.at(id));
        });
    service.write<ops::delete_identity_provider>(
        [](Desk& desk, const api::Call& call,
           const api::NameIdentityProvider& request) -> Result<api::Empty> {
            const std::string id = TRY(identity_provider_named(desk, call, request.identity_provider))->id;
            delete_identity_provider(desk, id);
            return api::Empty{};
        });
    service.handlers().on<ops::test_identity_provider>(
        [&service](api::Call call, api::NameIdentityProvider request) {
            return test_provider(service, std::move(call), std::move(request));
        });
}

}  // namespace hostler::master
