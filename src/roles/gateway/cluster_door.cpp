#include "roles/gateway/cluster_door.h"

#include <fmt/format.h>

#include "core/log.h"
#include "roles/gateway/credentials.h"
#include "roles/gateway/guarded.h"
#include "roles/gateway/pages.h"
#include "roles/gateway/proxy_limits.h"

namespace hostler::gateway {

namespace {

constexpr std::string_view prefix = "/clusters/";
constexpr std::string_view user_prefix = "hostler:";
constexpr std::size_t id_max = 64;
const http::Rewrite no_rewrite;

// As the API machinery of Kubernetes names it.
std::string_view reason_of(int status) {
    switch (status) {
        case 400: return "BadRequest";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "NotFound";
        case 429: return "TooManyRequests";
        case 503: return "ServiceUnavailable";
        case 504: return "Timeout";
        default: return "InternalError";
    }
}

std::string token_in(const http::RequestHead& head) {
    std::string_view shown = head.find("Authorization");
    constexpr std::string_view scheme = "Bearer ";
    if (shown.size() < scheme.size() || !http::same_name(shown.substr(0, scheme.size()), scheme)) return {};
    shown = http::trimmed(shown.substr(scheme.size()));
    return shown.size() > credential_max ? std::string{} : std::string{shown};
}

// The API server would believe such a header: this gateway alone says who asks.
bool names_somebody(const http::RequestHead& head) {
    constexpr std::string_view begin = "impersonate";
    return std::ranges::any_of(head.fields, [&](const auto& field) {
        return field.name.size() >= begin.size() &&
               http::same_name(field.name.substr(0, begin.size()), begin);
    });
}

}  // namespace

struct ClusterDoor::Asked {
    std::string cluster;
    std::string token;
    std::string target;           // Below the API server's root.
    std::vector<RoutePtr> nodes;  // Of its control plane, those that are ready.
};

ClusterDoor::ClusterDoor(const Ports& ports, const Settings& settings, RouteTable& routes, Gatekeeper& keeper,
                         Dial dial)
    : ports_(ports),
      settings_(settings),
      routes_(routes),
      keeper_(keeper),
      dial_(std::move(dial)),
      proxy_(ports.timers, proxy_limits_of(settings)) {}

bool ClusterDoor::is_here(std::string_view target) { return target.starts_with(prefix); }

void ClusterDoor::routes_changed() {
    proxy_.pool().forget_if([&](std::string_view cluster) {
        return routes_.below(fmt::format("{}{}/", prefix, cluster)).empty();
    });
    std::erase_if(under_way_, [](const auto& cluster) { return cluster.second == 0; });
}

Task<> ClusterDoor::serve(http::Inlet& inlet, std::string client) {
    ++counters_.requests;
    const std::string_view rest = std::string_view{inlet.head().target}.substr(prefix.size());
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    Asked asked{.cluster = std::string{rest.substr(0, std::min(end, id_max))},
                .token = token_in(inlet.head()),
                .target = std::string{rest.substr(end)},
                .nodes = {}};
    if (!asked.target.starts_with('/')) asked.target.insert(0, 1, '/');
    asked.nodes = routes_.below(fmt::format("{}{}/", prefix, asked.cluster));
    auto by = co_await admit(asked, std::move(client));
    CO_TRY(co_await check_cancelled());
    if (!by) co_return co_await refuse(inlet, by.error());
    inlet.is_known();
    co_return co_await pass(inlet, asked, std::move(*by));
}

// By what the client comes in. Errors: unauthenticated, not_found, exhausted, unavailable. Who has no token
// for the cluster does not learn whether it exists.
Task<Question> ClusterDoor::admit(const Asked& asked, std::string client) {
    const Error unknown{Code::unauthenticated,
                        "this token has expired, was revoked or is for another cluster; "
                        "`hostler cluster credential` gives another one"};
    Question by{.credential = asked.token, .tenant = "", .route = fmt::format("{}{}", prefix, asked.cluster)};
    if (by.credential.empty())
        co_return fail(Code::unauthenticated,
                       "this needs a token of the cluster; `hostler cluster kubeconfig` writes a kubeconfig "
                       "that gets one");
    const bool ready = !asked.nodes.empty();
    if (ready) by.tenant = asked.nodes.front()->tenant, by.project = asked.nodes.front()->project;
    switch (CO_TRY(co_await keeper_.admit(by, std::move(client)))) {
        case Admission::allowed:
            if (ready) co_return by;
            co_return fail(Code::unavailable,
                           fmt::format("no node of the control plane of cluster {} is ready; "
                                       "`hostler cluster explain {}` says why",
                                       asked.cluster, asked.cluster));
        case Admission::nobody: co_return std::unexpected(unknown);
        case Admission::elsewhere:
            co_return fail(Code::not_found, fmt::format("there is no cluster {}", asked.cluster));
        case Admission::too_many:
            co_return fail(Code::exhausted,
                           "too many tokens are asked about from this address; try again in a moment");
        case Admission::unavailable: break;
    }
    co_return fail(Code::unavailable,
                   "no master answers, so new tokens are refused right now; try again in a moment");
}

Task<> ClusterDoor::refuse(http::Inlet& inlet, const Error& error) {
    ++counters_.refused;
    const int status = http_status(error.code);
    http::Response response{.status = status};
    response.headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}};
    if (status == 401) response.headers.add("WWW-Authenticate", "Bearer realm=\"hostler\"");
    if (status == 429 || status == 503) response.headers.add("Retry-After", "1");
    response.body = fmt::format(
        R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":{},"reason":"{}","code":{}}})",
        json_text(error.message), reason_of(status), status);
    co_return co_await inlet.respond(std::move(response));
}

