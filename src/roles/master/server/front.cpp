#include "roles/master/server/front.h"

#include <fmt/format.h>

#include "api/openapi.h"
#include "api/problem.h"
#include "api/types_report.h"
#include "api/types_series.h"
#include "core/client_address.h"
#include "core/log.h"
#include "core/page.h"
#include "core/percent.h"
#include "core/version.h"
#include "domain/report/text.h"
#include "http/compress.h"
#include "http/static_files.h"
#include "http/transport_security.h"
#include "roles/master/browser/console.h"
#include "roles/master/browser/invitation.h"
#include "roles/master/browser/page.h"
#include "roles/master/browser/password.h"
#include "roles/master/browser/sign_in.h"
#include "roles/master/http/caller.h"
#include "roles/master/http/people.h"
#include "roles/master/oidc/flow.h"
#include "roles/master/user/invitations.h"
#include "roles/master/user/users.h"

namespace hostler::master {

namespace {

http::Response response_of(api::Reply reply) {
    http::Response response{.status = reply.status, .body = std::move(reply.body)};
    response.headers.set("Content-Type", std::move(reply.content_type));
    response.headers.set("Cache-Control", "no-store");
    for (auto& [name, value] : reply.headers) response.headers.set(std::move(name), std::move(value));
    return response;
}

constexpr std::chrono::seconds series_late{30};  // Then a follower says so when it is asked how it is.

Error no_longer() { return {Code::unavailable, "this master leads no longer; ask again", "no_leader"}; }

class ExchangeSink final : public api::EventSink {
public:
    ExchangeSink(http::Exchange& exchange, TermPtr term, Timers& timers, Duration write_max,
                 Admission::Turn& turn)
        : exchange_(exchange), term_(std::move(term)), timers_(timers), write_max_(write_max), turn_(turn) {}
    Task<> send(std::string bytes) override {
        if (term_ && term_->ended()) co_return std::unexpected(no_longer());
        turn_.leave();  // From here on it counts among the watches.
        const Deadline deadline{timers_, write_max_, [this] { exchange_.cut(); }};
        if (!exchange_.started()) {
            http::Response head;
            head.headers.set("Content-Type", "text/event-stream");
            head.headers.set("Cache-Control", "no-store");
            CO_TRY(co_await exchange_.start(std::move(head)));
        }
        co_return co_await exchange_.write(bytes);
    }

private:
    http::Exchange& exchange_;
    TermPtr term_;
    Timers& timers_;
    Duration write_max_;
    Admission::Turn& turn_;
};

bool wants(const http::Exchange& exchange, std::string_view format) {
    const std::string query = fmt::format("&{}&", exchange.request.query());
    return query.contains(fmt::format("&format={}&", format)) ||
           (!query.contains("&format=") &&
            exchange.request.headers.find("Accept").value_or("").starts_with(fmt::format("text/{}", format)));
}

api::Reply csv_reply(std::string body) {
    return {.content_type = "text/csv; charset=utf-8", .body = std::move(body)};
}

api::Reply as_csv(const api::Reply& reply) {
    const auto answer = api::decode_stored<api::SeriesAnswer>(reply.body);
    HOSTLER_ASSERT(answer);  // It was encoded a moment ago.
    return csv_reply(api::csv_of(*answer));
}

// Series and reports alone have other forms than JSON; nullopt: this is asked as JSON.
std::optional<api::Reply> other_form(const http::Exchange& exchange, const api::Reply& reply) {
    if (reply.status != 200 || exchange.request.method != "GET") return std::nullopt;
    const std::string_view path = exchange.request.path();
    const bool csv = wants(exchange, "csv");
    if (path == "/v1/series") return csv ? std::optional{as_csv(reply)} : std::nullopt;
    if (!path.starts_with(api::reports_path)) return std::nullopt;
    if (!csv && !wants(exchange, "html")) return std::nullopt;
    const auto report = api::decode_stored<report::Report>(reply.body);
    HOSTLER_ASSERT(report);
    const std::string_view kind = path.substr(api::reports_path.size());
    if (csv) return csv_reply(report::csv(*report, api::report_section(kind)));
    // Whatever its names may say, nothing in it is run or fetched.
    return api::Reply{
        .content_type = "text/html; charset=utf-8",
        .body = report::page(*report, api::report_title(kind)),
        .headers = {{"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"}}};
}

// Of operations that strangers may call.
constexpr std::size_t open_body_max = 16 << 10;

bool is_open(const http::Exchange& exchange) {
    const auto matched = api::match(exchange.request.method, exchange.request.target);
    return matched && matched->operation->open;
}

bool is_sign_in_page(std::string_view path) {
    return path == sign_in_path || path == device_path || path == invitation_path ||
           path == password_page_path || path == console_link_path || path.starts_with(oidc_path);
}

// The API's definition. It is expensive to make, and strangers may ask for it.
const http::MadeFile& definition() {
    static const http::MadeFile made{"openapi.json", api::openapi()};
    return made;
}

// Raises a flag as long as it lives.
class Raised {
public:
    explicit Raised(bool& flag) : flag_(flag) { flag_ = true; }
    ~Raised() { flag_ = false; }
    Raised(const Raised&) = delete;
    Raised& operator=(const Raised&) = delete;

private:
    bool& flag_;
};

}  // namespace

Front::Front(const Ports& ports, const Settings& settings, Lead& lead)
    : ports_(ports),
      settings_(settings),
      lead_(lead),
      api_(lead),
      forward_(ports, lead),
      series_follow_(ports, lead),
      admission_(settings.admission, ports.timers),
      transport_security_(http::transport_security(settings.hsts)) {
    limits_.first_time = settings_.first_time;
}

Task<> Front::serve(StreamPtr stream, http::Drain* drain, http::Place* place) {
    co_return co_await http::serve(
        std::move(stream), ports_.timers, limits_,
        [this](http::Exchange& exchange) { return answer(exchange); }, drain, place);
}

bool Front::by_tls(const http::Exchange& exchange) const { return is_by_tls(exchange, ports_.arrival); }

Task<> Front::answer(http::Exchange& exchange) {
    if (by_tls(exchange) && http::may_keep_to_https(exchange.request.headers.find("Host").value_or("")))
        exchange.set_transport_security(transport_security_);
    exchange.set_request_id(request_id_of(exchange, ports_.random));
    const std::string_view path = exchange.request.path();
    if (path == "/healthz") co_return co_await answer_health(exchange);
    if (path == "/openapi.json") {
        co_return co_await exchange.respond(
            http::file_response(definition().file(), exchange.request.headers, false));
    }
    if (auto file = console_answer(ports_.console, exchange.request))
        co_return co_await exchange.respond(std::move(*file));
    const bool looks = exchange.request.method == "GET" || exchange.request.method == "HEAD";
    if (path == "/" && looks) co_return co_await front_door_page(exchange);
    if (is_from_master(exchange)) note_master(exchange);
    if (path == SeriesFollow::path && is_from_master(exchange)) {
        const auto told = co_await series_follow_.answer(exchange);
        if (told || exchange.started()) co_return told;
        co_return co_await refuse(exchange, told.error());
    }
    if (!api_.leader() && !is_from_master(exchange)) {
        const bool answered = CO_TRY(co_await answer_elsewhere(exchange));
        if (answered) co_return Result<>{};
    }
    if (is_sign_in_page(path)) {
        if (const auto may = admission_.enter_stranger(address_of(exchange)); !may)
            co_return co_await refuse(exchange, may.error());
        co_return co_await answer_sign_in_page(exchange);
    }
    if (path == "/v1/backup" && exchange.request.method == "GET") {
        const auto sent = co_await send_backup(exchange);
        if (sent || exchange.started()) co_return sent;
        co_return co_await refuse(exchange, sent.error());
    }
    co_return co_await answer_api(exchange);
}

// That it is there, for the list of components.
void Front::note_master(const http::Exchange& exchange) {
    constexpr std::size_t version_max = 64;
    if (!lead_.term || lead_.term->ended()) return;
    const std::string name{exchange.identity().substr(std::string_view{"master/"}.size())};
    const std::string_view version = exchange.request.headers.find(version_header).value_or("");
    lead_.term->look().live.note_master(name, exchange.peer(), version.substr(0, version_max),
                                        ports_.timers.wall().time_since_epoch().count());
}

Task<> Front::answer_sign_in_page(http::Exchange& exchange) {
    const std::string_view path = exchange.request.path();
    if (path == invitation_path) return answer_browser_invitation(exchange, api_, public_url(exchange));
    if (path == password_page_path) return answer_browser_password(exchange, api_, public_url(exchange));
    if (path == console_link_path) return answer_console_link(exchange, api_, by_tls(exchange));
    if (path.starts_with(oidc_path)) return sign_in_by_provider(exchange);
    return answer_browser_sign_in(exchange, api_);
}

// Answered where the leader is; what a master has passed on is not passed on again. false: not answered,
// this one leads by now, or nobody does.
Task<bool> Front::answer_elsewhere(http::Exchange& exchange) {
    CO_TRY(co_await until_led());
    if (api_.leader() || !lead_.other) co_return false;
    const auto done = co_await forward_.pass(exchange, *lead_.other);
    if (!done && !exchange.started() && done.error().reason == "no_leader")
        CO_TRY(co_await exchange.respond(response_of(api::reply_of(done.error(), exchange.request_id()))));
    else if (!done)
        co_return std::unexpected(done.error());
    co_return true;
}

// Between two leaders. A master alone, or one that does not reach the store, cannot know how long that takes.
Task<> Front::until_led() {
    if (!lead_.soon || api_.leader() || lead_.other) co_return Result<>{};
    // Those whose time is over are woken together: a wake-up looks at all who wait.
    using Round = std::chrono::duration<std::int64_t, std::ratio<1, 4>>;
    const Instant now = ports_.timers.now();
    const Instant until = std::chrono::ceil<Round>(now + settings_.leader_wait);
    const Deadline deadline{ports_.timers, until - now, [&] {
                                if (std::exchange(woken_, until) != until) lead_.changed.notify_all();
                            }};
    while (lead_.soon && !api_.leader() && !lead_.other && ports_.timers.now() < until)
        CO_TRY(co_await lead_.changed.wait());
    co_return Result<>{};
}

std::string Front::health_of_follower() const {
    std::string text = fmt::format("ok: master {} leads", lead_.other->name);
    const auto lag = std::chrono::duration_cast<std::chrono::seconds>(series_follow_.lag());
    if (lag > series_late) text += fmt::format("; the last {} s of its series are not here", lag.count());
    return text;
}

Task<> Front::answer_health(http::Exchange& exchange) {
    const auto term = api_.leader();
    if (!term && lead_.other)
        co_return co_await exchange.respond(http::text_response(200, health_of_follower()));
    co_return co_await exchange.respond(
        http::text_response(term ? 200 : 503, term ? "ok" : term.error().message));
}

// As it is set, else as this client reaches us.
std::string Front::public_url(const http::Exchange& exchange) const {
    if (!settings_.public_url.empty())
        return settings_.public_url.substr(0, settings_.public_url.find_last_not_of('/') + 1);
    return fmt::format("{}://{}", by_tls(exchange) ? "https" : "http",
                       exchange.request.headers.find("Host").value_or(""));
}

Task<> Front::sign_in_by_provider(http::Exchange& exchange) {
    const TermPtr term = CO_TRY(api_.leader());
    OidcFront front{.origin = public_url(exchange),
                    .address = std::string{address_of(exchange)},
                    .signed_in = [](http::Exchange& to, TermPtr of, ProviderSignIn who) -> Task<> {
                        BrowserExtras extras;
                        extras.mark = [source = std::move(who.source)](Login& login) {
                            note_source(login, source);
                        };
                        return finish_browser(to, std::move(of), std::move(who.user), std::move(who.target),
                                              std::move(extras));
                    },
                    .refused = refuse_browser};
    co_return co_await answer_oidc(exchange, term, std::move(front));
}

// Anybody may ask; nothing of the cloud is told.
Task<> Front::front_door_page(http::Exchange& exchange) {
    const auto& headers = exchange.request.headers;
    const std::string api = public_url(exchange);
    bool person = false;
    http::each_item(headers.find("Accept").value_or(""), [&](std::string_view item) {
        person |= http::same_name(http::trimmed(item.substr(0, item.find(';'))), "text/html");
    });
    if (person && !ports_.console.empty()) {
        http::Response response{.status = 303};
        response.headers.set("Location", std::string{console_path});
        response.headers.set("Cache-Control", "no-store");
        co_return co_await exchange.respond(std::move(response));
    }
    if (person)
        co_return co_await exchange.respond(page_response(200, front_door({.what = "its API", .api = api})));
    http::Response response{
        .body = fmt::format(R"({{"name":"hostler","version":"{}","openapi":"/openapi.json","help":"Send an )"
                            R"(API key as Authorization: Bearer hk_…; an operator makes one with: hostler )"
                            R"(key create"}})"
                            "\n",
                            version)};
    response.headers.set("Content-Type", "application/json");
    response.headers.set("Cache-Control", "no-store");
    co_return co_await exchange.respond(std::move(response));
}

