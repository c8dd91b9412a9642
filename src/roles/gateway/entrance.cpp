#include "roles/gateway/entrance.h"

#include <charconv>

#include "core/client_address.h"
#include "core/log.h"
#include "http/pipe.h"
#include "http/websocket.h"
#include "proto/uplink.pb.h"
#include "roles/gateway/credentials.h"
#include "roles/gateway/pages.h"

namespace hostler::gateway {

namespace {

using std::chrono::seconds;

constexpr std::string_view prefix = "/v1/instances/";
constexpr std::string_view kinds[] = {"exec", "port", "get", "put", "look"};
constexpr std::size_t words_max = 256;
constexpr std::size_t word_bytes_max = 8 * 1024;
constexpr std::size_t clients_max = 10'000;
// Both ends of a session say something every fifteen seconds.
constexpr Duration idle_time = seconds{90};

std::vector<std::pair<std::string, std::string>> query_of(std::string_view query) {
    std::vector<std::pair<std::string, std::string>> all;
    while (!query.empty() && all.size() < words_max) {
        const auto part = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), part.size() + 1));
        const auto equals = part.find('=');
        all.emplace_back(
            percent_decoded(part.substr(0, equals)),
            equals == std::string_view::npos ? std::string{} : percent_decoded(part.substr(equals + 1)));
    }
    return all;
}

Result<std::uint32_t> number_of(const std::string& name, const std::string& value, std::uint32_t most) {
    std::uint32_t number = 0;
    const auto [end, wrong] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (wrong != std::errc{} || end != value.data() + value.size() || number > most)
        return fail(Code::invalid, fmt::format("{}: '{}' is no number up to {}", name, value, most));
    return number;
}

Result<> take(uplink::TunnelOpen& open, const std::string& name, const std::string& value) {
    if (value.size() > word_bytes_max) return fail(Code::invalid, fmt::format("{} is too long", name));
    const bool yes = value == "true";
    if (name == "command") open.add_command(value);
    if (name == "terminal") open.set_terminal(yes);
    if (name == "input") open.set_input(yes);
    if (name == "resume") open.set_resume(yes);
    if (name == "session") open.set_session(value);
    if (name == "user") open.set_user(value);
    if (name == "folder") open.set_folder(value);
    if (name == "path") open.set_path(value);
    if (name == "port") open.set_port(TRY(number_of(name, value, 65535)));
    if (name == "rows") open.set_rows(TRY(number_of(name, value, 65535)));
    if (name == "columns") open.set_columns(TRY(number_of(name, value, 65535)));
    if (name == "env") {
        auto& variable = *open.add_environment();
        const auto equals = value.find('=');
        variable.set_name(value.substr(0, equals));
        variable.set_value(equals == std::string::npos ? "" : value.substr(equals + 1));
    }
    return {};
}

std::string detail_of(const uplink::TunnelOpen& open) {
    if (open.kind() == "port") return std::to_string(open.port());
    if (open.kind() != "exec") return open.path();
    std::string words;
    for (const auto& word : open.command()) words += (words.empty() ? "" : " ") + word;
    return words;
}

// Among the subprotocols, since a browser lets a page set no header of a WebSocket.
constexpr std::string_view session_protocol = "hostler.session";
constexpr std::string_view ticket_protocol = "hostler.ticket.";
constexpr std::size_t origin_max = 512;

std::unexpected<Error> ticket_unknown() {
    return fail(Code::unauthenticated,
                "this ticket was used, has expired, or is for something else; ask for another one",
                "ticket_unknown");
}

std::unexpected<Error> key_unknown() {
    return fail(Code::unauthenticated, "this key is not known here, or no longer", "key_unknown");
}

// Who asks, as far as the request says.
struct Credential {
    std::string secret;
    bool ticket = false;
    std::string origin{};  // Of the page that shows a ticket; the master compares it with the ticket's.
};

