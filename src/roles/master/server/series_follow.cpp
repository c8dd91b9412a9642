#include "roles/master/server/series_follow.h"

#include <fmt/format.h>

#include "core/log.h"
#include "core/version.h"
#include "roles/master/http/forward.h"

namespace hostler::master {

namespace {

using std::chrono::seconds;

constexpr http::Patience patience{
    .connect = seconds{3}, .head = seconds{30}, .idle = seconds{10}, .total = seconds{60}};
constexpr http::ClientLimits client_limits{.idle_max = 1, .addresses_max = 2, .idle_time = seconds{30}};

// Counts itself as long as it lives.
class Counted {
public:
    explicit Counted(std::size_t& count) : count_(count) { ++count_; }
    ~Counted() { --count_; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

private:
    std::size_t& count_;
};

}  // namespace

SeriesFollow::SeriesFollow(const Ports& ports, Lead& lead)
    : ports_(ports), lead_(lead), client_(ports.net, ports.timers, client_limits) {}

Duration SeriesFollow::lag() const {
    return had_all_ && lead_.other ? ports_.timers.now() - *had_all_ : Duration{0};
}

Task<> SeriesFollow::run() {
    if (!ports_.mirror) co_return Result<>{};
    bool failing = false;
    while (true) {
        if (!lead_.other) had_all_.reset();
        while (!lead_.other) CO_TRY(co_await lead_.changed.wait());
        const Instant asked = ports_.timers.now();
        if (!had_all_) had_all_ = asked;
        const auto piece = co_await one_piece(*lead_.other);
        CO_TRY(co_await check_cancelled());
        if (piece) {
            count_.rows += piece->rows;
            count_.segments_skipped += piece->segments_skipped;
            if (piece->all && lead_.other) had_all_ = asked;
        } else {
            ++count_.failures;
            if (!failing) log_warn("series: replication from the leader fails: {}", piece.error().message);
        }
        failing = !piece;
        CO_TRY(co_await sleep(ports_.timers, piece && !piece->all ? Duration{rest} : Duration{look}));
    }
}

Task<Mirrored> SeriesFollow::one_piece(Contender leader) {
    http::Request request{.method = "POST", .target = std::string{path}};
    request.headers.set("Content-Type", "application/octet-stream");
    request.headers.set(std::string{version_header}, std::string{version});
    request.body = CO_TRY(co_await ports_.mirror->ask(leader.name));
    auto response = CO_TRY(co_await client_.fetch(
        {.address = leader.address, .secure = Secure{.own = ports_.own.credentials(), .expect = "master/"}},
        std::move(request), patience, SeriesMirror::answer_bytes_max));
    if (response.status != 200)
        co_return fail(Code::unavailable, fmt::format("master {} answers {}", leader.name, response.status));
    co_return co_await ports_.mirror->take(leader.name, std::move(response.body));
}

Task<> SeriesFollow::answer(http::Exchange& exchange) {
    if (!ports_.mirror) co_return fail(Code::not_found, "this master passes no series on", "not_found");
    if (answering_ >= answers_max)
        co_return fail(Code::unavailable, "other masters are reading series; ask again in a moment", "busy");
    const Counted counted{answering_};
    const Deadline deadline{ports_.timers, patience.total, [&] { exchange.cut(); }};
    auto question = CO_TRY(co_await exchange.read_all(SeriesMirror::question_bytes_max));
    http::Response response{.status = 200,
                            .body = CO_TRY(co_await ports_.mirror->answer(std::move(question)))};
    response.headers.set("Content-Type", "application/octet-stream");
    response.headers.set("Cache-Control", "no-store");
    co_return co_await exchange.respond(std::move(response));
}

}  // namespace hostler::master
