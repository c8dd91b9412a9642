// What the front says itself about an instance that does not run, and at the gateway's own address.
#include "core/client_address.h"
#include "core/percent.h"
#include "core/task_group.h"
#include "proto/uplink.pb.h"
#include "roles/gateway/asked.h"

namespace hostler::gateway {

Task<> Front::front_door(http::Inlet& inlet) {
    const auto& head = inlet.head();
    if (head.method != "GET" && head.method != "HEAD")
        co_return co_await say(inlet, {.notice = Notice::not_ours});
    std::string api = master_.sign_in();  // "https://api.example/sign-in"
    api.resize(api.ends_with("/sign-in") ? api.size() - std::string_view{"/sign-in"}.size() : 0);
    co_return co_await inlet.respond(front_door_answer(
        std::move(api), reader_of(head.method, head.find("Accept")), new_secret(ports_.random, "n")));
}

// What the master is asked about the instance by somebody who was admitted: "explain" or "start".
Task<MasterLink::Entered> Front::ask_master(const Asked& asked, std::string_view kind) const {
    const auto request = std::make_shared<uplink::EnterRequest>();
    request->set_credential(asked.by->credential);
    request->set_tenant(asked.route->tenant);
    request->set_instance(asked.route->instance);
    request->set_kind(std::string{kind});
    request->set_detail(asked.by->route);
    request->set_address(asked.client);
    request->set_client(safe_user_agent(asked.head().find("User-Agent")));
    co_return co_await master_.enter(request);
}

// For somebody who may know more, a page has the words of `explain`, as they are now, and what they may do.
Task<> Front::tell_more(Asked& asked, Page& page) {
    page.detail = asked.route->detail;
    if (asked.reader() != Reader::person || !asked.by) co_return Result<>{};
    if (!keeper_.may_ask(asked.client)) co_return Result<>{};
    const auto told = co_await ask_master(asked, "explain");
    CO_TRY(co_await check_cancelled());
    if (!told) co_return Result<>{};  // It does not answer, or this is a guest by a share link.
    page.detail = told->route->detail;
    if (asked.route->state != State::resting) co_return Result<>{};
    page.button_to = "/.hostler/start?to=" + percent_encode(asked.head().target);
    page.button = "Start";
    co_return Result<>{};
}

Task<> Front::start(Asked& asked) {
    const auto& head = asked.head();
    asked.shown = shown_by(head.fields, cookie_name(asked));
    const auto query = head.target.substr(
        head.target.find('?') == std::string_view::npos ? head.target.size() : head.target.find('?') + 1);
    const auto to = safe_path(query_value(query, "to").value_or("/"));
    const auto reader = reader_of(head.find("Accept"));
    const auto admission = CO_TRY(co_await who(asked));
    if (admission == Admission::allowed && sent_from_elsewhere(asked))
        co_return co_await say(asked.inlet, {.notice = Notice::other_origin});
    // A person whose session is over signs in where they come from.
    if (admission != Admission::allowed && (admission != Admission::nobody || reader == Reader::program))
        co_return co_await turn_away(asked, admission);
    if (admission == Admission::allowed) {
        if (!keeper_.may_ask(asked.client)) co_return co_await say(asked.inlet, {.notice = Notice::too_many});
        const auto started = co_await ask_master(asked, "start");
        CO_TRY(co_await check_cancelled());
        if (!started) {
            const Code code = started.error().code;
            const bool away = code == Code::unavailable || code == Code::timeout;
            co_return co_await asked.inlet.respond(
                answer({.notice = away ? Notice::sign_in_unavailable : Notice::not_started,
                        .about = asked.route->shown_as,
                        .detail = started.error().message,
                        .link = to,
                        .link_text = "Back"},
                       reader, new_secret(ports_.random, "n")));
        }
    }
    http::Response response{.status = 303};
    response.headers = {{"Location", to}, {"Cache-Control", "no-store"}, {"Referrer-Policy", "no-referrer"}};
    co_return co_await asked.inlet.respond(std::move(response));
}

Task<> Front::show_state(Asked& asked, Admission admission) {
    const RoutePtr kept = asked.route;
    const Route& route = *kept;
    Page page{.about = route.shown_as.empty() ? route.instance : route.shown_as};
    if (admission == Admission::allowed) CO_TRY(co_await tell_more(asked, page));
    if (route.state == State::resting && admission != Admission::allowed) {
        if (const auto url = sign_in_url(asked); !url.empty() && asked.reader() == Reader::person) {
            page.detail = fmt::format("Its people start it with `hostler instance start {}`.", page.about);
            page.link = url;
            page.link_text = "Sign in to start it";
        }
    }
    switch (route.state) {
        case State::init:
        case State::ready: page.notice = Notice::starting; break;
        case State::running: break;
        case State::stopping: page.notice = Notice::stopping; break;
        case State::resting: page.notice = Notice::resting; break;
        case State::stopped: page.notice = Notice::stopped; break;
        case State::failed: page.notice = Notice::failed; break;
        case State::lost: page.notice = Notice::lost; break;
    }
    co_return co_await say(asked.inlet, std::move(page));
}

}  // namespace hostler::gateway
