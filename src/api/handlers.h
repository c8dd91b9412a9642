// What answers each operation. The master registers typed handlers; decoding, scope, encoding and problem
// details are the same for all and happen here.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "api/codec.h"
#include "api/operation.h"
#include "api/router.h"
#include "api/watch.h"
#include "core/task.h"
#include "core/timers.h"
#include "domain/tenancy/principal.h"

namespace hostler::api {

// Who asks, as the master made it out from the request's credential.
struct Caller {
    Principal principal;
    std::string actor;       // "key/k-9r4t1b", "user/u-…": as events and audit name the caller.
    std::string credential;  // What the call stands on: "key/k-9r4t1b", "login/…", "share/…".
    std::string name;        // Purpose of the key; name of the person.
    std::string tenant;      // Meant where a call names none; empty: the caller belongs to none.
    std::string address;     // Where from.
    std::string client;      // The program, as it calls itself, bounded and safe to show.
    std::string session;     // The hash of the console's session by which the call came; empty: by none.
    std::string origin;      // Of the API, as this client reaches it: "https://api.example".
    std::optional<WallTime> expires{};
    std::string request_id{};  // Of this request: "r-9f86d081884c7d65"; empty: it has none.
    bool needs_totp = false;  // A person without a required second factor: may enrol it, and do nothing else.

    // Whose share of the master's time the call takes: the tenant's; empty: the operator's, for those who
    // have a role in the whole cloud; else the caller's alone.
    std::string lane() const;

    // With all permissions; with those of a tenant's key.
    static Caller of_operator(std::string actor);
    static Caller of_tenant(std::string actor, std::string tenant);
};

// What a handler gets beside the request.
struct Call {
    Caller caller;
    const Operation* operation = nullptr;
    Permission permission = Permission::self_read;  // The operation's.
    bool dry_run = false;                           // Decide, answer, change nothing.
    std::string idempotency_key;  // Empty: none. With the same key, another `request` is a conflict.
    std::string request;          // Of a write: all its fields as JSON, the same for the same request.
    int limit = 100;              // Of a list,
    bool newest_first = false;    // in which order,
    bool total = false;           // whether to count all,
    Query query{};                // what its items have to fit,
    std::string query_text{};     // the same as it came,
    std::uint64_t list = 0;       // which one it is,
    std::optional<Cursor> after;  // and where it goes on; nullopt: at its beginning.
    std::uint64_t resume = 0;     // Of a watch: the last event's id that the client has seen; 0: none.
    std::string last_event_id{};  // The same of a stream, as it came; empty: none.
    std::string origin{};         // Of the page that asks; empty: a program asks.
    bool own_origin = true;       // That page is the API's own, as far as its browser says.
};

// An HTTP request, as far as this layer cares.
struct Inquiry {
    std::string method;
    std::string target;
    std::string body;
    std::string idempotency_key;  // Header Idempotency-Key.
    std::string last_event_id;    // Header Last-Event-ID.
    std::string if_match{};       // Header If-Match.
    std::string origin{};         // Header Origin,
    bool own_origin = true;       // and whether this is where the API is.
    std::string request_id{};     // "r-9f86d081884c7d65"; empty: it has none.
};

struct Reply {
    int status = 200;
    std::string content_type = "application/json";
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers{};
    bool streamed = false;  // The answer went to the EventSink; there is nothing more to send.
};

class Handlers {
public:
    // handlers.on<ops::get_host>([this](Call call, NameHost request) -> Task<Host> { … });
    template <const auto& operation, class Handler>
    void on(Handler handler) {
        using Op = std::remove_cvref_t<decltype(operation)>;
        install(operation, [handler = std::move(handler)](Call call, Assembled in) -> Task<std::string> {
            return answer_typed<Op>(handler, std::move(call), std::move(in));
        });
    }

    // handlers.watch<ops::list_instances>([this](Call, ListInstances, Watch<Instance>& to) -> Task<> { … });
    // It runs until the client goes or the handler ends; an error before the first event is answered as a
    // problem.
    template <const auto& operation, class Handler>
    void watch(Handler handler) {
        using Op = std::remove_cvref_t<decltype(operation)>;
        static_assert(operation.watch, "the table of operations does not let this one be watched");
        install_watch(
            operation,
            [handler = std::move(handler)](Call call, Assembled in, EventSink& sink, bool& begun) -> Task<> {
                return watch_typed<Op>(handler, std::move(call), std::move(in), sink, begun);
            });
    }

