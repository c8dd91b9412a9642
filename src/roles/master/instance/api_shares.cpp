// Share links.
#include <fmt/format.h>

#include "api/operations_share.h"
#include "api/types_instance.h"
#include "roles/master/http/api.h"
#include "roles/master/http/lookup.h"
#include "roles/master/instance/view.h"
#include "roles/master/policy/policies.h"
#include "roles/master/share/shares.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

api::Share view(const Desk& desk, const Share& share) {
    const Instance* instance = desk.estate.instances.find(share.instance);
    return {.id = share.id,
            .instance_id = instance ? instance->caller_id : share.instance,
            .tenant_id = share.tenant,
            .project = share.project,
            .port = share.port,
            .made_by = share.made_by,
            .created_at = wall(share.created_at),
            .expires_at = wall(share.expires_at),
            .opened = static_cast<int>(share.opened)};
}

// The origin of the port, and where a browser shows the secret there.
std::string link_of(const Desk& desk, const Instance& instance, int port, const std::string& secret) {
    for (const auto& url : view(desk, instance).urls) {
        if (url.port != port) continue;
        const auto host_at = url.url.find("://");
        const auto path_at = url.url.find('/', host_at == std::string::npos ? 0 : host_at + 3);
        return fmt::format("{}/.hostler/session?code={}&to={}", url.url.substr(0, path_at), secret,
                           path_at == std::string::npos ? "/" : url.url.substr(path_at));
    }
    return {};
}

Result<api::CreatedShare> create_share(Desk& desk, const api::Call& call, const api::CreateShare& request,
                                       const Digest& digest) {
    const Instance& instance = *TRY(instance_named(desk, call, request.instance, request.tenant_id));
    TRY(check_share_link(desk, instance.tenant));
    const std::string secret = new_secret(desk.random, "hl");
    const Share& share =
        *TRY(make_share(desk, instance, request.port, std::chrono::seconds{request.for_seconds},
                        digest.sha256(secret), call.caller.actor));
    return api::CreatedShare{.id = share.id,
                             .url = link_of(desk, instance, request.port, secret),
                             .secret = secret,
                             .expires_at = wall(share.expires_at)};
}

}  // namespace

Subject subject_of(const Desk&, const api::Call&, const api::CreateShare&) { return {}; }
Subject subject_of(const Desk& desk, const api::Call&, const api::NameShare& request) {
    const Share* share = desk.estate.shares.find(request.share);
    if (!share) return {};
    return subject_named(*share,
                         fmt::format(R"({{"instance":"{}","port":{}}})", share->instance, share->port));
}
Subject subject_after(const Desk& desk, const api::Call& call, const api::CreateShare&,
                      const api::CreatedShare& made) {
    return subject_of(desk, call, api::NameShare{made.id});
}

void add_shares(Api& service) {
    namespace ops = api::ops;
    service.handlers().on<ops::create_share>(
        [&service](api::Call call, api::CreateShare request) -> Task<api::CreatedShare> {
            const TermPtr term = CO_TRY(service.leader());
            const Digest& digest = term->ports().digest;
            co_return co_await service.perform<std::remove_cvref_t<decltype(ops::create_share)>>(
                [&digest](Desk& desk, const api::Call& asked, const api::CreateShare& wanted) {
                    return create_share(desk, asked, wanted, digest);
                },
                std::move(call), std::move(request));
        });
    service.read<ops::list_shares>([](const Desk& desk, const api::Call& call,
                                      const api::ListShares& request) -> Result<api::List<api::Share>> {
        const Instance& instance = *TRY(instance_named(desk, call, request.instance, request.tenant_id));
        return rows_of<api::Share>(
                   desk.estate.shares,
                   [&](const Share& row) { return row.instance == instance.id && is_open(desk, row); })
            .page(call, [&](const Share& row) { return view(desk, row); });
    });
    service.write<ops::delete_share>(
        [](Desk& desk, const api::Call& call, const api::NameShare& request) -> Result<api::Empty> {
            const Share* share = desk.estate.shares.find(request.share);
            Error absent{Code::not_found, fmt::format("there is no share link {}", request.share),
                         "share_not_found"};
            if (!share) return std::unexpected(std::move(absent));
            TRY(check(call, scope_of(*share), std::move(absent)));
            revoke_share(desk, request.share);
            return api::Empty{};
        });
}

}  // namespace hostler::master
