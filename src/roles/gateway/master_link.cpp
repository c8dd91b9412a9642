#include "roles/gateway/master_link.h"

#include <charconv>

#include "core/log.h"
#include "core/task_group.h"
#include "proto/uplink.pb.h"
#include "roles/gateway/route_frames.h"
#include "wire/link.h"
#include "wire/redial.h"
#include "wire/renewal.h"

namespace hostler::gateway {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration dial_time = seconds{5};
constexpr Duration hello_time = seconds{10};
constexpr Duration question_time = seconds{5};
constexpr std::string_view epoch_key = "epoch";
constexpr wire::LinkLimits limits{.frame_size_max = 64 << 20,
                                  .received_bytes_max = 128 << 20};  // All routes in one.

}  // namespace

MasterLink::MasterLink(const Ports& ports, const Settings& settings, RouteTable& routes,
                       std::function<void()> changed, std::function<void(std::vector<std::string>)> ended)
    : ports_(ports),
      settings_(settings),
      routes_(routes),
      changed_(std::move(changed)),
      ended_(std::move(ended)),
      remembered_(ports.journal, ports.timers, routes),
      sign_in_(remembered_.recall()) {
    const auto& kept = ports.journal.all();
    if (const auto epoch = kept.find(std::string{epoch_key}); epoch != kept.end())
        std::from_chars(epoch->second.data(), epoch->second.data() + epoch->second.size(), epoch_);
}

Task<> MasterLink::run(std::string own_address) {
    return wire::keep_linked(
        ports_.timers, ports_.random,
        {"gateway", settings_.masters, milliseconds{settings_.redial_ms},
         milliseconds{settings_.redial_max_ms}},
        [this, own_address = std::move(own_address)](std::string master) {
            return once(std::move(master), own_address);
        },
        [this] {
            return wire::Dialled{std::exchange(link_, nullptr) != nullptr, std::exchange(leader_, "")};
        });
}

Task<> MasterLink::once(std::string master, std::string own_address) {
    auto raw = CO_TRY(co_await ports_.net.dial(master, dial_time));
    Secure secure{.own = ports_.own.credentials(), .peer_required = true, .expect = "master/"};
    auto stream =
        CO_TRY(co_await ports_.net.secure(std::move(raw), std::move(secure), Side::client, dial_time));
    const auto link = std::make_shared<wire::Link>(ports_.loop, ports_.timers, std::move(stream), limits);
    if (ports_.own.expired(ports_.timers.wall())) {
        CO_TRY(co_await wire::renew(*link, ports_.own));
        co_return fail(Code::unavailable, "the certificate is new, this link is not");
    }
    uplink::Frame frame;
    frame.mutable_gateway_hello()->set_version(ports_.version);
    frame.mutable_gateway_hello()->set_address(own_address);
    frame.mutable_gateway_hello()->set_domain(settings_.domain);
    CO_TRY(co_await link->send(std::move(frame)));
    wire::RenewalWish wish;
    TaskGroup tasks{ports_.loop};
    const Duration silence =
        wire::patience_with_masters(settings_.masters.size(), seconds{settings_.master_silence_s});
    tasks.start("master's keep-alive", [](std::shared_ptr<wire::Link> of, Duration patience) -> Task<> {
        co_await of->keep_alive(patience / 3, patience);
        co_return Result<>{};
    }(link, silence));
    tasks.start("certificate", wire::keep_renewed(ports_.timers, *link, ports_.own, wish));
    Result<> ended;
    {
        const Deadline deadline{ports_.timers, hello_time, [&] {
                                    if (!link_) link->close();
                                }};
        while (ended) {
            auto news = co_await link->receive();
            if (!news)
                ended = std::unexpected(news.error());
            else if (news->has_failure()) {
                leader_ = news->failure().leader();
                ended = std::unexpected(wire::error_of(news->failure()));
            } else if (news->has_goodbye())
                break;
            else if (news->has_renew_wanted())
                wish.make();
            else if (news->has_credentials_ended())
                ended_({news->credentials_ended().marks().begin(), news->credentials_ended().marks().end()});
            else if (news->has_routes())
                ended = co_await learn(news->routes());
            if (ended && !link_ && news->has_routes() && news->routes().complete()) {
                link_ = link;
                ++came_;
                came_changed_.notify_all();
                log_info("gateway: linked to master {} epoch={} routes={}", master, epoch_,
                         routes_.all().size());
            }
        }
    }
    link->close();
    co_await tasks.close();
    co_return ended;
}

