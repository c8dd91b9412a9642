// Somebody holds the key of an access point. What can they do with it, beyond what the network could do to
// us anyway? They try it against everything.
#include "rig.h"
#include "roles/agent/agent.h"
#include "roles/agent/testing/fakes.h"

namespace hostler::rig {
namespace {

// An access point of the thief's: it has the key, and says and passes on what the test wants.
class Thief {
    World& world_;

public:
    explicit Thief(World& on) : world_(on), tasks_(on.loop) {
        listener_ = on.go(on.net->listen("127.0.0.1:0")).value();
        tasks_.start("thief", accept());
    }
    ~Thief() {
        if (link) link->close();
        channel.reset();
        (void)world_.go(tasks_.close());
    }
    std::string address() const { return std::string{listener_->address()}; }
    // Towards the host, as if it were the master: with its own authority in the invitation, or the right one.
    void invite(std::string named) {
        uplink::Frame frame;
        frame.mutable_invite()->set_channel(1);
        frame.mutable_invite()->set_authority(std::move(named));
        EXPECT_TRUE(link->try_send(frame));
    }

    std::shared_ptr<const Credentials> key = world_.issue("access", "nj-1");
    std::shared_ptr<const Credentials> as_master = key;
    std::string authority = world_.authority->certificate();
    std::shared_ptr<wire::Link> link;
    std::unique_ptr<wire::Channel> channel;
    std::string seen;                 // All that it could read.
    std::vector<std::string> why;     // Its handshakes as a master ended with these.
    std::vector<uplink::Frame> told;  // What a host said to it, thinking that it is a master.
    std::vector<uplink::Frame> says;  // To whoever comes.
    int visitors = 0;

private:
    Task<> accept() {
        while (true) tasks_.start("visitor", serve(CO_TRY(co_await listener_->accept())));
    }
    Task<> serve(StreamPtr raw) {
        auto stream = CO_TRY(co_await world_.net->secure(std::move(raw), {.own = key, .peer_required = false},
                                                         Side::server, 5s));
        const auto mine = link = std::make_shared<wire::Link>(world_.loop, *world_.timers, std::move(stream));
        ++visitors;
        for (const auto& frame : says) EXPECT_TRUE(mine->try_send(frame));
        invite(authority);
        while (auto frame = co_await mine->receive()) {
            seen += frame->SerializeAsString();
            if (!frame->has_sealed() || frame->sealed().end()) continue;
            if (!channel || channel->ended()) {
                channel = std::make_unique<wire::Channel>(world_.loop, "host", [mine](std::string piece) {
                    uplink::Frame said;
                    said.mutable_sealed()->set_channel(1);
                    said.mutable_sealed()->set_bytes(std::move(piece));
                    return mine->send(std::move(said));
                });
                tasks_.start("as master", pretend(channel->stream()));
            }
            (void)channel->feed(frame->sealed().bytes());
        }
        if (channel) channel->end({Code::unavailable, "the host has gone"});
        co_return Result<>{};
    }
    Task<> pretend(StreamPtr raw) {
        auto stream = co_await world_.net->secure(std::move(raw), {.own = as_master, .peer_required = false},
                                                  Side::server, 5s);
        if (!stream) {
            why.push_back(stream.error().message);
            co_return Result<>{};
        }
        wire::Link sealed{world_.loop, *world_.timers, std::move(*stream)};
        while (auto frame = co_await sealed.receive()) told.push_back(std::move(*frame));
        co_return Result<>{};
    }

