#include "roles/agent/layers_ahead.h"

#include <algorithm>

#include "core/log.h"

namespace hostler::agent {

void LayersAhead::want(std::size_t count, std::uint64_t bytes) {
    if (!layers_) return;
    count_ = std::min(count, count_max);
    bytes_ = bytes;
    if (count_ > 0 || made_ > 0) wanted_.notify_all();
}

Task<> LayersAhead::run() {
    while (true) {
        CO_TRY(co_await wanted_.wait());
        if (busy_()) continue;
        const auto made = co_await layers_->make_ahead(count_, bytes_);
        if (!made && made.error().code == Code::cancelled) co_return std::unexpected(made.error());
        if (!made && !failing_) log_warn("layers are not made ahead: {}", made.error().message);
        failing_ = !made;
        if (made) made_ = *made;
    }
}

}  // namespace hostler::agent
