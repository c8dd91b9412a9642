#include "roles/agent/silent_ports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/ip_address.h"
#include "roles/agent/within.h"

namespace hostler::agent {

namespace {

constexpr Duration patience = seconds{2};
constexpr Duration counts_for = seconds{1};
constexpr std::size_t asked_max = 1024;

bool is_loopback(const std::string& address) {
    const auto ip = parse_ip(address);
    return ip && (ip->is_v4() ? ip->bytes[12] == 127 : ip->bare_text() == "::1");
}

}  // namespace

std::string loopback_only(std::span<const std::string> addresses) {
    if (addresses.empty() || !std::ranges::all_of(addresses, is_loopback)) return {};
    return fmt::format("its program listens on {} only; let it listen on 0.0.0.0",
                       fmt::join(addresses, " and "));
}

Task<std::string> SilentPorts::why(std::string container, std::uint16_t port) {
    if (!ports_.processes) co_return std::string{};
    if (asked_.size() >= asked_max)
        std::erase_if(asked_, [](const auto& one) { return !one.second->under_way; });
    auto& place = asked_[{container, port}];
    if (!place) place = std::make_shared<Asked>();
    const auto asked = place;
    while (asked->under_way) CO_TRY(co_await asked->answered.wait());
    if (ports_.timers.now() < asked->until) co_return asked->answer;
    struct UnderWay {
        Asked& asked;
        explicit UnderWay(Asked& one) : asked(one) { asked.under_way = true; }
        ~UnderWay() {
            asked.under_way = false;
            asked.answered.notify_all();
        }
        UnderWay(const UnderWay&) = delete;
    } const under_way{*asked};
    const auto addresses = co_await within(ports_.loop, ports_.timers, patience, "who listens",
                                           ports_.processes->listening(std::move(container), port));
    CO_TRY(co_await check_cancelled());
    asked->answer = addresses ? loopback_only(*addresses) : std::string{};
    asked->until = ports_.timers.now() + counts_for;
    co_return asked->answer;
}

}  // namespace hostler::agent