    ListenerPtr listener_;
    TaskGroup tasks_;
};

class StolenKey : public ::testing::Test {
protected:
    ~StolenKey() override { end(); }
    void begin(std::string access, std::string token) {
        settings_.access = {std::move(access)};
        settings_.token = std::move(token);
        settings_.backoff_max = 200ms;
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
    std::string token() const { return "ht_secret-of-the-token." + cloud_.authority->fingerprint(); }
    // A host that has joined before: its identity is in its journal.
    void join_honestly() {
        cloud_.master.listens = true;
        begin(cloud_.access->addresses().uplink, token());
        ASSERT_TRUE(eventually([&] { return agent_->connected(); }));
    }
    // What a master would do.
    bool eventually(const std::function<bool()>& so) {
        return cloud_.eventually([&] {
            auto heard = std::exchange(cloud_.master.heard, {});
            for (auto& [session, frame] : heard) {
                uplink::Frame answer;
                answer.set_answer_to(frame.call());
                if (frame.has_join_request()) {
                    auto& joined = *answer.mutable_join_answer();
                    joined.set_host("h-1");
                    joined.set_zone("nj");
                    joined.set_authority(cloud_.authority->certificate());
                    joined.set_certificate(cloud_.authority
                                               ->sign(frame.join_request().csr(), {"host", "h-1"}, {},
                                                      cloud_.timers->wall() - 1min, 24h)
                                               .value()
                                               .certificate);
                } else if (frame.has_agent_hello()) {
                    session_ = session;
                    answer.mutable_agent_welcome()->set_epoch(7);
                } else if (frame.has_report()) {
                    answer.mutable_report_ack()->set_sequence(frame.report().sequence());
                } else if (frame.has_command_update()) {
                    updates_.push_back(frame.command_update());
                    answer.mutable_command_ack()->set_id(frame.command_update().id());
                } else {
                    continue;
                }
                cloud_.master.say(session, answer);
            }
            return so();
        });
    }
    static uplink::Frame start(const std::string& id) {
        uplink::Frame frame;
        auto& command = *frame.mutable_command();
        command.set_id(id);
        command.set_epoch(7);
        command.set_subject("i-1");
        command.set_generation(1);
        auto& what = *command.mutable_start_workload();
        what.set_instance("i-1");
        what.set_image("demo");
        what.set_address("127.0.0.1");
        auto& variable = *what.add_environment();
        variable.set_name("PASSWORD_OF_THE_DATABASE");
        variable.set_value("correct horse battery staple");
        return frame;
    }
    Result<StreamPtr> dial(const std::string& address, std::shared_ptr<const Credentials> as,
                           std::string expect) {
        return cloud_.go([](World& world, std::string to, Secure how) -> Task<StreamPtr> {
            auto raw = CO_TRY(co_await world.net->dial(to, 5s));
            co_return co_await world.net->secure(std::move(raw), std::move(how), Side::client, 5s);
        }(cloud_, address, cloud_.secure(std::move(as), std::move(expect))));
    }
    bool is_refused(const std::string& address, std::shared_ptr<const Credentials> as, std::string expect) {
        const auto stream = dial(address, std::move(as), std::move(expect));
        if (!stream) return true;
        char into[1];
        const auto got = cloud_.go(read_some(**stream, into));
        return !got ? got.error().code != Code::cancelled : *got == 0;
    }

    Cloud cloud_;
    Thief thief_{cloud_};
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
    std::uint64_t session_ = 0;
    std::vector<uplink::CommandUpdate> updates_;
};

TEST_F(StolenKey, IsNoHostNoMasterAndNoGatewayAnywhere) {
    const auto& at = cloud_.access->addresses();
    EXPECT_TRUE(is_refused(at.uplink, thief_.key, "access/")) << "as a host";
    EXPECT_TRUE(is_refused(at.control, thief_.key, "access/")) << "as a gateway";
    EXPECT_FALSE(dial(thief_.address(), cloud_.issue("gateway", "gw-1"), "master/")) << "as a master";
    EXPECT_FALSE(dial(thief_.address(), cloud_.issue("gateway", "gw-1"), "host/h-1"))
        << "as a host with tunnels";
    EXPECT_TRUE(dial(thief_.address(), cloud_.issue("gateway", "gw-1"), "access/"))
        << "that is all that it is";
}

TEST_F(StolenKey, DoesNotServeAHostsTunnels) {
    Agent host{cloud_, "h-1", cloud_.access->addresses().uplink};
    ASSERT_TRUE(cloud_.eventually([&] { return !cloud_.master.sessions.empty(); }));
    host.impersonate(thief_.key);
    cloud_.add_route("page", "h-1", true);
    EXPECT_EQ(cloud_.fetch(cloud_.request("page")).status, 502);
    EXPECT_EQ(host.tunnels, 0);
}

TEST_F(StolenKey, CommandsNoHost) {
    join_honestly();
    end();
    // In the clear, with every field as a master would say it.
    uplink::Frame welcome, logs;
    welcome.mutable_agent_welcome()->set_epoch(99);
    logs.set_call(1);
    logs.mutable_log_request()->set_instance("i-1");
    thief_.says = {welcome, start("c-1"), logs};
    begin(thief_.address(), "");
    ASSERT_TRUE(cloud_.eventually([&] { return thief_.visitors >= 1 && !thief_.why.empty(); }))
        << "the host comes, and finds no master behind it";
    cloud_.pass(500ms);
    EXPECT_EQ(engine_.launches, 0);
    EXPECT_FALSE(agent_->connected());
    EXPECT_TRUE(thief_.told.empty()) << "it has told nothing of itself";
    EXPECT_EQ(thief_.seen.find("log_answer"), std::string::npos);
    const auto epoch = journal_.kept.find("epoch");
    EXPECT_TRUE(epoch == journal_.kept.end() || epoch->second != "99");
}

TEST_F(StolenKey, IsNoMasterForAHostThatJoins) {
    begin(thief_.address(), token());
    ASSERT_TRUE(cloud_.eventually([&] { return ended_.has_value(); }));
    EXPECT_EQ(ended_->code, Code::unauthenticated) << ended_->message;
    EXPECT_TRUE(cloud_.eventually([&] { return !thief_.why.empty(); })) << "no handshake came to its end";
    EXPECT_TRUE(thief_.told.empty());
    EXPECT_EQ(thief_.seen.find("secret-of-the-token"), std::string::npos);
    end();
    ended_.reset();

    // With an authority of its own, which has certified it as a master.
    testing::TempFolder folder;
    const auto own = net::open_authority(folder.path(), *cloud_.random, cloud_.timers->wall()).value();
    const Identity master{"master", "m-1"};
    const auto key = keys_->make(master).value();
    thief_.as_master = std::make_shared<Credentials>(
        own->sign(key.csr_pem, master, {}, cloud_.timers->wall() - 1min, 24h).value().certificate,
        key.key_pem, own->certificate());
    thief_.authority = own->certificate();
    begin(thief_.address(), token());
    ASSERT_TRUE(cloud_.eventually([&] { return ended_.has_value(); }));
    EXPECT_EQ(ended_->code, Code::unauthenticated) << ended_->message;
    EXPECT_TRUE(thief_.told.empty());
    EXPECT_EQ(thief_.seen.find("secret-of-the-token"), std::string::npos);
    EXPECT_FALSE(journal_.kept.contains("identity"));
}

TEST_F(StolenKey, ReadsNeitherTokensNorVariablesThatPassThrough) {
    join_honestly();
    cloud_.master.say(session_, start("c-1"));
    ASSERT_TRUE(eventually([&] { return !updates_.empty() && updates_.back().state() == "done"; }));
    EXPECT_EQ(engine_.launches, 1) << "it did pass through";
    const std::string& passed = cloud_.master.passed;
    EXPECT_GT(passed.size(), 1000U);
    for (const char* secret :
         {"secret-of-the-token", "correct horse battery staple", "PASSWORD_OF_THE_DATABASE", "i-1", "demo"})
        EXPECT_EQ(passed.find(secret), std::string::npos) << secret;
}

}  // namespace
}  // namespace hostler::rig
