// The shipped agent on real sockets and TLS: from a token, through a shipped access point, to a page that a
// shipped gateway serves from "inside" a container.
#include "roles/agent/agent.h"

#include <fstream>

#include "rig.h"
#include "roles/agent/testing/fakes.h"

namespace hostler::rig {
namespace {

class JoinedHost : public ::testing::Test {
protected:
    JoinedHost() {
        cloud_.master.listens = true;
        settings_.access = {cloud_.access->addresses().uplink};
        settings_.token = "ht_once-only." + cloud_.authority->fingerprint();
        settings_.version = "0.1";
    }
    ~JoinedHost() override { end(); }

    void begin() {
        agent_ = std::make_unique<agent::Agent>(settings_, agent::Ports{cloud_.loop,
                                                                        *cloud_.timers,
                                                                        *cloud_.net,
                                                                        *cloud_.random,
                                                                        engine_,
                                                                        networks_,
                                                                        volumes_,
                                                                        journal_,
                                                                        logs_,
                                                                        {&telemetry_},
                                                                        host_,
                                                                        *keys_});
        tasks_ = std::make_unique<TaskGroup>(cloud_.loop);
        tasks_->start("agent", [](agent::Agent& role, std::optional<Error>& into) -> Task<> {
            const auto ended = co_await role.run();
            if (!ended) into = ended.error();
            co_return Result<>{};
        }(*agent_, ended_));
    }
    void end() {
        if (tasks_) (void)cloud_.go(tasks_->close());
        tasks_.reset();
        agent_.reset();
    }

    // Answers every request with the same page.
    Task<> serve(Listener& listener) {
        while (true) {
            StreamPtr peer = CO_TRY(co_await listener.accept());
            std::string said;
            char into[4096];
            while (said.find("\r\n\r\n") == std::string::npos) {
                const auto size = co_await read_some(*peer, into);
                if (!size || *size == 0) break;
                said.append(into, *size);
            }
            (void)co_await write_all(
                *peer, "HTTP/1.1 200 OK\r\nContent-Length: 17\r\nConnection: close\r\n\r\nhello from inside");
            (void)co_await peer->finish();
        }
    }

    // What a master would do with all that it has heard.
    void answer_all() {
        auto heard = std::exchange(cloud_.master.heard, {});
        for (auto& [session, frame] : heard) {
            said_.push_back(frame);
            uplink::Frame answer;
            answer.set_answer_to(frame.call());
            if (frame.has_join_request()) {
                EXPECT_EQ(cloud_.master.sessions[session], "");
                EXPECT_EQ(frame.join_request().token(), "ht_once-only");
                sign(*answer.mutable_join_answer(), frame.join_request().csr());
            } else if (frame.has_renew_request()) {
                ++renewals_;
                not_before_ = cloud_.timers->wall() - 1min;
                sign(*answer.mutable_join_answer(), frame.renew_request().csr());
            } else if (frame.has_agent_hello()) {
                EXPECT_EQ(cloud_.master.sessions[session], "h-1");
                session_ = session;
                ++hellos_;
                answer.mutable_agent_welcome()->set_epoch(7);
                answer.mutable_agent_welcome()->set_report_interval_ms(500);
            } else if (frame.has_report()) {
                answer.mutable_report_ack()->set_sequence(frame.report().sequence());
                reports_.push_back(frame.report());
            } else if (frame.has_command_update()) {
                if (frame.command_update().state() == "running") continue;
                answers_[frame.command_update().id()] = frame.command_update();
                answer.mutable_command_ack()->set_id(frame.command_update().id());
            }
            cloud_.master.say(session, answer);
        }
    }
    bool eventually(const std::function<bool()>& so) {
        return cloud_.eventually([&] {
            answer_all();
            return so();
        });
    }
    void sign(uplink::JoinAnswer& into, const std::string& csr) {
        const auto signed_one = cloud_.authority->sign(csr, {"host", "h-1"}, {}, not_before_, 3h);
        ASSERT_TRUE(signed_one);
        into.set_host("h-1");
        into.set_zone("nj");
        into.set_certificate(signed_one->certificate);
        into.set_authority(cloud_.authority->certificate());
    }
    uplink::Frame command(const std::string& id, std::uint64_t generation) const {
        uplink::Frame frame;
        auto& made = *frame.mutable_command();
        made.set_id(id);
        made.set_epoch(7);
        made.set_subject("i-1");
        made.set_generation(generation);
        return frame;
    }