Task<> ClusterDoor::pass(http::Inlet& inlet, const Asked& asked, Question by) {
    const auto granted = keeper_.granted(by);
    if (!granted || granted->groups.empty())
        co_return co_await refuse(
            inlet, {Code::unavailable, "no master says what this token may do; try again in a moment"});
    if (names_somebody(inlet.head()))
        co_return co_await refuse(
            inlet, {Code::forbidden,
                    "a request through the gateway is its own user's: impersonation is not passed on"});
    std::size_t& under_way = under_way_[asked.cluster];
    if (under_way >= settings_.instance_requests_max)
        co_return co_await refuse(inlet,
                                  {Code::exhausted, "too many requests to this cluster are under way"});
    struct Counted {
        std::size_t &cluster, &all;
        Counted(std::size_t& of, std::size_t& in) : cluster(of), all(in) { ++cluster, ++all; }
        ~Counted() { --cluster, --all; }
    } const counted{under_way, requests_};

    static constexpr std::string_view removed[] = {"Authorization",   "Cookie",        "Forwarded",
                                                   "X-Forwarded-For", "X-Remote-User", "X-Remote-Group",
                                                   key_header};
    http::Rewrite rewrite{.remove = removed, .host = "kubernetes", .target = asked.target};
    rewrite.set.push_back({"Impersonate-User", fmt::format("{}{}", user_prefix, granted->principal)});
    for (const std::string& group : granted->groups) rewrite.set.push_back({"Impersonate-Group", group});
    // The token expires within minutes. A watch that it opened ends with the credential that made the token.
    by.credential = granted->mark;
    by.route.insert(0, Question::of_mark);
    const auto outcome = CO_TRY(co_await guarded(
        ports_.loop, keeper_.stays(), std::move(by), inlet,
        proxy_.pass(
            inlet, asked.cluster, [this, &asked] { return dial(asked.nodes); }, rewrite, no_rewrite)));
    if (outcome.status != 0) ++counters_.passed;
    if (outcome.status != 0 || outcome.client_gone || !outcome.error) co_return Result<>{};
    ++counters_.failed;
    log_debug("gateway: cluster {}: {}", asked.cluster, outcome.error->message);
    co_return co_await refuse(inlet, *outcome.error);
}

// By the first node that answers.
Task<StreamPtr> ClusterDoor::dial(const std::vector<RoutePtr>& nodes) {
    Result<StreamPtr> stream =
        fail(Code::unavailable, "the cluster has no node of a control plane that is ready");
    for (const RoutePtr& node : nodes) {
        stream = co_await dial_(node);
        CO_TRY(co_await check_cancelled());
        if (stream) break;
    }
    co_return std::move(stream);
}

}  // namespace hostler::gateway
