// The master's HTTP: the API, its definition, and the page where a browser signs in to an instance.
#pragma once

#include "core/metrics.h"
#include "http/server.h"
#include "roles/master/http/admission.h"
#include "roles/master/http/api.h"
#include "roles/master/http/forward.h"
#include "roles/master/server/series_follow.h"

namespace hostler::master {

class Front {
public:
    Front(const Ports& ports, const Settings& settings, Lead& lead);
    // One connection to its end.
    Task<> serve(StreamPtr stream, http::Drain* drain = nullptr, http::Place* place = nullptr);
    void write_metrics(MetricsPage& page) const;
    SeriesFollow& series_follow() { return series_follow_; }
    const SeriesFollow& series_follow() const { return series_follow_; }

private:
    bool by_tls(const http::Exchange& exchange) const;
    Task<> answer_sign_in_page(http::Exchange& exchange);
    Task<> answer(http::Exchange& exchange);
    Task<bool> answer_elsewhere(http::Exchange& exchange);
    Task<> until_led();
    void note_master(const http::Exchange& exchange);
    std::string health_of_follower() const;
    Task<> answer_health(http::Exchange& exchange);
    Task<> answer_api(http::Exchange& exchange);
    Task<> refuse(http::Exchange& exchange, const Error& error);
    Task<> front_door_page(http::Exchange& exchange);
    Task<> sign_in_by_provider(http::Exchange& exchange);
    std::string public_url(const http::Exchange& exchange) const;
    // GET /v1/backup: no operation of the table, since its answer is a file of any size and no JSON.
    Task<> send_backup(http::Exchange& exchange);
    Result<api::Caller> caller_of_request(const http::Exchange& exchange) const;
    // Whoever calls an operation that is open to all.

    const Ports& ports_;
    const Settings& settings_;
    Lead& lead_;
    Instant woken_{};  // When those whose time was over were woken last.
    Api api_;
    Forward forward_;
    SeriesFollow series_follow_;
    Admission admission_;
    const std::string transport_security_;
    bool backup_under_way_ = false;
    http::ServerLimits limits_;
};

}  // namespace hostler::master