Result<api::Caller> Front::caller_of_request(const http::Exchange& exchange) const {
    std::string_view credential = exchange.request.headers.find("X-Hostler-Key").value_or("");
    if (credential.empty()) {
        const std::string_view header = exchange.request.headers.find("Authorization").value_or("");
        constexpr std::string_view bearer = "bearer ";
        if (header.size() > bearer.size() && http::same_name(header.substr(0, bearer.size()), bearer))
            credential = http::trimmed(header.substr(bearer.size()));
    }
    Error unknown{Code::unauthenticated, "", "unauthenticated"};
    unknown.help =
        "Send an API key as 'Authorization: Bearer hk_…'; an operator makes one with: hostler key create";
    std::string session;
    if (credential.empty())
        session =
            TRY(console_session(exchange, {.tls = by_tls(exchange), .public_url = settings_.public_url}));
    if (credential.empty() && session.empty()) {
        unknown.message = "this needs an API key or a session";
        return std::unexpected(std::move(unknown));
    }
    const TermPtr term = TRY(api_.leader());
    auto caller = session.empty() ? caller_of(*term, std::string{credential}, address_of(exchange))
                                  : caller_of_console(*term, session, address_of(exchange));
    if (!caller) {
        unknown.message =
            "this API key or session is unknown: it was never created, has ended, or was revoked";
        return std::unexpected(std::move(unknown));
    }
    caller->address = std::string{address_of(exchange)};
    caller->origin = public_url(exchange);
    caller->client = safe_user_agent(exchange.request.headers.find("User-Agent").value_or(""));
    caller->request_id = exchange.request_id();
    return std::move(*caller);
}