// nullopt: no ticket is shown.
Result<std::optional<Credential>> ticket_in(const http::RequestHead& head) {
    std::optional<Credential> shown;
    bool session = false;
    for (const auto& [name, value] : head.fields) {
        if (!http::same_name(name, "Sec-WebSocket-Protocol")) continue;
        http::each_item(value, [&](std::string_view item) {
            session |= item == session_protocol;
            if (item.starts_with(ticket_protocol))
                shown = Credential{std::string{item.substr(ticket_protocol.size())}, true};
        });
    }
    if (!shown) return std::nullopt;
    const auto origin = head.find("Origin");
    if (shown->secret.empty() || shown->secret.size() > credential_max || origin.size() > origin_max)
        return ticket_unknown();
    // A browser closes a connection whose answer names none of the protocols that its page offered.
    if (!session)
        return fail(Code::invalid,
                    fmt::format("offer the protocol {} together with the ticket", session_protocol),
                    "protocol_missing");
    shown->origin = origin;
    return shown;
}

Result<Credential> credential_in(const http::RequestHead& head, const HostPort& host,
                                 std::string_view scheme) {
    if (auto ticket = TRY(ticket_in(head))) return std::move(*ticket);
    // A page of another site may make a browser send this; nothing of ours does without a ticket.
    if (const auto origin = head.find("Origin"); !origin.empty() && !same_origin(origin, scheme, host))
        return fail(Code::forbidden, "a page of another origin asked for this", "other_origin");
    if (const auto site = head.find("Sec-Fetch-Site");
        !site.empty() && site != "same-origin" && site != "none")
        return fail(Code::forbidden, "a page of another site asked for this", "other_origin");
    std::string key = shown_by(head.fields, session_cookie).key;
    if (key.empty() || key.size() > credential_max)
        return fail(Code::unauthenticated, "a session needs an API key, as Authorization: Bearer",
                    "key_missing");
    return Credential{std::move(key)};
}

http::Response problem(const Error& error) {
    const int status = http_status(error.code);
    http::Response response{.status = status};
    const std::string code = error.reason.empty() ? std::string{name(error.code)} : error.reason;
    response.headers = {{"Content-Type", "application/problem+json"}, {"Cache-Control", "no-store"}};
    if (error.code == Code::unauthenticated)
        response.headers.add("WWW-Authenticate", "Bearer realm=\"hostler\"");
    response.body =
        fmt::format(R"({{"type":"about:blank","title":{},"status":{},"code":{},"detail":{}{}}})",
                    json_text(http::reason_phrase(status)), status, json_text(code), json_text(error.message),
                    error.help.empty() ? "" : ",\"help\":" + json_text(error.help));
    return response;
}

}  // namespace

struct Entrance::Asked {
    std::shared_ptr<uplink::TunnelOpen> open = std::make_shared<uplink::TunnelOpen>();
    std::shared_ptr<uplink::EnterRequest> enter = std::make_shared<uplink::EnterRequest>();
    std::string web_socket_key;
};

Entrance::Entrance(const Ports& ports, const Settings& settings, MasterLink& master, Gatekeeper& keeper,
                   Dial dial)
    : ports_(ports),
      settings_(settings),
      master_(master),
      keeper_(keeper),
      dial_(std::move(dial)),
      questions_({.per_second = static_cast<double>(settings.questions_per_second),
                  .burst = static_cast<double>(settings.questions_burst)},
                 clients_max) {}

bool Entrance::is_here(std::string_view target) { return target.starts_with(prefix); }

Task<> Entrance::serve(http::Inlet& inlet, const HostPort& host, std::string client,
                       std::string_view scheme) {
    const auto asked = read(inlet.head(), host, std::move(client), scheme);
    if (!asked) co_return co_await inlet.respond(problem(asked.error()));
    if (leaving_)
        co_return co_await inlet.respond(
            problem({Code::unavailable, "this gateway is about to end; try again", "leaving"}));
    auto entered = co_await admit(**asked);
    CO_TRY(co_await check_cancelled());
    if (!entered) co_return co_await inlet.respond(problem(entered.error()));
    inlet.is_known();
    auto& open = *(*asked)->open;
    open.set_instance(entered->route->instance);
    open.set_generation(entered->route->generation);
    open.set_principal(entered->principal);
    Stays::Stay stay{keeper_.stays(), stands_on(**asked, *entered)};
    auto tunnel = co_await dial_(entered->route, (*asked)->open);
    CO_TRY(co_await check_cancelled());
    if (stay.ended())
        co_return co_await inlet.respond(
            problem(((*asked)->enter->ticket() ? ticket_unknown() : key_unknown()).error()));
    if (!tunnel) {
        log_debug("gateway: session with instance {}: {}", entered->route->instance, tunnel.error().message);
        co_return co_await inlet.respond(problem(tunnel.error()));
    }
    co_return co_await carry(inlet, **asked, *entered, std::move(*tunnel), stay);
}

