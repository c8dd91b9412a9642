// People in sessions with an instance, who know what they typed and what should have come back.
#pragma once

#include "cli/session.h"
#include "cloud.h"

namespace hostler::simulation {

// One instance with a terminal and a forwarded port open; the ways there are struck, one at a time.
class SessionRide {
public:
    explicit SessionRide(std::uint64_t seed, std::function<std::unique_ptr<Net>(Net&)> client_net = {});
    ~SessionRide();

    bool begin();
    void round();   // A gateway, an access point or a master dies, and is back before a session is given up.
    void finish();  // In the calm: everything that was typed has come back.
    int dialled_again() const { return dials_ - 2; }
    const std::string& instance() const { return instance_; }

    Cloud cloud;

private:
    struct Talk;
    cli::CliWorld client_world();
    Task<> type(Talk& talk);
    Task<> listen(Talk& talk);
    void check(Talk& talk);
    bool post(const std::string& target, const std::string& body);

    sim::Dice dice_;
    std::unique_ptr<Net> counting_, net_;
    std::string instance_;
    int dials_ = 0;
    bool calm_ = false;
    std::unique_ptr<cli::CliWorld> world_;
    std::vector<std::unique_ptr<Talk>> talks_;
};

// A net on which what comes first on a connection that was dialled again lacks its last three bytes: a replay
// that does not replay everything.
std::unique_ptr<Net> forgetful_net(Net& net);

}  // namespace hostler::simulation
