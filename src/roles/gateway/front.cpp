#include "roles/gateway/front.h"

#include "core/client_address.h"
#include "core/log.h"
#include "core/percent.h"
#include "http/transport_security.h"
#include "roles/gateway/asked.h"
#include "roles/gateway/guarded.h"
#include "roles/gateway/proxy_limits.h"

namespace hostler::gateway {

namespace {

using std::chrono::seconds;

// Holds one of a bounded number for as long as it lives.
class Held {
public:
    Held(std::size_t& count, std::size_t most) : count_(count), held_(count < most) {
        if (held_) ++count_;
    }
    ~Held() {
        if (held_) --count_;
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    explicit operator bool() const { return held_; }

private:
    std::size_t& count_;
    bool held_;
};

std::string without_port(std::string_view address) {
    const auto colon = address.rfind(':');
    if (colon == std::string_view::npos || address.find(']', colon) != std::string_view::npos)
        return std::string{address};
    return std::string{address.substr(0, colon)};
}

http::ServerLimits limits_of(const Settings& settings) {
    return {.connections_max = settings.connections_max,
            .first_time = seconds{settings.first_byte_s},
            .keep_alive_time = seconds{settings.keep_alive_s},
            .head_time = seconds{settings.head_s},
            .body_time = seconds{settings.body_s},
            .write_time = seconds{settings.body_s}};
}

http::Rewrite without_own_cookies_set(std::string_view transport_security) {
    http::Rewrite rewrite{
        .drop_cookies = {fmt::format("{}*", cookie_prefix), fmt::format("{}*", secure_cookie_prefix)}};
    if (!transport_security.empty())
        rewrite.set = {{"Strict-Transport-Security", std::string{transport_security}}};
    return rewrite;
}

bool changes_state(std::string_view method) {
    return method != "GET" && method != "HEAD" && method != "OPTIONS";
}

}  // namespace

// A connection among those of its client.
class Front::Counted {
public:
    Counted(Clients& all, std::string address)
        : all_(all), client_(all.emplace(std::move(address), Client{}).first) {
        ++client_->second.connections;
    }
    ~Counted() {
        if (--client_->second.connections == 0) all_.erase(client_);
    }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    std::size_t& requests() { return client_->second.requests; }

private:
    Clients& all_;
    Clients::iterator client_;
};

struct Front::Peer {
    const std::uint16_t own_port;
    // The client; a trusted proxy sends requests of different clients on one connection.
    std::string asks{};  // As of an inlet.
    std::string address{};
    std::optional<Counted> client{};
    std::string scheme{};  // As the client sees it.
    bool by_tls = false;   // `scheme` may say https where only the configured URL does.
    // Mostly the same from request to request: the Host that was asked for, what it means, and what an
    // instance is told in place of what the client said of itself.
    std::string asked_for{};
    std::optional<HostPort> host{};
    bool keeps_to_https = false;
    http::Rewrite forwarding{};
};

Front::Front(const Ports& ports, const Settings& settings, RouteTable& routes, MasterLink& master,
             Gatekeeper& keeper, Dial dial)
    : ports_(ports),
      settings_(settings),
      routes_(routes),
      master_(master),
      keeper_(keeper),
      dial_(std::move(dial)),
      limits_(limits_of(settings)),
      transport_security_(http::transport_security(seconds{settings.hsts_s})),
      response_rewrite_(without_own_cookies_set("")),
      secure_response_rewrite_(without_own_cookies_set(transport_security_)),
      proxy_(ports.timers, proxy_limits_of(settings)) {}

std::size_t Front::requests() const {
    std::size_t all = 0;
    for (const auto& [instance, under_way] : instance_requests_) all += under_way;
    return all;
}

Task<> Front::connection(StreamPtr stream, std::uint16_t own_port, http::Drain& drain, http::Place& place) {
    Peer peer{.own_port = own_port};
    http::Inlet inlet{std::move(stream), ports_.timers, limits_, &drain, &place};
    note_client(peer, inlet);
    while (true) {
        const auto more = co_await inlet.next();
        if (!more || !*more) break;  // A client's faults are the client's.
        note_client(peer, inlet);
        if (!co_await request(inlet, peer)) break;
    }
    co_return co_await check_cancelled();
}

// Mostly the one of the request before.
void Front::note_client(Peer& peer, const http::Inlet& inlet) {
    const bool told = !inlet.scheme().empty();
    const auto scheme = told ? inlet.scheme() : std::string_view{scheme_};
    const bool by_tls = told ? scheme == "https" : ports_.arrival.certificate != nullptr;
    if (peer.client && peer.asks == inlet.client() && peer.scheme == scheme && peer.by_tls == by_tls) return;
    peer.by_tls = by_tls;
    peer.asks = inlet.client();
    peer.address = without_port(peer.asks);
    peer.scheme = scheme;
    peer.host.reset();  // The headers for instances name the client: they are made again.
    peer.client.emplace(clients_, client_of(peer.asks));
}

void Front::routes_changed() {
    std::set<std::string, std::less<>> live;
    for (const auto& [name, route] : routes_.all())
        if (route->state == State::running) live.insert(route->pool_key);
    proxy_.pool().forget_if([&](std::string_view key) { return !live.contains(key); });
    std::erase_if(instance_requests_, [](const auto& instance) { return instance.second == 0; });
}

Task<> Front::request(http::Inlet& inlet, Peer& peer) {
    ++counters_.requests;
    const Held held{peer.client->requests(), settings_.client_requests_max};
    if (!held) co_return co_await say(inlet, {.notice = Notice::too_many});
    // TRACE is answered with the request itself, our headers among it; and nobody can tell what a method that
    // the parser does not know does to an instance.
    if (!inlet.head().method_known || inlet.head().method == "TRACE")
        co_return co_await inlet.respond(
            http::text_response(501, fmt::format("{} is not passed on here", inlet.head().method)));
    if (!peer.host || peer.asked_for != inlet.head().host) note_host(peer, inlet.head().host);
    const auto& host = peer.host;
    inlet.set_transport_security(peer.keeps_to_https ? std::string_view{transport_security_}
                                                     : std::string_view{});
    if (!host) co_return co_await say(inlet, {.notice = Notice::bad_host});
    const std::uint16_t own_port = peer.own_port;
    Asked asked{.inlet = inlet,
                .host = *host,
                .route = find(*host, own_port),
                .own_port = own_port,
                .client = peer.address,
                .scheme = peer.scheme,
                .keeps_to_https = peer.keeps_to_https,
                .forwarding = peer.forwarding};
    // Most requests: a public port of an instance that runs. Nobody has to be asked.
    if (asked.route && asked.route->open_to_all && asked.route->state == State::running &&
        !is_own_path(inlet.head().target))
        co_return co_await pass(asked);
    if (asked.route) co_return co_await on_route(asked);
    const bool common =
        own_port == 0 && (settings_.domain.empty() || !label_below(host->name, settings_.domain));
    if (common && entrance_ && Entrance::is_here(inlet.head().target))
        co_return co_await entrance_->serve(inlet, *host, peer.address, peer.scheme);
    if (common && clusters_ && ClusterDoor::is_here(inlet.head().target))
        co_return co_await clusters_->serve(inlet, peer.address);
    if (common && inlet.head().target == "/healthz") co_return co_await health(inlet);
    if (common && inlet.head().target == "/" && (settings_.domain.empty() || host->name == settings_.domain))
        co_return co_await front_door(inlet);
    if (common) co_return co_await say(inlet, {.notice = Notice::not_ours});
    co_return co_await say(inlet, {.notice = master_.told() ? Notice::no_such_instance : Notice::not_ready});
}

RoutePtr Front::find(const HostPort& host, std::uint16_t own_port) const {
    if (own_port == 0) {
        const auto label = label_below(host.name, settings_.domain);
        return label ? routes_.find(*label) : nullptr;
    }
    return routes_.on_port(own_port);
}

Task<> Front::on_route(Asked& asked) {
    const auto& head = asked.head();
    if (is_own_path(head.target)) co_return co_await own_path(asked);
    asked.shown = shown_by(head.fields, cookie_name(asked));
    const Route& route = *asked.route;
    // A public port needs nobody's name; who shows one may yet be told more of why it does not run.
    auto admission = Admission::nobody;
    if (!route.open_to_all || route.state != State::running) admission = CO_TRY(co_await who(asked));
    if (admission == Admission::allowed) asked.inlet.is_known();
    if (!route.open_to_all) {
        if (admission != Admission::allowed) co_return co_await turn_away(asked, admission);
        if (asked.by_cookie && acts_from_elsewhere(asked))
            co_return co_await say(asked.inlet, {.notice = Notice::other_origin});
    }
    if (route.state == State::running) co_return co_await pass(asked);
    co_return co_await show_state(asked, admission);
}

Task<Admission> Front::who(Asked& asked) {
    const auto& tenant = asked.route->tenant;
    auto best = Admission::nobody;
    if (!asked.shown.key.empty()) {
        Question question{asked.shown.key, tenant, "", asked.route->project};
        best = CO_TRY(co_await keeper_.admit(question, asked.client));
        if (best == Admission::allowed) {
            asked.by = question;
            co_return best;
        }
    }
    for (const auto& cookie : asked.shown.cookies) {
        Question question{cookie, tenant, asked.route->name, asked.route->project};
        const auto admission = CO_TRY(co_await keeper_.admit(question, asked.client));
        asked.by_cookie = admission == Admission::allowed;
        if (asked.by_cookie) {
            asked.by = question;
            co_return admission;
        }
        if (best == Admission::nobody) best = admission;
    }
    co_return best;
}

// A browser sends cookies with whatever any page makes it send: what acts must come from the instance's own
// pages.
bool Front::acts_from_elsewhere(const Asked& asked) const {
    return (changes_state(asked.head().method) || asked.head().upgrade) && sent_from_elsewhere(asked);
}

bool Front::sent_from_elsewhere(const Asked& asked) const {
    const auto& head = asked.head();
    if (const auto origin = head.find("Origin"); !origin.empty())
        return !same_origin(origin, asked.scheme, asked.host);
    const auto site = head.find("Sec-Fetch-Site");
    return !site.empty() && site != "same-origin" && site != "none";
}

Task<> Front::turn_away(Asked& asked, Admission admission) {
    switch (admission) {
        case Admission::elsewhere: co_return co_await say(asked.inlet, {.notice = Notice::not_yours});
        case Admission::unavailable:
            co_return co_await say(asked.inlet, {.notice = Notice::sign_in_unavailable});
        case Admission::too_many: co_return co_await say(asked.inlet, {.notice = Notice::too_many});
        case Admission::allowed:
        case Admission::nobody: break;
    }
    const auto url = sign_in_url(asked);
    if (asked.reader() == Reader::program || url.empty() || !asked.shown.key.empty())
        co_return co_await say(asked.inlet, {.notice = Notice::sign_in});
    http::Response response{.status = 302};
    response.headers = {{"Location", url}, {"Cache-Control", "no-store"}, {"Referrer-Policy", "no-referrer"}};
    co_return co_await asked.inlet.respond(std::move(response));
}

Task<> Front::own_path(Asked& asked) {
    const auto target = asked.head().target;
    const auto path = target.substr(0, target.find('?'));
    if (path == "/.hostler/session" && asked.head().method == "GET") co_return co_await redeem(asked);
    if (path == "/.hostler/start" && asked.head().method == "POST") co_return co_await start(asked);
    if (path == "/.hostler/sign-out") co_return co_await sign_out(asked);
    co_return co_await say(asked.inlet, {.notice = Notice::bad_path});
}

Task<> Front::redeem(Asked& asked) {
    const auto target = asked.head().target;
    const auto query =
        target.find('?') == std::string_view::npos ? std::string_view{} : target.substr(target.find('?') + 1);
    const auto code = query_value(query, "code").value_or("");
    const auto to = safe_path(query_value(query, "to").value_or("/"));
    const Page refused{.notice = Notice::code_refused, .link = to, .link_text = "Sign in again"};
    if (code.empty() || code.size() > credential_max) co_return co_await say(asked.inlet, refused);
    const auto session = co_await keeper_.redeem(code, asked.route->name, asked.client);
    if (!session && session.error().code == Code::forbidden) co_return co_await say(asked.inlet, refused);
    if (!session) {
        CO_TRY(co_await check_cancelled());
        const bool busy = session.error().code == Code::exhausted;
        co_return co_await say(asked.inlet,
                               {.notice = busy ? Notice::too_many : Notice::sign_in_unavailable});
    }
    http::Response response{.status = 303};
    response.headers = {{"Location", to},
                        {"Set-Cookie", fmt::format("{}={}; Path=/; HttpOnly; SameSite=Lax{}",
                                                   cookie_name(asked), *session, secure(asked))},
                        {"Cache-Control", "no-store"},
                        {"Referrer-Policy", "no-referrer"}};
    co_return co_await asked.inlet.respond(std::move(response));
}

Task<> Front::sign_out(Asked& asked) {
    if (sent_from_elsewhere(asked)) co_return co_await say(asked.inlet, {.notice = Notice::other_origin});
    const auto name = cookie_name(asked);
    const auto shown = shown_by(asked.head().fields, name);
    Page page{.notice = Notice::signed_out};
    for (const auto& cookie : shown.cookies) {
        const auto ended = co_await keeper_.sign_out(cookie, asked.route->name, asked.client);
        CO_TRY(co_await check_cancelled());
        if (!ended) co_return co_await say(asked.inlet, {.notice = Notice::too_many});
        if (!*ended)
            page.detail =
                "The control plane does not answer right now. It gets the request as soon as it does.";
    }
    auto response = answer(page, asked.reader(), new_secret(ports_.random, "n"));
    response.headers.add(
        "Set-Cookie", fmt::format("{}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax{}", name, secure(asked)));
    co_return co_await asked.inlet.respond(std::move(response));
}

Task<> Front::pass(Asked& asked) {
    const RoutePtr route = asked.route;
    const Held held{instance_requests_[route->instance], settings_.instance_requests_max};
    if (!held) co_return co_await say(asked.inlet, {.notice = Notice::too_busy});
    auto passed = (!route->open_to_all && asked.by)
                      ? guarded(ports_.loop, keeper_.stays(), *asked.by, asked.inlet, forward(asked))
                      : forward(asked);
    const auto outcome = CO_TRY(co_await std::move(passed));
    if (outcome.upgraded) ++counters_.upgraded;
    if (outcome.status != 0) {
        ++counters_.passed;
        co_return Result<>{};
    }
    if (outcome.client_gone || !outcome.error) co_return Result<>{};
    ++counters_.failed;
    const Error& error = *outcome.error;
    Page page{.about = route->shown_as.empty() ? route->instance : route->shown_as};
    const int status = http::gateway_status(error);
    page.notice = status == 400   ? Notice::bad_request
                  : status == 504 ? Notice::upstream_late
                                  : Notice::upstream_failed;
    if (error.code == Code::exhausted) page.notice = Notice::too_busy;
    page.detail = error.message;
    log_debug("gateway: {} of instance {}: {}", status, route->instance, error.message);
    co_return co_await asked.inlet.respond(answer(page, asked.reader(), new_secret(ports_.random, "n")));
}

Task<http::Outcome> Front::forward(Asked& asked) {
    const RoutePtr route = asked.route;
    const auto cleaned = without_credentials(asked);
    co_return co_await proxy_.pass(
        asked.inlet, route->pool_key, [this, &route] { return dial_(route); },
        cleaned ? *cleaned : asked.forwarding, response_rewrite(asked));
}

// What tenant code sees in place of what was asked: nothing of ours, and who asked by our word alone.
void Front::note_host(Peer& peer, std::string_view host) const {
    static constexpr std::string_view removed[] = {
        key_header,           "X-Real-IP",      "X-Forwarded-Port", "X-Forwarded-Server",
        "X-Forwarded-Prefix", "X-Forwarded-By", "X-Original-URL",   "X-Rewrite-URL"};
    peer.asked_for = host;
    peer.host = host_of(host);
    peer.keeps_to_https = peer.by_tls && http::may_keep_to_https(host);
    peer.forwarding.remove = removed;
    peer.forwarding.set = {
        {"X-Forwarded-For", peer.address},
        {"X-Forwarded-Proto", peer.scheme},
        {"X-Forwarded-Host", peer.asked_for},
        {"Forwarded", fmt::format("for=\"{}\";host=\"{}\";proto={}", peer.address, host, peer.scheme)}};
}

// For a request that shows a key or a cookie of ours: the same, without them. nullopt: it shows none.
std::optional<http::Rewrite> Front::without_credentials(const Asked& asked) const {
    std::vector<http::Rewrite::Field> set;
    bool own_cookie = false;
    std::string cookies;
    for (const auto& [name, value] : asked.head().fields) {
        if (name.size() == 13 && http::same_name(name, "Authorization") && carries_key(value))
            set.push_back({"Authorization", ""});
        if (name.size() != 6 || !http::same_name(name, "Cookie")) continue;
        auto left = without_own_cookies(value);
        own_cookie |= left != value;
        if (!cookies.empty() && !left.empty()) cookies += "; ";
        cookies += left;
    }
    if (own_cookie) set.push_back({"Cookie", std::move(cookies)});
    if (set.empty()) return std::nullopt;
    http::Rewrite rewrite = asked.forwarding;
    rewrite.set.insert(rewrite.set.begin(), std::make_move_iterator(set.begin()),
                       std::make_move_iterator(set.end()));
    return rewrite;
}

Task<> Front::say(http::Inlet& inlet, Page page) {
    const auto reader = reader_of(inlet.head().method, inlet.head().find("Accept"));
    co_return co_await inlet.respond(answer(page, reader, new_secret(ports_.random, "n")));
}

Task<> Front::health(http::Inlet& inlet) {
    const bool ready = routes_.complete() && !leaving_;
    http::Response response{.status = ready ? 200 : 503};
    response.headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}};
    response.body = fmt::format("{{\"ready\":{},\"linked\":{},\"routes\":{}}}\n", ready, master_.linked(),
                                routes_.all().size());
    co_return co_await inlet.respond(std::move(response));
}

std::string Front::sign_in_url(const Asked& asked) const {
    const auto& page = master_.sign_in();
    if (page.empty()) return {};
    const auto back = fmt::format("{}://{}{}", asked.scheme, asked.head().host, asked.head().target);
    return page + (page.find('?') == std::string::npos ? "?" : "&") + "return=" + percent_encode(back);
}

std::string_view Front::secure(const Asked& asked) { return asked.scheme == "https" ? "; Secure" : ""; }

const http::Rewrite& Front::response_rewrite(const Asked& asked) const {
    return asked.keeps_to_https ? secure_response_rewrite_ : response_rewrite_;
}

// Ports of one host name share their cookies, so each port has a name of its own. Under TLS the name is one
// that browsers take from this very host alone, and not from a neighbour below the same domain.
std::string Front::cookie_name(const Asked& asked) {
    const std::string_view name = asked.scheme == "https" ? secure_session_cookie : session_cookie;
    return asked.own_port == 0 ? std::string{name} : fmt::format("{}_{}", name, asked.own_port);
}

}  // namespace hostler::gateway
