// One certificate authority follows another under a fleet that runs: shipped master, access point, gateway
// and agents with real TLS, through every step.
#include <filesystem>

#include "adapters/net/issued.h"
#include "adapters/series/memory.h"
#include "adapters/sodium/sealer.h"
#include "adapters/sqlite/store.h"
#include "core/worker.h"
#include "ports/testing/played_outgoing.h"
#include "ports/testing/quick_passwords.h"
#include "rig.h"
#include "roles/agent/agent.h"
#include "roles/agent/testing/fakes.h"
#include "roles/master/server/master.h"

namespace hostler::rig {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct HostParts {
    agent::Settings settings;
    agent::testing::FakeEngine engine;
    agent::testing::FakeNetworks networks;
    agent::testing::FakeVolumes volumes;
    agent::testing::FakeLogs logs;
    agent::testing::FakeTelemetry telemetry;
    agent::testing::FakeHost host;
    agent::testing::FakeJournal journal;
    std::unique_ptr<Keys> keys = net::make_keys();
    std::unique_ptr<agent::Agent> role;
    std::unique_ptr<TaskGroup> tasks;
};

class Fleet : public ::testing::Test, public World {
protected:
    Fleet() {
        for (const Certified* one : {access_own, gateway_own}) issued_by_operator(*one->credentials());
        begin_master();
        begin_access();
        begin_gateway();
    }
    ~Fleet() override {
        for (auto& [name, host] : hosts) end(host.tasks);
        end(gateway_tasks);
        end(access_tasks);
        end_master();
    }
    void end(std::unique_ptr<TaskGroup>& tasks) {
        if (tasks) (void)go(tasks->close());
        tasks.reset();
    }
    template <class Role>
    std::unique_ptr<TaskGroup> run(Role& role) {
        auto tasks = std::make_unique<TaskGroup>(loop);
        tasks->start("role", role.run());
        return tasks;
    }

    // ── The master, on the same file and at the same address each time
    void open_master() {
        worker = make_worker(loop, "store");
        store = open_sqlite(folder.path() + "/store.db", *worker).value();
        master::Settings settings;
        settings.operator_key_hash = digest.sha256("hk_operator");
        settings.zones = {{"nj", "New Jersey"}};
        settings.report_interval = 500ms;
        if (!wire_address.empty()) settings.wire_address = wire_address;
        master = std::make_unique<master::Master>(
            settings, master::Ports{loop, *timers, *net, *random, *store, *authority, digest, *master_own,
                                    series, outgoing, *sealer, passwords, &issued});
    }
    void begin_master() {
        open_master();
        master_tasks = run(*master);
        ASSERT_TRUE(go(master->ready()));
        wire_address = master->wire_address();
    }
    void end_master() {
        end(master_tasks);
        master.reset();
        store.reset();
        worker.reset();
    }
    void begin_access() {
        access::Settings settings;
        settings.masters = {wire_address};
        settings.uplink_listen = uplink_address.empty() ? "127.0.0.1:0" : uplink_address;
        settings.tunnel_listen = settings.control_listen = "127.0.0.1:0";
        settings.zone = "nj";
        settings.redial_ms = 20;
        settings.redial_max_ms = 50;
        access = std::make_unique<access::Access>(
            settings, access::Ports{loop, *timers, *net, *random, access_journal, *access_own});
        access_tasks = run(*access);
        ASSERT_TRUE(in_time([&] { return access->linked(); }));
        uplink_address = access->addresses().uplink;
    }
    void begin_gateway() {
        gateway::Settings settings;
        settings.masters = {wire_address};
        settings.listen = "127.0.0.1:0";
        settings.redial_ms = 20;
        settings.redial_max_ms = 50;
        gateway = std::make_unique<gateway::Gateway>(
            settings, gateway::Ports{loop, *timers, *net, *random, gateway_journal, digest, *gateway_own});
        gateway_tasks = run(*gateway);
        ASSERT_TRUE(in_time([&] { return gateway->linked(); }));
    }
    void begin_host(const std::string& name) {
        HostParts& host = hosts[name];
        host.settings.access = {uplink_address};
        host.settings.version = "0.1";
        host.settings.backoff_max = 200ms;
        if (!host.journal.all().contains("identity"))
            host.settings.token = word(ask("POST", "/v1/host-tokens", R"({"zone":"nj"})", 201), "token");
        host.role = std::make_unique<agent::Agent>(host.settings, agent::Ports{loop,
                                                                               *timers,
                                                                               *net,
                                                                               *random,
                                                                               host.engine,
                                                                               host.networks,
                                                                               host.volumes,
                                                                               host.journal,
                                                                               host.logs,
                                                                               {&host.telemetry},
                                                                               host.host,
                                                                               *host.keys});
        host.tasks = run(*host.role);
    }
    void end_host(const std::string& name) {
        end(hosts[name].tasks);
        hosts[name].role.reset();
    }
    bool connected(const std::string& name) { return hosts[name].role && hosts[name].role->connected(); }
    // Everything goes down, and comes back with what it has on its disk.
    void begin_all_anew() {
        end(gateway_tasks);
        end(access_tasks);
        end_master();
        begin_master();
        begin_access();
        begin_gateway();
    }

