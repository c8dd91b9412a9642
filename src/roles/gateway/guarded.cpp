#include "roles/gateway/guarded.h"

#include "core/signal.h"
#include "core/task_group.h"

namespace hostler::gateway {

Task<http::Outcome> guarded(Loop& loop, Stays& stays, Question by, http::Inlet& inlet,
                            Task<http::Outcome> forwarding) {
    std::optional<Result<http::Outcome>> outcome;
    TaskGroup passing{loop};
    Signal passed;
    Stays::Stay stay{stays, std::move(by)};
    passing.start(
        "guarded request",
        [](Task<http::Outcome> what, std::optional<Result<http::Outcome>>& into, Signal& done) -> Task<> {
            into.emplace(co_await std::move(what));
            done.notify_all();
            co_return Result<>{};
        }(std::move(forwarding), outcome, passed));
    stay.on_end([&passing] { passing.cancel(); });
    Result<> waited{};
    if (!outcome) waited = co_await passed.wait();
    stay.on_end({});
    (void)co_await passing.close();
    if (!waited) co_return std::unexpected(waited.error());
    if (stay.ended() && (!*outcome || (*outcome)->status == 0 || (*outcome)->error)) {
        inlet.abandon();  // What was sent of an answer must not be taken for whole.
        co_return http::Outcome{.status = 401, .client_gone = true};
    }
    co_return std::move(*outcome);
}

}  // namespace hostler::gateway
