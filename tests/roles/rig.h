// A small cloud on loopback sockets with real TLS: the shipped access point and gateway between a master,
// agents and clients that are played here.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>

#include "adapters/net/authority.h"
#include "adapters/net/digest.h"
#include "adapters/net/net.h"
#include "core/testing/temp_folder.h"
#include "http/client.h"
#include "http/server.h"
#include "proto/uplink.pb.h"
#include "roles/access/access.h"
#include "roles/gateway/gateway.h"
#include "wire/channel.h"
#include "wire/link.h"

namespace hostler::rig {

using namespace std::chrono_literals;

class MemoryJournal : public Journal {
public:
    const std::map<std::string, std::string>& all() const override { return entries_; }
    Task<> put_all(std::vector<Entry> entries) override {
        for (auto& [key, value] : entries) entries_[key] = value;
        co_return Result<>{};
    }
    Task<> erase(std::string key) override {
        entries_.erase(key);
        co_return Result<>{};
    }

private:
    std::map<std::string, std::string> entries_;
};

// What everybody stands on.
class World {
public:
    World();
    // `from`: after now; the default is a day around now.
    std::shared_ptr<const Credentials> issue(const std::string& role, const std::string& id,
                                             Duration from = -1min, Duration life = 24h,
                                             const ServerNames& names = {});
    // A role's own, which it may renew; kept as long as the world.
    Certified& certified(const std::string& role, const std::string& id, Duration from = -1min,
                         Duration life = 24h, const ServerNames& names = {});
    std::shared_ptr<const Credentials> stranger();  // Believes in the authority, has no certificate.
    Secure secure(std::shared_ptr<const Credentials> own, std::string expect) const {
        return {std::move(own), true, std::move(expect)};
    }

    // The task's answer; after 20 s it is cancelled.
    template <class T>
    Result<T> go(Task<T> task) {
        std::optional<Result<T>> answer;
        TaskGroup group{loop};
        group.start("test", [](std::optional<Result<T>>& into, Task<T> inner) -> Task<> {
            into.emplace(co_await std::move(inner));
            co_return Result<>{};
        }(answer, std::move(task)));
        const Deadline deadline{*timers, 20s, [&] { group.cancel(); }};
        loop.restart();
        while (!answer) loop.run_one();
        return std::move(*answer);
    }
    // Lets everything run until it is so; false after 10 s.
    bool eventually(const std::function<bool()>& so);
    void pass(Duration time);  // Lets everything run for so long.

    Loop loop;
    std::unique_ptr<Timers> timers = net::make_timers(loop);
    std::unique_ptr<Net> net = net::make_net(loop);
    std::unique_ptr<Random> random = net::make_random();
    net::OpenSslDigest digest;
    testing::TempFolder folder;
    std::unique_ptr<Authority> authority;
    std::unique_ptr<Keys> keys = net::make_keys();
    std::list<Certified> certifieds;
    std::vector<std::string> renewals;  // Certificates that replaced others, in order.
};

// Tells the gateway routes and verdicts, and talks with agents through access points.
class Master {
public:
    explicit Master(World& world, std::uint64_t epoch = 7);
    ~Master();
    void serve(std::string address = "127.0.0.1:0");
    void vanish();  // Closes its port and all its links.
    void tell_routes();
    void cut_off(const std::string& host, bool revoked);
    void say(std::uint64_t session, const uplink::Frame& frame);
    void drain(bool draining);
    Task<uplink::Frame> measure(std::string host);  // Asks an access point how fast the way to it is.
    void end_key(const std::string& key);           // It is revoked, and gateways hear of it.

    bool is_elsewhere(const std::string& key, const std::string& from) const {
        const auto only = bound.find(key);
        return only != bound.end() && only->second != from;
    }