    // ── The API
    std::string ask(std::string method, std::string path, std::string body = {}, int status = 200) {
        http::Request request{.method = std::move(method), .target = std::move(path)};
        request.headers.set("Authorization", "Bearer hk_operator");
        request.headers.set("Content-Type", "application/json");
        request.body = std::move(body);
        auto response = go(client.fetch({.address = master->api_address()}, request));
        // It leads anew once an authority is withdrawn.
        for (int more = 200; more > 0 && response && response->status == 503; --more) {
            pass(50ms);
            response = go(client.fetch({.address = master->api_address()}, request));
        }
        EXPECT_TRUE(response);
        if (!response) return {};
        EXPECT_EQ(response->status, status) << request.target << " " << response->body;
        return response->body;
    }
    std::string rotate(const std::string& step, int status = 200) {
        return ask("POST", "/v1/authorities/rotate", R"({"step":")" + step + R"("})", status);
    }
    static std::string word(const std::string& body, const std::string& name) {
        const auto at = body.find("\"" + name + "\":\"");
        if (at == std::string::npos) return {};
        const auto from = at + name.size() + 4;
        return body.substr(from, body.find('"', from) - from);
    }
    // So many of the holders stand on who issues now, and believe whom they should.
    bool current(int number, int of) {
        pass(50ms);  // Not to be all that the loop does.
        const std::string shown = ask("GET", "/v1/authorities");
        return shown.contains(fmt::format(R"("holders":{},)", of)) &&
               shown.contains(fmt::format(R"("current":{},)", number));
    }
    bool in_time(const std::function<bool()>& so) {
        for (int more = 9; more > 0; --more)
            if (eventually(so)) return true;
        return false;
    }

    // What `hostler ca issue` writes down.
    void issued_by_operator(const Credentials& own) {
        const auto facts = keys->read(own.certificate).value();
        ASSERT_TRUE(issued.note({facts.identity.text(), facts.key_fingerprint}));
    }
    // A thief has the keys of today, and certifies with them whom they like.
    void steal() {
        const std::string stolen = folder.path() + "/stolen";
        std::filesystem::create_directory(stolen);
        std::filesystem::copy(folder.path() + "/authority.pem", stolen + "/authority.pem");
        thief = net::open_authority(stolen, *random, timers->wall()).value();
    }
    std::shared_ptr<const Credentials> forge(const std::string& role, const std::string& id,
                                             Duration from = -1min, Duration life = 1h) {
        const auto key = keys->make({role, id}).value();
        const auto made =
            thief
                ->sign(key.csr_pem, {role, id}, {},
                       timers->wall() + std::chrono::floor<std::chrono::microseconds>(from), life)
                .value();
        return std::make_shared<Credentials>(made.certificate, key.key_pem, authority->certificate());
    }
    // The certificate that follows this one. Errors: what the master said; those of TLS.
    Result<std::string> renew(std::shared_ptr<const Credentials> own) {
        return go([](Fleet& self, std::shared_ptr<const Credentials> of, Secure how) -> Task<std::string> {
            const auto facts = CO_TRY(self.keys->read(of->certificate));
            auto raw = CO_TRY(co_await self.net->dial(self.wire_address, 5s));
            auto stream = CO_TRY(co_await self.net->secure(std::move(raw), std::move(how), Side::client, 5s));
            wire::Link link{self.loop, *self.timers, std::move(stream)};
            uplink::Frame frame;
            if (facts.identity.role == "gateway" && facts.not_after > self.timers->wall()) {
                frame.mutable_gateway_hello()->set_address("http://gw.example");
                CO_TRY(co_await link.send(std::exchange(frame, {})));
            }
            frame.mutable_renew_request()->set_csr(CO_TRY(self.keys->renew(of->key, facts.identity)).csr_pem);
            frame.mutable_renew_request()->set_certificate(of->certificate);
            frame = CO_TRY(co_await link.ask(std::move(frame), 5s));
            co_return frame.join_answer().certificate();
        }(*this, own, secure(own, "master/")));
    }
    std::string refusal(std::shared_ptr<const Credentials> own) {
        const auto made = renew(std::move(own));
        return made ? "renewed" : made.error().reason;
    }

