// For tests: a master with GPUs that a test heats, and servers that are told of it.
#pragma once

#include <boost/json.hpp>

#include "roles/master/alert/alerts.h"
#include "roles/master/alert/watch.h"
#include "roles/master/testing/term_rig.h"

namespace hostler::master::testing {

struct AlertRig : TermRig {
    AlertRig() {
        outgoing.servers["https://hooks.example"] = [this](const HttpCall& call) -> Result<HttpAnswer> {
            if (away) return HttpAnswer{.status = 503};
            heard.push_back(boost::json::parse(call.body).as_object());
            return HttpAnswer{.status = 200};
        };
        Desk& now = desk();
        now.estate.hosts.add(
            {.id = "h-a", .zone = "nj", .phase = HostPhase::ready, .facts = DeskRig::facts_of("a", 2)});
        (void)commit();
        start_alerts(term());
    }
    static alert::Receiver receiver(const std::string& name, const std::string& tenant = "") {
        alert::Receiver made{.id = alert::receiver_id(tenant, name), .name = name, .tenant = tenant};
        made.url = "https://hooks.example/" + name;
        made.group_wait_s = 0;
        made.group_interval_s = 0;
        return made;
    }
    void add(alert::Receiver made) {
        HOSTLER_ASSERT(put_alert_receiver(desk(), std::move(made)));
        (void)commit();
    }
    // From here on its first GPU has this temperature; it slows down at 90.
    void heat(std::int64_t celsius) { celsius_ = celsius; }
    // Time goes on, and the host reports every ten seconds.
    void pass(int seconds) {
        for (int at = 0; at < seconds; at += 5) {
            HostLive& live = desk().live.hosts["h-a"];
            if (celsius_) {
                GpuSample sample{.uuid = "GPU-a-0"};
                sample.temperature_celsius = celsius_;
                sample.temperature_slowdown_celsius = 90;
                live.samples["GPU-a-0"] = sample;
                live.sampled_at = desk().estate.micros();
            }
            timers.advance(std::chrono::seconds{5});
        }
    }
    // Another master takes over: what is stored is all it has.
    void take_over(std::uint64_t epoch) {
        finish();
        begin(epoch);
        const auto stored = hostler::testing::try_run(loop, store.load());
        HOSTLER_ASSERT(stored && *stored && term().estate().load((*stored)->live));
        start_alerts(term());
    }
    // "firing gpu-hot, resolved gpu-hot": all that was heard.
    std::string words() const {
        std::string said;
        for (const auto& notice : heard)
            for (const auto& one : notice.at("alerts").as_array()) {
                const auto& alert = one.as_object();
                if (!said.empty()) said += ", ";
                said += std::string{alert.at("status").as_string()} + " " +
                        std::string{alert.at("labels").as_object().at("alertname").as_string()};
            }
        return said;
    }
    std::string id(std::size_t notice) const { return std::string{heard.at(notice).at("id").as_string()}; }

    bool away = false;
    std::vector<boost::json::object> heard;

private:
    std::optional<std::int64_t> celsius_ = 40;
};

}  // namespace hostler::master::testing