Task<> Front::answer_api(http::Exchange& exchange) {
    auto caller = caller_of_request(exchange);
    bool stranger = false;
    Admission::Turn turn;
    if (caller) {
        exchange.is_known();
        if (const auto term = api_.leader()) note_use(**term, caller->credential);
        auto admitted = co_await admission_.enter(caller->lane(), caller->actor);
        if (!admitted) co_return co_await refuse(exchange, admitted.error());
        turn = std::move(*admitted);
        if (turn.waited()) caller = caller_of_request(exchange);  // The key may have been revoked meanwhile.
    } else if (caller.error().code == Code::unauthenticated) {
        if (const auto may = admission_.enter_stranger(address_of(exchange)); !may)
            co_return co_await refuse(exchange, may.error());
        stranger = is_open(exchange);
        if (stranger) caller = stranger_of(exchange);
    }
    // Nobody's body is read before it is known who sends it, and has its turn. Open operations take a small
    // one.
    std::string body;
    if (caller) {
        const Deadline deadline{ports_.timers, settings_.admission.body_max, [&] { exchange.cut(); }};
        auto read = co_await exchange.read_all(stranger ? open_body_max : api::body_max);
        if (!read && read.error().reason == http::body_too_large) read.error().reason = "too_large";
        if (!read && read.error().code == Code::invalid)
            co_return co_await exchange.respond(
                response_of(api::reply_of(read.error(), exchange.request_id())));
        body = CO_TRY(std::move(read));
        // It may have ended while its body came.
        if (!stranger && exchange.request.method != "GET") caller = caller_of_request(exchange);
    }
    api::Inquiry inquiry{
        .method = exchange.request.method, .target = exchange.request.target, .body = std::move(body)};
    inquiry.idempotency_key = exchange.request.headers.find("Idempotency-Key").value_or("");
    inquiry.last_event_id = exchange.request.headers.find("Last-Event-ID").value_or("");
    inquiry.if_match = exchange.request.headers.find("If-Match").value_or("");
    inquiry.origin = exchange.request.headers.find("Origin").value_or("");
    inquiry.request_id = exchange.request_id();
    inquiry.own_origin = !is_from_elsewhere(exchange, public_url(exchange));
    const TermPtr term = api_.leader().value_or(nullptr);
    const bool only_looks = inquiry.method == "GET";
    ExchangeSink sink{exchange, term, ports_.timers, settings_.watch_write_max, turn};
    const bool by_console = caller && !caller->session.empty();
    api::Reply reply = CO_TRY(co_await api_.handlers().answer(std::move(inquiry), std::move(caller), &sink));
    constexpr int our_fault = 500;
    if (reply.status == our_fault)  // Its body names the request.
        log_warn("{} {}: {}", exchange.request.method, exchange.request.path(), reply.body);
    if (reply.streamed) {
        turn.leave();
        co_return co_await exchange.end();
    }
    if (by_console && reply.status == 200 && exchange.request.path() == "/v1/sign-out")
        reply.headers.emplace_back("Set-Cookie", console_cookie(exchange, by_tls(exchange), ""));
    if (auto other = other_form(exchange, reply)) reply = std::move(*other);
    auto response = co_await http::compressed(exchange.request, response_of(std::move(reply)));
    turn.leave();  // How fast the answer is taken is its reader's affair.
    // While it was made another may have begun to lead, who knows better. What is written is durable.
    if (only_looks && term && term->ended())
        co_return co_await exchange.respond(response_of(api::reply_of(no_longer(), exchange.request_id())));
    co_return co_await exchange.respond(CO_TRY(std::move(response)));
}