    // What the master says to who comes with this; it does not know the zone. Errors: those of TLS.
    Result<std::string> knock(std::shared_ptr<const Credentials> own) {
        return go([](Fleet& self, Secure how) -> Task<std::string> {
            auto raw = CO_TRY(co_await self.net->dial(self.wire_address, 5s));
            auto stream = CO_TRY(co_await self.net->secure(std::move(raw), std::move(how), Side::client, 5s));
            wire::Link link{self.loop, *self.timers, std::move(stream)};
            uplink::Frame hello;
            hello.mutable_access_hello()->set_zone("nowhere");
            CO_TRY(co_await link.send(std::move(hello)));
            co_return CO_TRY(co_await link.receive()).failure().reason();
        }(*this, secure(std::move(own), "master/")));
    }

    net::FolderOfIssuedKeys issued{folder.path()};
    std::unique_ptr<Sealer> sealer = sodium::open_sealer(folder.path() + "/sealing.keys").value();
    std::unique_ptr<Authority> thief;
    std::string wire_address, uplink_address;
    std::unique_ptr<Worker> worker;
    std::unique_ptr<Store> store;
    series::MemoryRows rows;
    series::MemoryStore series{rows};
    hostler::testing::PlayedOutgoing outgoing{*timers};
    hostler::testing::QuickPasswords passwords;
    const ServerNames names{{"core.example"}, {"10.0.0.1"}};  // That clients of two roles look for.
    Certified* master_own = &certified("master", "master", -1min, 24h, names);
    Certified* access_own = &certified("access", "nj-1");
    Certified* gateway_own = &certified("gateway", "gw-1", -1min, 24h, names);
    std::unique_ptr<master::Master> master;
    std::unique_ptr<access::Access> access;
    std::unique_ptr<gateway::Gateway> gateway;
    std::unique_ptr<TaskGroup> master_tasks, access_tasks, gateway_tasks;
    MemoryJournal access_journal, gateway_journal;
    std::map<std::string, HostParts> hosts;
    http::Client client{*net, *timers};
};

TEST_F(Fleet, PassesThroughTheWholeRotation) {
    begin_host("here");
    begin_host("away");
    ASSERT_TRUE(in_time([&] { return connected("here") && connected("away"); }));
    end_host("away");
    steal();
    const auto everybody_again = [&] {
        begin_all_anew();
        return in_time([&] { return connected("here"); });
    };
    rotate("begin");
    EXPECT_TRUE(in_time([&] { return current(3, 4); })) << "all but who is away";
    EXPECT_TRUE(everybody_again());
    rotate("begin");
    EXPECT_TRUE(current(3, 4)) << "it was written down, and nothing begins anew";

    rotate("issue");
    EXPECT_TRUE(in_time([&] { return current(3, 4); }));
    EXPECT_TRUE(everybody_again());
    const std::string newest = authority->all().back().fingerprint;
    for (Certified* own : {master_own, access_own, gateway_own}) {
        const auto facts = authority->check(own->credentials()->certificate).value();
        EXPECT_EQ(facts.authority, newest);
        EXPECT_EQ(facts.names, own == access_own ? ServerNames{} : names);
    }
    EXPECT_THAT(rotate("withdraw", 409), HasSubstr("authority_in_use")) << "who is away would be cut off";

    begin_host("away");
    EXPECT_TRUE(in_time([&] { return connected("away") && current(4, 4); }))
        << "it knew of the former one alone";
    EXPECT_EQ(knock(forge("access", "nj-9")).value_or("refused"), "zone_unknown")
        << "it opens the door so far";
    rotate("withdraw");
    EXPECT_TRUE(in_time([&] {
        return authority->all().size() == 1 && current(4, 4) &&
               master_own->credentials()->authority == authority->certificate();
    }));
    EXPECT_TRUE(everybody_again());
    EXPECT_TRUE(in_time([&] { return connected("away"); }));
    EXPECT_FALSE(knock(forge("access", "nj-9"))) << "the stolen key opens nothing any more";
    EXPECT_EQ(knock(issue("access", "nj-9")).value_or("refused"), "zone_unknown");
}

TEST_F(Fleet, AStolenAuthoritysEdgesAreNotRenewedIntoTheNewOne) {
    steal();
    rotate("begin");
    const auto honest = issue("gateway", "gw-2");  // On a machine of which the master knows nothing.
    const auto fake_gateway = forge("gateway", "gw-1"), another = forge("gateway", "gw-9"),
               fake_access = forge("access", "nj-1", -40 * 24h, 30 * 24h);  // Expired: it only renews.
    EXPECT_EQ(refusal(fake_gateway), "renewed") << "into what the thief can make alone";
    ASSERT_TRUE(in_time([&] { return current(2, 2); }));
    rotate("issue");
    const std::string newest = authority->all().back().fingerprint;
    const auto is_renewed = [&](Certified* own) {
        pass(20ms);
        return authority->check(own->credentials()->certificate).value().authority == newest;
    };
    EXPECT_TRUE(in_time([&] { return is_renewed(access_own) && is_renewed(gateway_own); }));
    EXPECT_EQ(refusal(fake_gateway), "key_unknown");
    EXPECT_EQ(refusal(fake_access), "key_unknown");
    EXPECT_EQ(refusal(another), "key_unknown");
    begin_all_anew();
    EXPECT_EQ(refusal(fake_gateway), "key_unknown") << "also after a restart";

    EXPECT_EQ(refusal(honest), "key_unknown");
    const std::string key = keys->read(honest->certificate).value().key_fingerprint;
    EXPECT_THAT(ask("GET", "/v1/authorities"),
                HasSubstr("hostler ca admit gateway/gw-2 --key-fingerprint " + key));
    EXPECT_THAT(ask("GET", "/v1/events?limit=100"), HasSubstr("key_unknown"));
    const auto admit = [&](const std::string& name, int status) {
        return ask("POST", "/v1/authorities/admit",
                   fmt::format(R"({{"name":"{}","keyFingerprint":"{}"}})", name, key), status);
    };
    EXPECT_THAT(admit("host/gw-2", 400), HasSubstr("must be access/NAME or gateway/NAME"));
    EXPECT_THAT(admit("gateway/gw-2", 200), Not(HasSubstr("gateway/gw-2 --key")));
    const auto followed = renew(honest);
    ASSERT_TRUE(followed) << followed.error().message;
    EXPECT_EQ(authority->check(*followed).value().authority, newest);
    EXPECT_EQ(refusal(another), "key_unknown") << "of another name";

    ask("POST", "/v1/authorities/rotate", R"({"step":"withdraw","force":true})");
    ASSERT_TRUE(in_time([&] {
        pass(20ms);
        return authority->all().size() == 1 &&
               master_own->credentials()->authority == authority->certificate();
    }));
    const auto admitted = std::make_shared<Credentials>(*followed, honest->key, authority->certificate());
    EXPECT_TRUE(in_time([&] { return refusal(admitted) == "renewed"; }));
    EXPECT_FALSE(renew(fake_gateway)) << "it comes to no word any more";
    EXPECT_FALSE(renew(fake_access));
}

}  // namespace
}  // namespace hostler::rig
