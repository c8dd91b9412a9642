#include <fmt/format.h>

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "roles/master/cluster/access.h"
#include "roles/master/http/caller.h"
#include "roles/master/pki/authority.h"
#include "roles/master/pki/edge_keys.h"
#include "roles/master/tenancy/tenancy.h"
#include "roles/master/ticket/enter.h"
#include "roles/master/uplink/host_link.h"
#include "roles/master/uplink/links.h"
#include "roles/master/uplink/outbox.h"
#include "wire/link.h"

namespace hostler::master {

namespace {

using std::chrono::seconds;

void register_gateway(TermPtr term, const std::string& name, const uplink::GatewayHello& hello) {
    Desk& desk = term->desk("gateway/" + name);
    const Gateway* before = desk.estate.gateways.find(name);
    if (before && before->address == hello.address() && before->domain == hello.domain()) return;
    Gateway now{.name = name, .address = hello.address(), .domain = hello.domain()};
    if (before) {
        now.meta = before->meta;
        desk.estate.gateways.edit(name) = std::move(now);
    } else {
        desk.estate.gateways.add(std::move(now));
    }
}

// A share link opens what its tenant shares; whoever may open terminals may open URLs, too.
bool may_open(const Desk& desk, const Principal& principal, const std::string& own_tenant,
              const std::string& tenant, const std::string& project) {
    const Scope at = project.empty() ? Scope::of_tenant(tenant) : Scope::of_project(tenant, project);
    if (authorize(principal, Permission::instance_open, Scope::cloud())) return true;
    if (!may_enter(desk, tenant, project)) return false;
    if (principal.kind == PrincipalKind::share) return own_tenant == tenant;
    return authorize(principal, Permission::instance_open, at) ||
           authorize(principal, Permission::instance_enter, at);
}

// What was opened with a ticket is a terminal: who may open URLs alone may not keep it.
bool may_stay(const Desk& desk, const Principal& principal, const std::string& tenant,
              const std::string& project) {
    const Scope at = project.empty() ? Scope::of_tenant(tenant) : Scope::of_project(tenant, project);
    if (authorize(principal, Permission::instance_enter, Scope::cloud())) return true;
    return may_enter(desk, tenant, project) && authorize(principal, Permission::instance_enter, at);
}

// Whether this credential opens instances of the tenant's project; without one, of the whole tenant.
uplink::Frame verdict(const Term& term, const std::optional<SignedIn>& known, const std::string& tenant,
                      const std::string& project) {
    uplink::Frame answer;
    auto& into = *answer.mutable_authenticate_answer();
    const auto valid = static_cast<std::uint32_t>(term.settings().key_cache.count());
    into.set_known(known.has_value());
    into.set_valid_s(valid);
    if (!known) return answer;
    const api::Caller& caller = known->caller;
    if (caller.expires) {
        const std::int64_t left =
            std::chrono::duration_cast<seconds>(*caller.expires - term.ports().timers.wall()).count();
        const auto ends = static_cast<std::uint32_t>(std::clamp<std::int64_t>(left, 1, UINT32_MAX));
        into.set_ends_s(ends);
        into.set_valid_s(std::min(valid, ends));
    }
    for (std::string& mark : marks_of(term, caller, known->session)) into.add_marks(std::move(mark));
    for (std::string& mark : marks_of_place(tenant, project)) into.add_marks(std::move(mark));
    into.set_allowed(may_open(term.look(), caller.principal, caller.tenant, tenant, project));
    into.set_principal(caller.actor);
    return answer;
}

// What a token of a cluster, or what it has opened, may do there. A cluster that has gone lets in nobody.
void limit_to_cluster(const Term& term, const std::optional<SignedIn>& known, const std::string& route,
                      uplink::AuthenticateAnswer& into) {
    const Cluster* cluster = cluster_at(term.look(), route);
    std::vector<std::string> groups;
    if (known && cluster) groups = groups_in(term.look(), known->caller.principal, *cluster);
    into.set_allowed(!groups.empty());
    for (std::string& group : groups) into.add_groups(std::move(group));
}

// Whether what a ticket has opened may stay open.
uplink::Frame authenticate_mark(const Term& term, const uplink::AuthenticateRequest& ask) {
    std::optional<SignedIn> known;
    if (auto caller = caller_of_mark(term, ask.credential(), ask.address()))
        known = SignedIn{.caller = *caller, .session = caller->session};
    uplink::Frame answer = verdict(term, known, ask.tenant(), ask.project());
    auto& into = *answer.mutable_authenticate_answer();
    if (is_of_cluster(ask.route()))
        limit_to_cluster(term, known, ask.route(), into);
    else
        into.set_allowed(known &&
                         may_stay(term.look(), known->caller.principal, ask.tenant(), ask.project()));
    into.set_by_address(is_mark_for_some_addresses(term, ask.credential()));
    return answer;
}

// A browser's session has no address: it was signed in for from one that its key is for. A token of a cluster
// is a program's, and is for the addresses of its key.
bool is_by_address(const Term& term, const uplink::AuthenticateRequest& ask,
                   const std::optional<SignedIn>& known) {
    if (is_of_cluster(ask.route()))
        return known && is_mark_for_some_addresses(term, known->caller.credential);
    return ask.route().empty() && is_for_some_addresses(term, ask.credential());
}

uplink::Frame authenticate(const Term& term, const uplink::AuthenticateRequest& ask) {
    if (ask.mark()) return authenticate_mark(term, ask);
    std::optional<SignedIn> known;
    if (!ask.route().empty())
        known = caller_of_sign_in(term, ask.credential(), ask.route());
    else if (auto caller = caller_of(term, ask.credential(), ask.address()))
        known = SignedIn{.caller = std::move(*caller)};
    const bool by_address = is_by_address(term, ask, known);
    const bool of_cluster = is_of_cluster(ask.route());
    if (of_cluster && by_address && !caller_of_mark(term, known->caller.credential, ask.address()))
        known.reset();
    uplink::Frame answer = verdict(term, known, ask.tenant(), ask.project());
    auto& into = *answer.mutable_authenticate_answer();
    if (of_cluster) limit_to_cluster(term, known, ask.route(), into);
    into.set_by_address(by_address);
    return answer;
}

// Of what a gateway believes.
uplink::Frame over_among(const Term& term, const uplink::TrustedMarks& trusted) {
    uplink::Frame answer;
    auto& ended = *answer.mutable_credentials_ended();
    for (const std::string& mark : trusted.marks())
        if (is_over(term, mark)) ended.add_marks(mark);
    return answer;
}

Task<> redeem(TermPtr term, wire::Link& link, std::uint64_t call, uplink::RedeemRequest request) {
    auto session = redeem_code(*term, request.code(), request.route());
    if (!session) {
        CO_TRY(co_await link.answer(call, wire::failure_frame(session.error())));
        co_return Result<>{};
    }
    CO_TRY(co_await term->commit());
    const auto caller = caller_of_sign_in(*term, *session, request.route());
    uplink::Frame answer = verdict(*term, caller, caller ? caller->caller.tenant : "", "");
    answer.mutable_authenticate_answer()->set_session(*session);
    co_return co_await link.answer(call, std::move(answer));
}

// The session is over for good when this is answered.
Task<> end_session(TermPtr term, wire::Link& link, std::uint64_t call, uplink::SignOutRequest request) {
    sign_out(*term, request.session(), request.route());
    CO_TRY(co_await term->commit());
    uplink::Frame answer;
    answer.mutable_sign_out_answer();
    co_return co_await link.answer(call, std::move(answer));
}

// Nobody is inside before it is written down.
Task<> enter(TermPtr term, wire::Link& link, std::uint64_t call, uplink::EnterRequest request) {
    uplink::Frame answer;
    if (is_of_page(request)) {
        const auto told = answer_page(*term, request, *answer.mutable_enter_answer());
        if (!told) co_return co_await link.answer(call, wire::failure_frame(told.error()));
        CO_TRY(co_await (request.kind() == "start" ? term->commit() : term->settled()));
        co_return co_await link.answer(call, std::move(answer));
    }
    Result<> entered = enter_instance(*term, request, *answer.mutable_enter_answer());
    if (entered && term->read_only()) entered = std::unexpected(*term->read_only());
    if (!entered) co_return co_await link.answer(call, wire::failure_frame(entered.error()));
    CO_TRY(co_await term->commit());
    co_return co_await link.answer(call, std::move(answer));
}

}  // namespace

namespace {

void add_gateway(Term& term, wire::Link& link, const std::string& name, const std::string& version) {
    constexpr std::size_t version_max = 64;
    term.add_gateway(link);
    GatewayLive& live = term.look().live.gateway_links[name];
    live.version = version.substr(0, version_max);
    if (live.links++ == 0) live.since = term.ports().timers.wall().time_since_epoch().count();
}

void drop_gateway(Term& term, wire::Link& link, const std::string& name) {
    term.drop_gateway(link);
    GatewayLive& live = term.look().live.gateway_links[name];
    if (--live.links == 0) live.since = term.ports().timers.wall().time_since_epoch().count();
}

}  // namespace

Task<> serve_gateway(TermPtr term, wire::Link& link, std::string name) {
    const uplink::Frame hello = CO_TRY(co_await link.receive());
    if (!hello.has_gateway_hello())
        co_return fail(Code::invalid, fmt::format("gateway {} did not say hello", name));
    register_gateway(term, name, hello.gateway_hello());
    CO_TRY(co_await term->commit());
    add_gateway(*term, link, name, hello.gateway_hello().version());
    Outbox::of(*term).send_all_routes(link);
    log_info("gateway {} is here, from {}", name, link.address());
    Result<> ended;
    while (!term->ended()) {
        auto frame = co_await link.receive();
        if (!frame) {
            ended = std::unexpected(frame.error());
            break;
        }
        if (term->ended()) break;  // Meanwhile: what is in memory may be old.
        if (frame->has_authenticate_request()) {
            ended = co_await link.answer(frame->call(), authenticate(*term, frame->authenticate_request()));
        } else if (frame->has_redeem_request()) {
            ended = co_await redeem(term, link, frame->call(), frame->redeem_request());
        } else if (frame->has_sign_out_request()) {
            ended = co_await end_session(term, link, frame->call(), frame->sign_out_request());
        } else if (frame->has_enter_request()) {
            ended = co_await enter(term, link, frame->call(), frame->enter_request());
        } else if (frame->has_trusted_marks()) {
            ended = co_await link.answer(frame->call(), over_among(*term, frame->trusted_marks()));
        } else if (frame->has_renew_request()) {
            ended = co_await answer_renewal(term, link, std::move(*frame));
        } else if (frame->has_holding()) {
            note_holding(term->desk("gateway/" + name), term->ports().authority, term->ports().digest,
                         "gateway/" + name, frame->holding().certificate(), frame->holding().authority());
            ended = co_await term->commit();
        } else if (frame->has_enter_ended()) {
            note_entered(*term, frame->enter_ended());
            ended = co_await term->commit();
        }
        if (!ended) break;
    }
    drop_gateway(*term, link, name);
    co_return ended;
}

namespace {

Result<std::string> renewed(Term& term, std::string_view who, const uplink::RenewRequest& request) {
    Authority& authority = term.ports().authority;
    const CertificateFacts present = TRY(authority.check(request.certificate()));
    const std::string key = TRY(authority.key_fingerprint(request.csr()));
    if (present.identity.text() != who || present.key_fingerprint != key)
        return fail(Code::forbidden, fmt::format("{} may renew its own certificate, of the same key", who),
                    "key_differs");
    TRY(may_follow(term.desk(std::string{who}), term.ports(), present));
    return TRY(authority.sign(request.csr(), present.identity, present.names,
                              term.ports().timers.wall() - clock_tolerance,
                              term.settings().certificate_life + clock_tolerance))
        .certificate;
}

// Of a role whose certificate has expired nothing else is heard.
Task<> serve_expired(TermPtr term, wire::Link& link) {
    uplink::Frame frame = CO_TRY(co_await link.receive());
    if (!frame.has_renew_request())
        co_return fail(
            Code::unauthenticated,
            fmt::format("the certificate of {} has expired; it may only renew it", link.identity()));
    CO_TRY(co_await answer_renewal(term, link, std::move(frame)));
    co_return co_await link.flush(seconds{5});
}

}  // namespace

Task<> answer_renewal(TermPtr term, wire::Link& link, uplink::Frame request) {
    const auto made = renewed(*term, link.identity(), request.renew_request());
    term->commit_then(nullptr);  // What was learned of its key.
    uplink::Frame answer;
    if (made) {
        answer.mutable_join_answer()->set_certificate(*made);
        answer.mutable_join_answer()->set_authority(term->ports().authority.certificate());
    } else {
        answer = wire::failure_frame(made.error());
    }
    co_return co_await link.answer(request.call(), std::move(answer));
}

Task<> serve_link(TermPtr term, StreamPtr stream) {
    const std::string identity{stream->identity()};
    const bool expired = stream->expired();
    wire::Link link{term->ports().loop, term->ports().timers, std::move(stream)};
    TaskGroup group{term->ports().loop};
    group.start("pings", link.keep_alive(seconds{5}, seconds{20}));
    Result<> ended;
    if (expired && (identity.starts_with("access/") || identity.starts_with("gateway/")))
        ended = co_await serve_expired(term, link);
    else if (identity.starts_with("access/"))
        ended = co_await serve_access(term, link, identity.substr(7));
    else if (identity.starts_with("gateway/"))
        ended = co_await serve_gateway(term, link, identity.substr(8));
    else
        ended = fail(Code::forbidden, fmt::format("{} has no business here", identity));
    link.close();
    co_await group.close();
    if (!ended && ended.error().code != Code::cancelled)
        log_info("{} is gone: {}", identity, ended.error().message);
    co_return Result<>{};
}

}  // namespace hostler::master