    // The same of an operation that answers with events alone: handlers.stream<ops::watch_changes>(
    //     [this](Call, WatchChanges, Stream<ObjectChange>& to) -> Task<> { … });
    template <const auto& operation, class Handler>
    void stream(Handler handler) {
        using Op = std::remove_cvref_t<decltype(operation)>;
        static_assert(operation.stream, "the table of operations says that this one answers once");
        install_watch(
            operation,
            [handler = std::move(handler)](Call call, Assembled in, EventSink& sink, bool& begun) -> Task<> {
                return stream_typed<Op>(handler, std::move(call), std::move(in), sink, begun);
            });
    }

    // Called when a known caller is answered Code::forbidden. `subject`: what the request names, as
    // "host/h-4f2a"; empty: it names nothing.
    using Refused =
        std::function<void(const Caller&, const Operation&, std::string_view subject, const Error&)>;
    void on_refused(Refused refused) { refused_ = std::move(refused); }

    // Names of operations without a handler: a master that starts has none.
    std::vector<std::string_view> missing() const;

    // Never fails: what went wrong is in the reply. `who` is asked for the operations' caller after routing,
    // so that an unknown path is 404 to everyone. `sink` may be null where nothing can be streamed.
    Task<Reply> answer(Inquiry inquiry, Result<Caller> who, EventSink* sink) const;

private:
    using Handler = std::function<Task<std::string>(Call, Assembled)>;
    using WatchHandler = std::function<Task<>(Call, Assembled, EventSink&, bool& begun)>;
    void install(const Operation& operation, Handler handler);
    void install_watch(const Operation& operation, WatchHandler handler);
    Task<Reply> perform(Match match, Inquiry inquiry, Caller caller, EventSink* sink) const;

    template <class Request>
    static Result<Request> typed(Call& call, const Assembled& in) {
        auto request = decode_value<Request>(*in.fields);
        if (!in.known) {  // Both kinds of complaint at once.
            Error error = in.known.error();
            if (!request) add_fields(error, request.error());
            return std::unexpected(std::move(error));
        }
        if (request && call.operation->writes()) call.request = encode(*request);
        if (request && call.operation->list) TRY(go_on(call, encode(*request)));
        return request;
    }
    // Notes which list this is. Errors: invalid (the cursor is of another one).
    static Result<> go_on(Call& call, std::string_view request);
    static void add_fields(Error& to, const Error& from);

    template <class Op, class F>
    static Task<std::string> answer_typed(const F& handler, Call call, Assembled in) {
        auto request = CO_TRY(typed<typename Op::Request>(call, in));
        auto response = CO_TRY(co_await handler(std::move(call), std::move(request)));
        co_return encode<typename Op::Response>(response);
    }
    template <class Op, class F>
    static Task<> watch_typed(const F& handler, Call call, Assembled in, EventSink& sink, bool& begun) {
        using Item = typename decltype(Op::Response::items)::value_type;
        auto request = CO_TRY(typed<typename Op::Request>(call, in));
        Watch<Item> to{sink, begun};
        co_return co_await handler(std::move(call), std::move(request), to);
    }

    template <class Op, class F>
    static Task<> stream_typed(const F& handler, Call call, Assembled in, EventSink& sink, bool& begun) {
        auto request = CO_TRY(typed<typename Op::Request>(call, in));
        Stream<typename Op::Response> to{sink, begun};
        co_return co_await handler(std::move(call), std::move(request), to);
    }

    Reply refuse(const Caller& caller, const Operation& operation, std::string_view subject,
                 const Error& error, std::string_view request_id) const;

    Refused refused_;
    std::map<const Operation*, Handler> handlers_;
    std::map<const Operation*, WatchHandler> watches_;
};

// Errors: forbidden (permission_missing).
std::unexpected<Error> permission_missing(Permission permission);

// The reply for an error, with the headers that belong to it. `request_id`: empty: the request has none.
Reply reply_of(const Error& error, std::string_view request_id = {});

}  // namespace hostler::api
