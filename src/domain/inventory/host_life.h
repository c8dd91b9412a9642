// The life of a host: joining → ready ⇄ unreachable → lost; cordoned beside it.
#pragma once

#include <boost/describe.hpp>

#include "core/timers.h"
#include "domain/life.h"

namespace hostler {

enum class HostPhase {
    joining,  // It has a certificate and has not reported.
    ready,
    unreachable,  // Silent. What runs there runs on; nothing new goes there.
    lost,         // Silent for too long.
    retired,      // Removed; its certificate is worth nothing.
};
BOOST_DESCRIBE_ENUM(HostPhase, joining, ready, unreachable, lost, retired)

enum class HostEvent { report, silence, long_silence, remove };
BOOST_DESCRIBE_ENUM(HostEvent, report, silence, long_silence, remove)

inline constexpr Edge<HostPhase, HostEvent> host_life[] = {
    {HostPhase::joining, HostEvent::report, HostPhase::ready},
    {HostPhase::ready, HostEvent::silence, HostPhase::unreachable},
    {HostPhase::unreachable, HostEvent::report, HostPhase::ready},
    {HostPhase::unreachable, HostEvent::long_silence, HostPhase::lost},
    {HostPhase::lost, HostEvent::report, HostPhase::ready},
    {HostPhase::joining, HostEvent::remove, HostPhase::retired},
    {HostPhase::ready, HostEvent::remove, HostPhase::retired},
    {HostPhase::unreachable, HostEvent::remove, HostPhase::retired},
    {HostPhase::lost, HostEvent::remove, HostPhase::retired},
};
static_assert(is_deterministic(host_life) && is_final(host_life, HostPhase::retired));

}  // namespace hostler