void Entrance::leave() {
    leaving_ = true;
    for (Stream* client : std::set<Stream*>{carried_}) client->close();
}

// What is asked for, as far as the request itself says. Errors: invalid, unauthenticated, forbidden.
Result<std::shared_ptr<Entrance::Asked>> Entrance::read(const http::RequestHead& head, const HostPort& host,
                                                        std::string client, std::string_view scheme) {
    auto asked = std::make_shared<Asked>();
    const std::string_view target = head.target;
    const auto path = target.substr(0, target.find('?'));
    const auto rest = path.substr(prefix.size());
    const auto slash = rest.find('/');
    const auto kind = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
    if (std::ranges::find(kinds, kind) == std::end(kinds))
        return fail(
            Code::not_found,
            "the gateway has sessions at /v1/instances/NAME/exec, port, get, put and look; all else is "
            "the API's",
            "no_such_path");
    const Credential credential = TRY(credential_in(head, host, scheme));
    if (head.method != "GET" || !head.upgrade || !http::same_name(head.find("Upgrade"), "websocket") ||
        head.find("Sec-WebSocket-Version") != "13" || head.find("Sec-WebSocket-Key").empty())
        return fail(Code::invalid, "a session is a WebSocket: GET with Upgrade: websocket, version 13",
                    "not_a_web_socket");
    asked->web_socket_key = head.find("Sec-WebSocket-Key");
    auto& enter = *asked->enter;
    enter.set_credential(credential.secret);
    enter.set_ticket(credential.ticket);
    enter.set_origin(credential.origin);
    enter.set_instance(percent_decoded(rest.substr(0, slash)));
    enter.set_kind(std::string{kind});
    enter.set_address(std::move(client));
    enter.set_client(safe_user_agent(head.find("User-Agent")));
    asked->open->set_kind(std::string{kind});
    const auto query = path.size() < target.size() ? target.substr(path.size() + 1) : std::string_view{};
    for (const auto& [name, value] : query_of(query)) {
        TRY(take(*asked->open, name, value));
        if (name == "tenantID") enter.set_tenant(value);
    }
    enter.set_session(asked->open->session());
    enter.set_resume(asked->open->resume());
    enter.set_detail(detail_of(*asked->open));
    if (kind == "exec" && asked->open->command().empty())
        return fail(Code::invalid, "no command is named", "command_missing");
    if (kind == "port" && asked->open->port() == 0)
        return fail(Code::invalid, "no port is named", "port_missing");
    return asked;
}

// Whoever was let in may come back while no master is there.
Task<MasterLink::Entered> Entrance::admit(const Asked& asked) {
    if (!questions_.take(asked.enter->address(), ports_.timers.now()))
        co_return fail(Code::exhausted,
                       "too many sessions are asked for from this address; try again in a moment",
                       "too_many");
    auto entered = co_await master_.enter(asked.enter);
    if (entered && asked.enter->ticket() && entered->mark.empty())
        co_return fail(Code::unavailable, "the master does not say what this session stands on");
    if (entered) {
        keep(asked, *entered);
        co_return entered;
    }
    const auto& error = entered.error();
    if (error.code != Code::unavailable && error.code != Code::timeout) co_return entered;
    const auto known = known_.find(asked.enter->session());
    if (asked.enter->resume() && known != known_.end() && may_return(known->second, asked))
        co_return known->second.entered;
    co_return fail(Code::unavailable,
                   "no master answers, so logins are refused right now; try again in a moment", "no_master");
}