    Cloud cloud_;
    agent::Settings settings_;
    agent::testing::FakeEngine engine_;
    agent::testing::FakeNetworks networks_;
    agent::testing::FakeVolumes volumes_;
    agent::testing::FakeLogs logs_;
    agent::testing::FakeTelemetry telemetry_;
    agent::testing::FakeHost host_;
    agent::testing::FakeJournal journal_;
    std::unique_ptr<Keys> keys_ = net::make_keys();
    std::unique_ptr<agent::Agent> agent_;
    std::unique_ptr<TaskGroup> tasks_;
    std::optional<Error> ended_;
    WallTime not_before_ = cloud_.timers->wall() - 1min;
    std::uint64_t session_ = 0;
    int hellos_ = 0, renewals_ = 0;
    std::map<std::string, uplink::CommandUpdate> answers_;
    std::vector<uplink::Report> reports_;
    std::vector<uplink::Frame> said_;  // By the agent, in order.
};

// For tests/recorded: each frame a line, in hexadecimal digits.
void record(const std::vector<uplink::Frame>& frames, const std::string& path) {
    std::ofstream file{path};
    for (const uplink::Frame& frame : frames) {
        for (const unsigned char byte : frame.SerializeAsString()) file << fmt::format("{:02x}", byte);
        file << '\n';
    }
}

TEST_F(JoinedHost, FromATokenToAPage) {
    begin();
    ASSERT_TRUE(eventually([&] { return hellos_ == 1 && agent_->connected(); }));
    // What stands in the container.
    ListenerPtr listener = cloud_.go(cloud_.net->listen("127.0.0.1:0")).value();
    const std::string address{listener->address()};
    const auto port = static_cast<std::uint32_t>(std::stoi(address.substr(address.rfind(':') + 1)));
    TaskGroup servers{cloud_.loop};
    servers.start("inside", serve(*listener));

    uplink::Frame start = command("c-1", 1);
    auto& what = *start.mutable_command()->mutable_start_workload();
    what.set_instance("i-1");
    what.set_image("demo");
    what.set_address("127.0.0.1");
    what.add_ports()->set_port(port);
    what.mutable_ports(0)->set_probe(true);
    what.mutable_ports(0)->set_probe_path("/");
    cloud_.master.say(session_, start);
    ASSERT_TRUE(eventually([&] { return answers_.contains("c-1"); }));
    EXPECT_EQ(answers_["c-1"].state(), "done") << answers_["c-1"].message();

    auto& route = cloud_.add_route("page", "h-1", true);
    route.set_instance("i-1");
    route.set_generation(1);
    route.set_port(port);
    cloud_.master.tell_routes();
    const auto page = [&] { return cloud_.fetch(cloud_.request("page")); };
    ASSERT_TRUE(eventually([&] { return cloud_.gateway->routes().find("page")->port == port; }));
    const auto response = page();
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "hello from inside");

    ASSERT_TRUE(eventually([&] {
        return std::ranges::any_of(reports_, [](const auto& report) { return report.workloads_size() > 0; });
    }));