// Errors: conflict: a master whose time is over.
Task<> MasterLink::learn(const uplink::Routes& news) {
    if (news.epoch() < epoch_)
        co_return fail(Code::conflict, fmt::format("it leads epoch {}, but epoch {} has begun; it is refused",
                                                   news.epoch(), epoch_));
    if (news.epoch() > epoch_) {
        CO_TRY(co_await ports_.journal.put(std::string{epoch_key}, std::to_string(news.epoch())));
        epoch_ = news.epoch();
    }
    if (!news.sign_in().empty()) sign_in_ = news.sign_in();
    std::vector<Route> routes;
    routes.reserve(static_cast<std::size_t>(news.routes_size()));
    for (const auto& one : news.routes())
        if (auto route = route_of(one)) routes.push_back(std::move(*route));
    const std::vector<std::string> gone{news.gone().begin(), news.gone().end()};
    std::vector<std::string> changed = gone;
    for (const Route& route : routes) changed.push_back(route.name);
    const std::size_t refused =
        news.complete() ? routes_.replace(std::move(routes)) : routes_.change(std::move(routes), gone);
    if (refused > 0)
        log_warn("gateway: {} routes are beyond routes_max={} and are not served", refused,
                 settings_.routes_max);
    routes_epoch_ = news.epoch();
    if (news.complete()) remembered_.replaced(sign_in_);
    for (const std::string& name : changed) remembered_.changed(name);
    changed_();
    co_return Result<>{};
}

Task<MasterLink::Word> MasterLink::authenticate(Question question) {
    uplink::Frame frame;
    auto& request = *frame.mutable_authenticate_request();
    request.set_credential(std::move(question.credential));
    request.set_tenant(std::move(question.tenant));
    request.set_project(std::move(question.project));
    request.set_mark(question.is_mark());
    request.set_route(request.mark() ? question.route.substr(Question::of_mark.size())
                                     : std::move(question.route));
    request.set_address(std::move(question.address));
    return ask_word(std::move(frame));
}

Task<MasterLink::Word> MasterLink::redeem(std::string code, std::string route) {
    uplink::Frame frame;
    frame.mutable_redeem_request()->set_code(std::move(code));
    frame.mutable_redeem_request()->set_route(std::move(route));
    return ask_word(std::move(frame));
}

Task<> MasterLink::sign_out(std::string session, std::string route) {
    uplink::Frame frame;
    frame.mutable_sign_out_request()->set_session(std::move(session));
    frame.mutable_sign_out_request()->set_route(std::move(route));
    CO_TRY(co_await ask(std::move(frame)));
    co_return Result<>{};
}

Task<MasterLink::Entered> MasterLink::enter(std::shared_ptr<const uplink::EnterRequest> request) {
    uplink::Frame frame;
    *frame.mutable_enter_request() = *request;
    const auto answer = CO_TRY(co_await ask(std::move(frame)));
    if (!answer.has_enter_answer() || answer.enter_answer().route().instance().empty())
        co_return fail(Code::unavailable, "the master answered something else");
    co_return Entered{std::make_shared<const Route>(read_route(answer.enter_answer().route())),
                      answer.enter_answer().principal(), answer.enter_answer().by_address(),
                      answer.enter_answer().mark()};
}

Task<std::vector<std::string>> MasterLink::over_among(std::vector<std::string> marks) {
    uplink::Frame frame;
    for (std::string& mark : marks) frame.mutable_trusted_marks()->add_marks(std::move(mark));
    const auto answer = CO_TRY(co_await ask(std::move(frame)));
    if (!answer.has_credentials_ended())
        co_return fail(Code::unavailable, "the master answered something else");
    co_return std::vector<std::string>{answer.credentials_ended().marks().begin(),
                                       answer.credentials_ended().marks().end()};
}

Task<std::uint64_t> MasterLink::linked_after(std::uint64_t seen) {
    while (came_ == seen) CO_TRY(co_await came_changed_.wait());
    co_return came_;
}

Task<> MasterLink::linked_after(std::uint64_t seen, Duration at_most) {
    const Instant until = ports_.timers.now() + at_most;
    const Deadline late{ports_.timers, at_most, [this] { came_changed_.notify_all(); }};
    while (came_ == seen && ports_.timers.now() < until) CO_TRY(co_await came_changed_.wait());
    co_return Result<>{};
}

void MasterLink::tell(uplink::Frame frame) {
    if (link_) (void)link_->try_send(frame);
}

Task<uplink::Frame> MasterLink::ask(uplink::Frame frame) {
    const auto link = link_;  // It may be another one when the answer comes.
    if (!link) co_return fail(Code::unavailable, "not connected to a master");
    co_return co_await link->ask(std::move(frame), question_time);
}

Task<MasterLink::Word> MasterLink::ask_word(uplink::Frame frame) {
    const auto answer = CO_TRY(co_await ask(std::move(frame)));
    if (!answer.has_authenticate_answer())
        co_return fail(Code::internal, "the master answered something else");
    const auto& said = answer.authenticate_answer();
    co_return Word{{said.known(),
                    said.known() && said.allowed(),
                    said.principal(),
                    {said.groups().begin(), said.groups().end()}},
                   seconds{said.valid_s()},
                   said.session(),
                   {said.marks().begin(), said.marks().end()},
                   said.ends_s() == 0 ? std::nullopt : std::optional<Duration>{seconds{said.ends_s()}},
                   said.by_address()};
}

}  // namespace hostler::gateway
