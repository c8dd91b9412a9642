#include "roles/access/accept.h"

#include "core/task_group.h"

namespace hostler::access {

Task<> accept_all(Listener& listener, Timers& timers, std::function<void(StreamPtr)> take) {
    while (true) {
        auto stream = co_await listener.accept();
        if (stream) {
            take(std::move(*stream));
            continue;
        }
        if (stream.error().code == Code::cancelled) co_return std::unexpected(std::move(stream.error()));
        CO_TRY(co_await sleep(timers, std::chrono::milliseconds{50}));
    }
}

std::string without_port(std::string_view address) {
    const auto colon = address.rfind(':');
    if (colon == std::string_view::npos || address.find(']', colon) != std::string_view::npos)
        return std::string{address};
    return std::string{address.substr(0, colon)};
}

}  // namespace hostler::access
