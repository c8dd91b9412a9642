#include "roles/agent/speed.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "wire/speed.h"

namespace hostler::agent {

SpeedAnswers::SpeedAnswers(const Settings& settings, const Ports& ports, Sampler& sampler)
    : settings_(settings), ports_(ports), sampler_(sampler), tasks_(ports.loop) {}

SpeedAnswers::~SpeedAnswers() = default;

Task<> SpeedAnswers::close() { return tasks_.close(); }

void SpeedAnswers::answer(uplink::SpeedOrder order) {
    constexpr std::size_t ticket_max = 96;
    const auto bad = [](char c) {
        return static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 0x7f;
    };
    if (answering_ || order.ticket().empty() || order.ticket().size() > ticket_max ||
        std::ranges::any_of(order.ticket(), bad))
        return;
    answering_ = true;
    tasks_.start("speed", [](SpeedAnswers& self, uplink::SpeedOrder said) -> Task<> {
        const auto done = co_await self.carry(std::move(said));
        self.answering_ = false;
        if (!done) log_debug("the speed of our way is not measured: {}", done.error().message);
        co_return Result<>{};
    }(*this, std::move(order)));
}

Task<> SpeedAnswers::carry(uplink::SpeedOrder order) {
    const bool in_use = CO_TRY(co_await busy(order.busy_kbit_s()));
    const StreamPtr stream =
        CO_TRY(co_await ports_.net.dial(order.tunnel_address(), settings_.tunnel_handshake));
    const Deadline deadline{ports_.timers, settings_.speed_deadline, [&] { stream->close(); }};
    CO_TRY(co_await write_all(*stream, fmt::format("{}{}{}\n", wire::speed_greeting, order.ticket(),
                                                   in_use ? wire::speed_busy : "")));
    co_return co_await wire::answer_speed(*stream, ports_.random);
}

Task<bool> SpeedAnswers::busy(std::uint32_t limit_kbit_s) {
    const Metric before = CO_TRY(co_await moved());
    const Instant begun = ports_.timers.now();
    CO_TRY(co_await sleep(ports_.timers, settings_.busy_look));
    const Metric after = CO_TRY(co_await moved());
    if (!before || !after || *after < *before) co_return false;
    const double seconds = std::chrono::duration<double>{ports_.timers.now() - begun}.count();
    co_return static_cast<double>(*after - *before) * 8e-3 > seconds* limit_kbit_s;
}

Task<Metric> SpeedAnswers::moved() {
    const auto samples = CO_TRY(co_await sampler_.sample());
    if (!samples.host || !samples.host->network_sent_bytes || !samples.host->network_received_bytes)
        co_return Metric{};
    co_return Metric{*samples.host->network_sent_bytes + *samples.host->network_received_bytes};
}

}  // namespace hostler::agent