    // With which a page enters, once.
    struct Ticket {
        std::string key;  // Of whoever asked for it.
        std::string instance, kind, origin;
    };
    struct Heard {
        std::uint64_t session;
        uplink::Frame frame;
    };
    std::string address;
    std::uint64_t epoch;
    std::vector<std::string> revoked;
    std::map<std::string, uplink::Route> routes;
    std::map<std::string, std::string> keys;   // API key, or session@route → tenant.
    std::map<std::string, std::string> bound;  // Of them: API key → the one address that it is for.
    std::map<std::string, std::string> codes;  // Code → session.
    std::map<std::string, Ticket> tickets;
    std::map<std::string, std::uint32_t> ends_s;  // Of API keys that end by themselves.
    std::map<std::uint64_t, std::string> sessions;
    std::vector<std::string> ended;       // Why sessions went down.
    std::vector<std::string> signed_out;  // session@route
    std::set<std::string> guests;         // Of `keys`: those that may only look on.
    std::string explanation;              // What pages are told; empty: the detail of the route.
    std::string start_refused;            // Why nothing can be started; empty: everything can.
    std::vector<std::string> started;     // By whom, each time: a key or session@route.
    std::deque<Heard> heard;
    uplink::AccessHello access_hello;
    int questions = 0;
    std::string passed;    // Every byte between hosts and us that an access point passes on.
    bool listens = false;  // Invites hosts, and hears what they say sealed; else it hears what is relayed.
    std::uint32_t valid_s = 1;  // How long a verdict may be kept.
    int links() const { return static_cast<int>(links_.size()); }

private:
    Task<> accept();
    Task<> link(StreamPtr raw);
    void obey(wire::Link& link, uplink::Frame frame);
    void greet(wire::Link& link, bool access);
    std::string credential_in(const uplink::EnterRequest& asked);
    std::string key_in(const uplink::AuthenticateRequest& asked) const;
    std::uint64_t number_of(wire::Link& link, std::uint64_t session);
    Result<> relay(std::uint64_t number, const uplink::Frame& frame);
    void invite(std::uint64_t number);
    void feed(std::uint64_t number, const uplink::Sealed& sealed);
    Task<> converse(std::uint64_t number, StreamPtr raw);

    // A session at one of the access points, by a number of ours: each of them counts from one.
    struct Place {
        wire::Link* link = nullptr;
        std::uint64_t session = 0;
        std::uint64_t channel = 0;
        std::unique_ptr<wire::Channel> open{};
        std::shared_ptr<wire::Link> sealed{};
    };
    std::map<std::uint64_t, Place> places_;
    std::uint64_t channels_ = 0, numbers_ = 0;
    World& world_;
    ListenerPtr listener_;
    std::list<std::pair<wire::Link*, bool>> links_;  // And whether it is an access point's.
    std::unique_ptr<TaskGroup> tasks_;
};

// A host: keeps an uplink, dials tunnels, and serves HTTP in them as if it were the container.
class Agent {
public:
    Agent(World& world, std::string host, std::string uplink);
    ~Agent();
    void send(const uplink::Frame& frame) { EXPECT_TRUE(link_->try_send(frame)); }
    bool connected() const { return link_ && !link_->closed(); }
    void answer_orders(bool yes) { answers_ = yes; }
    void impersonate(std::shared_ptr<const Credentials> as) { tunnel_credentials_ = std::move(as); }

    std::vector<uplink::Frame> received;
    std::vector<std::string> orders;  // Tickets.
    std::string tunnel_address;
    int tunnels = 0;                          // Opened so far.
    std::string refuse_with;                  // The reason of a Failure in place of TunnelReady.
    std::function<Task<>(StreamPtr)> origin;  // In place of HTTP: what a tunnel leads to.
    int events = 0;                           // How many server-sent events may leave.
    Signal events_changed;
    std::uint64_t sunk = 0;               // Bytes of bodies read.
    std::uint64_t sink_max = UINT64_MAX;  // Reads no further until it is raised.
    Signal sink_changed;

private:
    Task<> live(std::string uplink);
    Task<> tunnel(uplink::TunnelOrder order);
    Task<> handle(http::Exchange& exchange, std::string instance);
    Task<> events_to(http::Exchange& exchange);
    Task<> sink(http::Exchange& exchange);

    World& world_;
    std::string host_;
    std::shared_ptr<const Credentials> credentials_;
    std::shared_ptr<const Credentials> tunnel_credentials_;
    std::unique_ptr<wire::Link> link_;
    bool answers_ = true;
    TaskGroup tasks_;
};

// All of it.
class Cloud : public World {
public:
    // `from`, `life`: of the certificates of access point and gateway, as in certified().
    explicit Cloud(
        std::function<void(access::Settings&, gateway::Settings&)> change = [](auto&, auto&) {},
        Duration from = -1min, Duration life = 24h);
    ~Cloud();

    uplink::Route& add_route(const std::string& name, const std::string& host, bool open_to_all);
    http::Request request(const std::string& name, std::string target = "/") const;
    http::Response fetch(http::Request request);
    std::string host_header(const std::string& name) const;
    std::string port() const;  // Of the gateway.
    void kill_gateway();       // Where it is; what it had not written down is gone.
    void begin_gateway();      // At the same address again.

    Master master{*this};
    MemoryJournal access_journal, gateway_journal;
    http::Arrival gateway_arrival;  // Of the next gateway that begins.
    gateway::Settings gateway_settings;
    std::unique_ptr<access::Access> access;
    Certified* gateway_own = nullptr;
    std::unique_ptr<gateway::Gateway> gateway;
    http::Client client{*net, *timers};
    std::unique_ptr<TaskGroup> access_tasks = std::make_unique<TaskGroup>(loop);
    std::unique_ptr<TaskGroup> gateway_tasks = std::make_unique<TaskGroup>(loop);
};

}  // namespace hostler::rig
