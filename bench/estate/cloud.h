// The master's half of the bench: a term that leads, with the adapters that a shipped master has. It stands
// on one loop, on whose thread nothing else runs.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "adapters/net/digest.h"
#include "bench/estate/turns.h"
#include "core/worker.h"
#include "ports/testing/played_outgoing.h"
#include "ports/testing/quick_passwords.h"
#include "roles/master/http/api.h"
#include "wire/channel.h"

namespace hostler::bench {

// Asked of the API as if it had come over HTTP.
struct Asked {
    Ask what = Ask::other;
    std::string tenant;  // Empty: an operator asks.
    std::string method, target, body;
};

class Cloud {
public:
    Cloud(Loop& loop, Turns& turns, std::filesystem::path folder);
    ~Cloud();

    // A new store with a zone, these hosts and a spec of one GPU; the term runs when it returns.
    Task<> begin(std::vector<std::string> hosts);
    Task<> close();

    void ask(Asked asked, api::EventSink* sink, std::move_only_function<void(api::Reply)> then);
    // The host is there and was invited: what it says comes by this channel.
    void serve(const std::string& host, std::shared_ptr<wire::Channel> channel);
    const master::Term& term() const { return *lead_.term; }
    master::Desk& desk() { return lead_.term->desk("bench"); }

private:
    class NoTls;
    Task<> lead();

    Loop& loop_;
    Turns& turns_;
    const std::filesystem::path folder_;
    const std::unique_ptr<Timers> timers_;
    const std::unique_ptr<Random> random_;
    const std::unique_ptr<Keys> keys_;
    const std::unique_ptr<Net> net_;
    const std::unique_ptr<Worker> store_worker_, series_worker_, query_worker_;
    net::OpenSslDigest digest_;
    testing::PlayedOutgoing outgoing_;
    testing::QuickPasswords passwords_;
    Certified own_;
    master::Settings settings_;  // As they are by default.
    std::unique_ptr<Authority> authority_;
    std::unique_ptr<Sealer> sealer_;
    std::unique_ptr<Store> store_;
    std::unique_ptr<SeriesStore> series_;
    std::unique_ptr<master::Ports> ports_;
    master::Lead lead_;
    master::Api api_{lead_};
    TaskGroup term_task_, tasks_;
    std::uint64_t sessions_ = 0;
};

}  // namespace hostler::bench