    uplink::Frame stop = command("c-2", 2);
    stop.mutable_command()->mutable_stop_workload()->set_instance("i-1");
    cloud_.master.say(session_, stop);
    ASSERT_TRUE(eventually([&] { return answers_.contains("c-2"); }));
    EXPECT_EQ(answers_["c-2"].workload().state(), "absent");
    EXPECT_GE(page().status, 500);
    (void)cloud_.go(servers.close());
    if (const char* path = std::getenv("HOSTLER_RECORD_AGENT")) record(said_, path);
}

// Two access points; the one that it speaks through ends under it.
TEST_F(JoinedHost, SpeaksThroughItsStandbyAndItsPageIsThereAtOnce) {
    access::Settings settings;
    settings.masters = {cloud_.master.address};
    settings.uplink_listen = settings.tunnel_listen = settings.control_listen = "127.0.0.1:0";
    settings.zone = "nj";
    MemoryJournal journal;
    access::Access second{settings, access::Ports{cloud_.loop, *cloud_.timers, *cloud_.net, *cloud_.random,
                                                  journal, cloud_.certified("access", "nj-2")}};
    TaskGroup second_tasks{cloud_.loop};
    second_tasks.start("second", second.run());
    ASSERT_TRUE(cloud_.eventually([&] { return second.linked(); }));
    settings_.access.push_back(second.addresses().uplink);
    begin();
    ASSERT_TRUE(eventually([&] { return agent_->connected() && second.counters().sessions == 1; }));
    EXPECT_EQ(hellos_, 1) << "the standby says nothing";

    ListenerPtr listener = cloud_.go(cloud_.net->listen("127.0.0.1:0")).value();
    const std::string address{listener->address()};
    const auto port = static_cast<std::uint32_t>(std::stoi(address.substr(address.rfind(':') + 1)));
    TaskGroup servers{cloud_.loop};
    servers.start("inside", serve(*listener));
    uplink::Frame start = command("c-1", 1);
    auto& what = *start.mutable_command()->mutable_start_workload();
    what.set_instance("i-1");
    what.set_image("demo");
    what.set_address("127.0.0.1");
    what.add_ports()->set_port(port);
    cloud_.master.say(session_, start);
    ASSERT_TRUE(eventually([&] { return answers_.contains("c-1"); }));
    auto& route = cloud_.add_route("page", "h-1", true);
    route.set_instance("i-1");
    route.set_generation(1);
    route.set_port(port);
    route.add_access(second.addresses().control);
    cloud_.master.tell_routes();
    ASSERT_TRUE(eventually([&] { return cloud_.gateway->routes().find("page")->access.size() == 2; }));
    EXPECT_EQ(cloud_.fetch(cloud_.request("page")).status, 200);
    ASSERT_TRUE(eventually([&] { return reports_.size() >= 2; }));

    (void)cloud_.go(cloud_.access_tasks->close());
    EXPECT_EQ(cloud_.fetch(cloud_.request("page")).status, 200) << "before anybody has told the gateway";
    EXPECT_EQ(second.counters().tunnels.opened, 1U);
    const std::size_t before = reports_.size();
    ASSERT_TRUE(
        eventually([&] { return hellos_ == 2 && agent_->connected() && reports_.size() > before + 2; }));
    std::set<std::uint64_t> numbers;
    for (const auto& report : reports_) numbers.insert(report.sequence());
    EXPECT_EQ(*numbers.rbegin() - *numbers.begin() + 1, numbers.size()) << "none is missing";
    EXPECT_TRUE(journal_.kept.contains("sequence"));
    (void)cloud_.go(servers.close());
    end();
    (void)cloud_.go(second_tasks.close());
}

TEST_F(JoinedHost, ATokenOfAnotherCloudIsNotSpentOnThisOne) {
    settings_.token = "ht_once-only." + std::string(64, 'a');
    begin();
    ASSERT_TRUE(eventually([&] { return ended_.has_value(); }));
    EXPECT_EQ(ended_->code, Code::unauthenticated);
    EXPECT_FALSE(journal_.kept.contains("identity"));
}

TEST_F(JoinedHost, RenewsItsCertificateAndStaysTheSame) {
    not_before_ = cloud_.timers->wall() - 2h;  // Two thirds of its life are over already.
    begin();
    ASSERT_TRUE(eventually([&] { return hellos_ == 1 && agent_->connected(); }));
    EXPECT_EQ(renewals_, 1);
    const std::string identity = journal_.kept.at("identity");
    end();
    begin();
    ASSERT_TRUE(eventually([&] { return hellos_ == 2 && agent_->connected(); }));
    EXPECT_EQ(renewals_, 1);
    EXPECT_EQ(journal_.kept.at("identity"), identity);
}

}  // namespace
}  // namespace hostler::rig