Task<> Front::refuse(http::Exchange& exchange, const Error& error) {
    if (error.code == Code::cancelled) co_return std::unexpected(error);
    co_return co_await exchange.respond(response_of(api::reply_of(error, exchange.request_id())));
}

Task<> Front::send_backup(http::Exchange& exchange) {
    const auto caller = caller_of_request(exchange);
    if (!caller && caller.error().code == Code::unauthenticated)
        CO_TRY(admission_.enter_stranger(address_of(exchange)));
    if (!caller) co_return std::unexpected(caller.error());
    exchange.is_known();
    if (!authorize(caller->principal, Permission::store_backup, Scope::cloud())) {
        const Error why = api::permission_missing(Permission::store_backup).error();
        api_.refused(*caller,
                     {.operation = "backup",
                      .service = "backup",
                      .permission = name_of(Permission::store_backup),
                      .subject = "master/store"},
                     why);
        co_return std::unexpected(why);
    }
    if (backup_under_way_)
        co_return fail(Code::conflict, "a backup is under way; wait until that one is done",
                       "backup_under_way");
    const Raised raised{backup_under_way_};
    const Deadline deadline{ports_.timers, settings_.backup_max, [&] { exchange.cut(); }};
    const WallTime now = ports_.timers.wall();
    const auto backup = CO_TRY(co_await ports_.store.backup(now, ports_.digest));
    const TermPtr term = CO_TRY(api_.leader());
    Estate& estate = term->desk(caller->actor).estate;
    estate.event("master", "store", "", "backup", "A backup of the store was begun.");
    estate.audit({.time = now,
                  .actor = caller->actor,
                  .address = caller->address,
                  .operation = "backup",
                  .subject = "master/store",
                  .status = 200,
                  .client = caller->client,
                  .service = "backup",
                  .request = std::string{exchange.request_id()}});
    CO_TRY(co_await term->commit());
    http::Response head;
    head.headers.set("Content-Type", "application/octet-stream");
    head.headers.set("Cache-Control", "no-store");
    CO_TRY(co_await exchange.start(std::move(head)));
    while (true) {
        const std::string piece = CO_TRY(co_await backup->next());
        if (piece.empty()) co_return co_await exchange.end();
        CO_TRY(co_await exchange.write(piece));
    }
}

}  // namespace hostler::master