// A ticket is used up when it has let somebody in: from then on it is its owner's credential that counts.
Question Entrance::stands_on(const Asked& asked, const MasterLink::Entered& entered) {
    Question question{.credential = asked.enter->credential(),
                      .tenant = entered.route->tenant,
                      .route = "",
                      .project = entered.route->project,
                      .address = entered.by_address ? asked.enter->address() : ""};
    if (!asked.enter->ticket()) return question;
    question.credential = entered.mark;
    question.route = Question::of_mark;
    return question;
}

// With a ticket that was used, too: while no master answers, a page can get no other one. It opens nothing
// but the session that it has opened. A credential that has ended, by its time or by a master's word before
// the outage, is believed no longer.
bool Entrance::may_return(const Known& known, const Asked& asked) const {
    const Trust::Belief belief = keeper_.belief_in(known.by);
    // Masters are asked how long it lasts when they are asked about all that is open.
    const bool is_new = ports_.timers.now() - known.since < 2 * seconds{settings_.recheck_s};
    if (belief != Trust::Belief::yes && (belief == Trust::Belief::ended || !is_new)) return false;
    return known.credential == asked.enter->credential() && known.origin == asked.enter->origin() &&
           known.kind == asked.enter->kind() &&
           (!known.entered.by_address || known.address == asked.enter->address());
}

void Entrance::keep(const Asked& asked, MasterLink::Entered entered) {
    const std::string& session = asked.enter->session();
    if (!known_.contains(session)) known_order_.push_back(session);
    Question by = stands_on(asked, entered);
    known_[session] = {.credential = asked.enter->credential(),
                       .address = asked.enter->address(),
                       .origin = asked.enter->origin(),
                       .kind = asked.enter->kind(),
                       .entered = std::move(entered),
                       .by = std::move(by),
                       .since = ports_.timers.now()};
    if (known_.size() <= sessions_known_max) return;
    known_.erase(known_order_.front());
    known_order_.pop_front();
}

// It may not come back, whether a master is there or not.
void Entrance::forget(const std::string& session) {
    if (known_.erase(session) > 0) known_order_.remove(session);
}

Task<> Entrance::carry(http::Inlet& inlet, const Asked& asked, const MasterLink::Entered& entered,
                       StreamPtr tunnel, Stays::Stay& stay) {
    http::Response answer{.status = 101};
    answer.headers = {{"Upgrade", "websocket"},
                      {"Connection", "Upgrade"},
                      {"Sec-WebSocket-Accept", http::web_socket_accept(asked.web_socket_key)}};
    if (asked.enter->ticket()) answer.headers.add("Sec-WebSocket-Protocol", std::string{session_protocol});
    const StreamPtr client = CO_TRY(co_await inlet.upgrade(std::move(answer)));
    stay.on_end([&client] { client->close(); });
    const struct Carried {
        std::set<Stream*>& all;
        Stream* one;
        ~Carried() { all.erase(one); }
    } carried{carried_, *carried_.insert(client.get()).first};
    if (leaving_) client->close();
    const Instant since = ports_.timers.now();
    const auto piped = co_await http::pipe(*client, *tunnel, ports_.timers, idle_time);
    stay.on_end({});
    if (stay.ended()) forget(asked.enter->session());
    uplink::Frame frame;
    auto& ended = *frame.mutable_enter_ended();
    ended.set_tenant(entered.route->tenant);
    ended.set_instance(entered.route->instance);
    ended.set_principal(entered.principal);
    ended.set_kind(asked.enter->kind());
    ended.set_detail(asked.enter->detail());
    ended.set_address(asked.enter->address());
    ended.set_client(asked.enter->client());
    ended.set_session(asked.enter->session());
    ended.set_duration_ms(static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(ports_.timers.now() - since).count()));
    if (piped) {
        ended.set_bytes_in(piped->forth);
        ended.set_bytes_out(piped->back);
    }
    master_.tell(std::move(frame));
    co_return co_await check_cancelled();
}

}  // namespace hostler::gateway
