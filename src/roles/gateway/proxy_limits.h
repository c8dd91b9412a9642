// How long the gateway waits on the way to what is behind it.
#pragma once

#include "http/proxy.h"
#include "roles/gateway/settings.h"

namespace hostler::gateway {

inline http::ProxyLimits proxy_limits_of(const Settings& settings) {
    using std::chrono::seconds;
    constexpr Duration upgraded_time_min = std::chrono::hours{1};
    return {.pool = {.idle_max = settings.idle_upstreams_max, .idle_time = seconds{settings.idle_upstream_s}},
            .answer_time = seconds{settings.answer_s},
            .body_time = seconds{settings.stream_s},
            .pipe_time = std::max<Duration>(upgraded_time_min, seconds{settings.upgraded_s})};
}

}  // namespace hostler::gateway
