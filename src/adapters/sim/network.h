// The network between simulated machines: slow, cut, one-way, refused; but bytes of a connection never change
// their order.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "adapters/sim/clock.h"
#include "adapters/sim/dice.h"
#include "core/signal.h"
#include "core/stream.h"

namespace hostler::sim {

struct NetFaults {
    Duration latency = std::chrono::milliseconds{1};
    Duration jitter = std::chrono::milliseconds{1};
    double delay = 0;                              // Chance that a piece of data is held up,
    Duration delay_max = std::chrono::seconds{5};  // by up to so much.
    double refuse_dial = 0;                        // Chance that nobody answers a dial.
};

struct Connection;
struct Door;

// All machines' connections. Addresses are "machine:port"; "127.0.0.1:port" is a machine's own and open to it
// alone.
class Network {
public:
    Network(Clock& clock, Dice dice) : clock_(clock), dice_(dice) {}

    NetFaults faults;
    enum class Ways { one, both };
    void partition(const std::string& from, const std::string& to, Ways ways = Ways::both);
    void heal(const std::string& from, const std::string& to);
    void heal_all() { cuts_.clear(); }
    bool reaches(const std::string& from, const std::string& to) const;
    // Breaks each open connection of the machine with this chance; what was under way is lost.
    void break_connections(const std::string& machine, double chance, Dice dice);
    std::size_t connections() const;
    // A machine without power answers nothing at all.
    void power(const std::string& machine, bool on) {
        on ? (void)off_.erase(machine) : (void)off_.insert(machine);
    }
    bool powered(const std::string& machine) const { return !off_.contains(machine); }

private:
    friend class SimNet;
    friend class SimStream;
    friend class SimListener;
    Duration travel();
    void deliver(const std::shared_ptr<Connection>& connection, int side);
    void break_now(Connection& connection);

    Clock& clock_;
    Dice dice_;
    std::set<std::pair<std::string, std::string>> cuts_;
    std::set<std::string> off_;
    std::map<std::string, std::weak_ptr<Door>> doors_;  // By address.
    std::map<std::uint64_t, std::weak_ptr<Connection>> open_;
    std::uint64_t last_connection_ = 0;
    std::uint64_t last_net_ = 0;
    int last_port_ = 30'000;
};

// How a machine's end goes away.
enum class Cut { reset, silence };  // Its system says so to its peers; nobody does.

// One machine's Net. After cut() nothing that it does is seen by anybody.
class SimNet final : public Net {
public:
    SimNet(Network& network, std::string machine, Timers& timers)
        : network_(network), machine_(std::move(machine)), timers_(timers), id_(++network.last_net_) {}
    ~SimNet() override { cut(Cut::reset); }

    Task<StreamPtr> dial(std::string address, Duration deadline) override;
    Task<ListenerPtr> listen(std::string address) override;
    Task<StreamPtr> secure(StreamPtr raw, Secure how, Side side, Duration deadline) override;
    void cut(Cut how);

private:
    Network& network_;
    std::string machine_;
    Timers& timers_;
    std::uint64_t id_;
    bool cut_ = false;
    std::vector<std::weak_ptr<Door>> doors_;
};

// TLS of the simulation, over any stream: certificates are exchanged and checked as core/stream.h promises.
Task<StreamPtr> secure_stream(Timers& timers, StreamPtr raw, Secure how, Side side, Duration deadline);

}  // namespace hostler::sim
