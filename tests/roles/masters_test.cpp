// Several shipped masters on one PostgreSQL: one leads, the others pass on to it what they are asked.
#include "adapters/net/digest.h"
#include "adapters/postgres/connection.h"
#include "adapters/postgres/store.h"
#include "adapters/postgres/testing/server.h"
#include "adapters/series/store.h"
#include "adapters/sodium/sealer.h"
#include "core/testing/temp_folder.h"
#include "core/worker.h"
#include "http/testing/gunzip.h"
#include "ports/testing/played_outgoing.h"
#include "ports/testing/quick_passwords.h"
#include "rig.h"
#include "roles/master/server/master.h"

namespace hostler::rig {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// One for all tests of the program, a database each.
postgres::testing::Server& server() {
    static postgres::testing::Server one;
    return one;
}

// As a killed process leaves it: it resigns nothing.
class MortalStore final : public Store {
public:
    explicit MortalStore(std::unique_ptr<Store> store) : store_(std::move(store)) {}
    Task<Lease> lead(Contender who, Duration length, std::uint64_t above) override {
        return store_->lead(std::move(who), length, above);
    }
    Task<> renew() override { return store_->renew(); }
    Task<> resign() override {
        if (killed) return []() -> Task<> { co_return Result<>{}; }();
        return store_->resign();
    }
    Task<std::optional<Leader>> leader() override {
        while (deaf) CO_TRY(co_await changed.wait());
        co_return co_await store_->leader();
    }
    Task<> commit(Changes changes) override {
        ++commits;
        while (slow) CO_TRY(co_await changed.wait());
        co_return co_await store_->commit(std::move(changes));
    }
    Task<Snapshot> load() override { return store_->load(); }
    Task<Snapshot> load_since(StorePoint point) override { return store_->load_since(point); }
    Task<Page> list(ListQuery query) override { return store_->list(std::move(query)); }
    Task<Object> find(std::string kind, std::string id) override {
        return store_->find(std::move(kind), std::move(id));
    }
    Task<std::vector<EventRecord>> events(EventQuery query) override {
        return store_->events(std::move(query));
    }
    Task<AuditPage> audit(AuditQuery query) override { return store_->audit(std::move(query)); }
    Task<AuditAnchors> audit_anchors(std::uint64_t after, std::size_t limit) override {
        return store_->audit_anchors(after, limit);
    }
    Task<std::uint64_t> prune_audit(WallTime before) override { return store_->prune_audit(before); }
    Task<> prune(WallTime before) override { return store_->prune(before); }
    Task<std::unique_ptr<Backup>> backup(WallTime taken, const Digest& digest) override {
        return store_->backup(taken, digest);
    }
    StoreFacts facts() const override { return store_->facts(); }
    bool killed = false;
    bool deaf = false;  // It is not told who leads, and waits for it.
    bool slow = false;  // Commits wait.
    int commits = 0;    // Begun.
    Signal changed;     // One of these.

private:
    std::unique_ptr<Store> store_;
};

class MastersTest : public ::testing::Test, public World {
public:
    struct One {
        std::unique_ptr<Worker> worker, lease_worker;
        std::unique_ptr<MortalStore> store;
        hostler::testing::TempFolder folder;
        std::unique_ptr<Worker> series_worker, query_worker;
        std::unique_ptr<series::FollowedStore> series;
        std::unique_ptr<master::Master> role;
        std::unique_ptr<TaskGroup> tasks;
    };

    // Serves when it returns: it leads, or follows who does.
    One& start(const std::string& name) {
        One& one = masters_[name];
        one.worker = make_worker(loop, "store");
        one.lease_worker = make_worker(loop, "lease");
        one.store = std::make_unique<MortalStore>(open_postgres(url, *one.worker, *one.lease_worker).value());
        one.series_worker = make_worker(loop, "series");
        one.query_worker = make_worker(loop, "queries");
        one.series = series::open_store(*one.series_worker, *one.query_worker, one.folder.path() + "/series",
                                        {}, "series of " + name)
                         .value();
        master::Settings settings;
        settings.name = name;
        settings.api_address = "[::1]:0";
        settings.wire_address = "127.0.0.1:0";
        settings.operator_key_hash = digest_.sha256("hk_operator");
        settings.zones = {{"nj", "New Jersey"}};
        settings.lease = lease;
        one.role = std::make_unique<master::Master>(
            settings, master::Ports{loop, *timers, *net, *random, *one.store, *authority, digest_,
                                    certified("master", name), *one.series, outgoing_, *sealer_, passwords_,
                                    nullptr, nullptr, one.series.get()});
        one.tasks = std::make_unique<TaskGroup>(loop);
        one.tasks->start("master", one.role->run());
        EXPECT_TRUE(go(one.role->ready()));
        return one;
    }
    void stop(const std::string& name) {
        One& one = masters_.at(name);
        (void)go(one.tasks->close());
        masters_.erase(name);
    }
    void kill(const std::string& name) {
        masters_.at(name).store->killed = true;
        stop(name);
    }
    ~MastersTest() override {
        while (!masters_.empty()) kill(masters_.begin()->first);
    }

    static http::Request request(std::string method, std::string target, std::string body = {}) {
        http::Request request{.method = std::move(method), .target = std::move(target)};
        request.headers.set("Authorization", "Bearer hk_operator");
        request.headers.set("Content-Type", "application/json");
        request.body = std::move(body);
        return request;
    }
    static http::Request zone(const std::string& name) {
        return request("POST", "/v1/zones", fmt::format(R"({{"name":"{}"}})", name));
    }
    // As a patient client asks: what a master refuses since none leads is asked again, for 60 s at most.
    http::Response ask(http::Endpoint at, http::Request request) {
        const Instant until = timers->now() + 60s;
        while (true) {
            auto response = go(client_.fetch(at, request));
            const bool again = !response || response->status == 503;
            if (!again || timers->now() > until)
                return response.value_or(http::Response{.status = 0, .body = response ? "" : "no answer"});
            pass(20ms);
        }
    }
    http::Response ask(One& one, http::Request request) {
        return ask({.address = one.role->api_address()}, std::move(request));
    }
    // The lease of whoever leads, by the database's clock.
    void run_out() {
        EXPECT_TRUE(
            postgres::Connection::open(url, 5000ms, 30000ms).value()->run("UPDATE lease SET ends = 1"));
    }
    bool leads(One& one) { return one.role->lead().term && !one.role->lead().term->ended(); }
    bool in_time(const std::function<bool()>& so) {
        return eventually(so) || eventually(so) || eventually(so);
    }

    // From where the audit says that this was made.
    std::string asked_from(const std::string& zone) {
        auto look = postgres::Connection::open(url, 5000ms, 30000ms).value();
        std::string address;
        EXPECT_TRUE(look->run("SELECT address FROM audit WHERE subject = ?1", {"zone/" + zone},
                              [&](const sql::Row& row) { address += row.text(0); }));
        return address;
    }

    std::string url = server().url(server().new_database());
    std::chrono::milliseconds lease = 1h;  // No death of a leader is noticed but by what a test does.
    std::map<std::string, One> masters_;
    net::OpenSslDigest digest_;
    hostler::testing::PlayedOutgoing outgoing_{*timers};
    hostler::testing::QuickPasswords passwords_;
    std::unique_ptr<Sealer> sealer_ = sodium::open_sealer(folder.path() + "/sealing.keys").value();
    http::Client client_{*net, *timers};
};

TEST_F(MastersTest, OneLeadsAndTheOtherPassesOn) {
    One& first = start("m-1");
    One& second = start("m-2");
    EXPECT_TRUE(leads(first));
    EXPECT_FALSE(leads(second));
    ASSERT_TRUE(second.role->lead().other);
    EXPECT_EQ(second.role->lead().other->name, "m-1");
    EXPECT_EQ(ask(second, zone("lon")).status, 201);
    EXPECT_THAT(ask(first, request("GET", "/v1/zones")).body, HasSubstr("\"lon\""));
    EXPECT_THAT(ask(second, request("GET", "/v1/zones/lon")).body, HasSubstr("\"lon\""));
    EXPECT_EQ(ask(second, request("GET", "/v1/zones/none")).status, 404) << "a refusal comes as it is";
    http::Request nobody = request("GET", "/v1/zones");
    nobody.headers.remove("Authorization");
    EXPECT_EQ(ask(second, nobody).status, 401);
    EXPECT_THAT(ask(second, request("GET", "/healthz")).body, HasSubstr("m-1 leads"));
    EXPECT_EQ(ask(second, request("POST", "/v1/zones", std::string(2 << 20, ' '))).status, 413);
}

TEST_F(MastersTest, ACompressedAnswerComesThroughAsItIs) {
    start("m-1");
    One& second = start("m-2");
    const http::Response plain = ask(second, request("GET", "/v1/permissions"));
    EXPECT_FALSE(plain.headers.has("Content-Encoding")) << "neither client asks for it by itself";
    http::Request wanted = request("GET", "/v1/permissions");
    wanted.headers.set("Accept-Encoding", "gzip");
    const http::Response packed = ask(second, wanted);
    EXPECT_EQ(packed.headers.find("Content-Encoding"), "gzip");
    EXPECT_EQ(packed.headers.find("Vary"), "Accept-Encoding");
    EXPECT_LT(packed.body.size(), plain.body.size());
    EXPECT_EQ(http::testing::gunzip(packed.body), plain.body);
}

TEST_F(MastersTest, AWatchComesThroughAsItHappens) {
    start("m-1");
    One& second = start("m-2");
    std::string seen;
    TaskGroup tasks{loop};
    tasks.start("watch", [](MastersTest& test, std::string at, std::string& into) -> Task<> {
        const auto reply = CO_TRY(co_await test.client_.start(
            {.address = at}, {.request = request("GET", "/v1/instances?watch=true")}));
        std::vector<char> piece(4096);
        while (true) {
            const auto size = CO_TRY(co_await reply->read(piece));
            if (size == 0) co_return Result<>{};
            into.append(piece.data(), size);
        }
    }(*this, second.role->api_address(), seen));
    EXPECT_TRUE(in_time([&] { return seen.contains("synced"); })) << seen;
    kill("m-1");
    (void)go(tasks.close());
}

TEST_F(MastersTest, TheAuditSaysWhoAskedAndBelievesOnlyMasters) {
    One& first = start("m-1");
    One& second = start("m-2");
    ask(second, zone("passed-on"));
    EXPECT_THAT(asked_from("passed-on"), StartsWith("[::1]:")) << "the client, and not the master between";
    // Whoever says so at a door for everybody is not believed, wherever that door is.
    for (One* one : {&first, &second}) {
        http::Request forged = zone(one == &first ? "forged-1" : "forged-2");
        forged.headers.set("X-Hostler-Caller", "203.0.113.9:9");
        EXPECT_EQ(ask(*one, forged).status, 201);
    }
    EXPECT_THAT(asked_from("forged-1"), StartsWith("[::1]:"));
    EXPECT_THAT(asked_from("forged-2"), StartsWith("[::1]:"));
    http::Request from_master = zone("by-master");
    from_master.headers.set("X-Hostler-Caller", "203.0.113.9:9");
    const http::Endpoint door{.address = first.role->wire_address(),
                              .secure = secure(issue("master", "m-9"), "master/")};
    EXPECT_EQ(ask(door, from_master).status, 201);
    EXPECT_EQ(asked_from("by-master"), "203.0.113.9:9");
}

TEST_F(MastersTest, AMasterTellsWhetherTheClientCameByTls) {
    One& first = start("m-1");
    http::Request door = request("GET", "/");
    door.headers.set("Host", "api.example");
    door.headers.set("X-Hostler-Scheme", "https");
    constexpr std::string_view shown = "Strict-Transport-Security";
    EXPECT_FALSE(ask(first, door).headers.has(shown)) << "not believed from others";
    const http::Endpoint from_master{.address = first.role->wire_address(),
                                     .secure = secure(issue("master", "m-9"), "master/")};
    EXPECT_TRUE(ask(from_master, door).headers.has(shown));
}

// What was passed on once is not passed on again: two masters that take each other for the leader end there.
TEST_F(MastersTest, WhatWasPassedOnIsNotPassedOnAgain) {
    start("m-1");
    One& second = start("m-2");
    const http::Endpoint door{.address = second.role->wire_address(),
                              .secure = secure(issue("master", "m-9"), "master/")};
    const auto answer = go(client_.fetch(door, request("GET", "/v1/zones")));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 503);
    EXPECT_THAT(answer->body, HasSubstr("no_leader"));
    EXPECT_EQ(answer->headers.find("Retry-After"), "1");
}

TEST_F(MastersTest, OneThatEndsInOrderLeavesTheLeadAtOnce) {
    One& first = start("m-1");
    One& second = start("m-2");
    EXPECT_EQ(ask(first, zone("before")).status, 201);
    const auto epoch = first.role->lead().term->epoch();
    ASSERT_TRUE(go(first.store->renew()));  // Its connection is there.
    stop("m-1");                            // Its lease would last for an hour.
    ASSERT_TRUE(in_time([&] { return leads(second); }));
    EXPECT_GT(second.role->lead().term->epoch(), epoch);
    EXPECT_EQ(ask(second, request("GET", "/v1/zones/before")).status, 200);
}

TEST_F(MastersTest, WhatAnotherHasPassedOnIsAnsweredBeforeTheLeaderLeaves) {
    One& first = start("m-1");
    One& second = start("m-2");
    ASSERT_EQ(ask(second, zone("before")).status, 201);
    first.store->slow = true;
    const int before = first.store->commits;
    std::optional<Result<http::Response>> answer;
    bool left = false;
    TaskGroup tasks{loop};
    tasks.start("ask", [](MastersTest& self, std::string at, auto& into) -> Task<> {
        into.emplace(co_await self.client_.fetch({.address = at}, zone("meanwhile")));
        co_return Result<>{};
    }(*this, std::string{second.role->api_address()}, answer));
    ASSERT_TRUE(in_time([&] { return first.store->commits > before; }));
    tasks.start("leave", [](master::Master& role, bool& done) -> Task<> {
        CO_TRY(co_await role.leave(60s));
        done = true;
        co_return Result<>{};
    }(*first.role, left));
    pass(500ms);
    EXPECT_FALSE(left) << "it has no client of its own, and one of the other's";
    first.store->slow = false;
    first.store->changed.notify_all();
    EXPECT_TRUE(in_time([&] { return left && answer; }));
    ASSERT_TRUE(answer && *answer);
    EXPECT_EQ((*answer)->status, 201);
    (void)go(tasks.close());
}

TEST_F(MastersTest, AFollowerBelievesInALeaderNoLongerThanTheLeaseItHeardOf) {
    lease = 2s;
    start("m-1");
    One& second = start("m-2");
    ASSERT_TRUE(in_time([&] { return second.role->lead().other.has_value(); }));
    second.store->deaf = true;
    EXPECT_TRUE(in_time([&] { return !second.role->lead().other; })) << "whatever becomes of the question";
    EXPECT_FALSE(leads(second));
    second.store->deaf = false;
    second.store->changed.notify_all();
    EXPECT_TRUE(in_time([&] { return second.role->lead().other || leads(second); }));
}

TEST_F(MastersTest, WhenTheLeaderDiesAnotherLeads) {
    One& first = start("m-1");
    start("m-2");
    EXPECT_EQ(ask(first, zone("before")).status, 201);
    kill("m-1");
    run_out();
    One& second = masters_.at("m-2");
    EXPECT_EQ(ask(second, zone("after")).status, 201);
    EXPECT_TRUE(in_time([&] { return leads(second); }));
    EXPECT_EQ(ask(second, request("GET", "/v1/zones/before")).status, 200) << "nothing acknowledged is lost";
    // It comes back as one that follows.
    One& again = start("m-1");
    EXPECT_EQ(ask(again, request("GET", "/v1/zones/after")).status, 200);
}

// It takes what is passed on to it, answers nothing, and renews nothing: as a process that is stopped.
TEST_F(MastersTest, WhoFollowsHasTheSeriesOfTheLeaderThatDied) {
    One& first = start("m-1");
    One& second = start("m-2");
    const auto gpu = go(first.series->describe({.id = "gpu/1", .columns = {{"power_mw"}}, .labels = {}}, 0));
    ASSERT_TRUE(gpu);
    for (series::Millis time = 1000; time <= 9000; time += 1000) {
        SampleBatch batch{.rows = {}, .cells = {time}};
        batch.rows.push_back({*gpu, time});
        ASSERT_TRUE(go(first.series->append(std::move(batch))));
    }
    const auto samples = [&] {
        const auto lines = go(second.series->query(
            {.metric = "power_mw", .from = 0, .to = 10'000, .step = 10'000, .over = series::Over::count}));
        return lines && !lines->empty() ? lines->front().values.front() : 0;
    };
    EXPECT_TRUE(in_time([&] { return samples() == 9; })) << samples();
    const std::string components = ask(second, request("GET", "/v1/components")).body;
    EXPECT_THAT(components, HasSubstr(R"("id":"m-1","state":"leading")"));
    EXPECT_THAT(components, HasSubstr(R"("id":"m-2","state":"standby")"));
    EXPECT_THAT(components, HasSubstr(R"("id":"postgresql","state":"up","version":"schema )"));
    // Nobody else is told: without a master's certificate it is a path like any other.
    EXPECT_EQ(ask(first, request("POST", "/masters/series")).status, 404);
    kill("m-1");
    run_out();
    ASSERT_TRUE(in_time([&] { return leads(second); }));
    EXPECT_EQ(samples(), 9);
}

TEST_F(MastersTest, AHungLeaderIsLeftAndItsCallersAreToldToComeBack) {
    const auto worker = make_worker(loop, "store"), lease_worker = make_worker(loop, "lease");
    const auto store = open_postgres(url, *worker, *lease_worker).value();
    ListenerPtr door = go(net->listen("127.0.0.1:0")).value();
    const std::string address{door->address()};
    ASSERT_TRUE(go(store->lead({"m-0", address}, lease, 0)));
    int taken = 0;
    TaskGroup tasks{loop};
    tasks.start("hung", [](MastersTest& test, ListenerPtr at, int& count) -> Task<> {
        std::vector<StreamPtr> held;
        while (true) {
            auto raw = CO_TRY(co_await at->accept());
            auto stream = co_await test.net->secure(
                std::move(raw), test.secure(test.issue("master", "m-0"), ""), Side::server, 10s);
            if (!stream) continue;
            std::array<char, 4096> head;
            (void)co_await read_some(**stream, head);
            ++count;
            held.push_back(std::move(*stream));
        }
    }(*this, std::move(door), taken));
    One& second = start("m-2");
    ASSERT_TRUE(second.role->lead().other);
    std::optional<Result<http::Response>> waited;
    tasks.start("caller", [](MastersTest& test, std::string at, auto& into) -> Task<> {
        into = co_await test.client_.fetch({.address = at}, zone("lon"));
        co_return Result<>{};
    }(*this, second.role->api_address(), waited));
    ASSERT_TRUE(in_time([&] { return taken == 1; }));
    EXPECT_FALSE(waited);
    ASSERT_TRUE(go(store->resign()));
    ASSERT_TRUE(in_time([&] { return waited.has_value(); }));
    ASSERT_TRUE(*waited);
    EXPECT_EQ((*waited)->status, 503);
    EXPECT_THAT((*waited)->body, HasSubstr("no_leader"));
    EXPECT_EQ((*waited)->headers.find("Retry-After"), "1");
    EXPECT_EQ(ask(second, zone("lon")).status, 201);
    EXPECT_TRUE(leads(second));
    (void)go(tasks.close());
}

TEST_F(MastersTest, AnAccessPointIsShownTheLeaderAndGoesToTheNext) {
    start("m-1");
    One& second = start("m-2");
    access::Settings settings;
    settings.masters = {second.role->wire_address()};
    settings.uplink_listen = settings.tunnel_listen = settings.control_listen = "127.0.0.1:0";
    settings.zone = "nj";
    settings.redial_ms = 20, settings.redial_max_ms = 50;
    MemoryJournal journal;
    access::Access access{settings,
                          access::Ports{loop, *timers, *net, *random, journal, certified("access", "a")}};
    TaskGroup tasks{loop};
    tasks.start("access", access.run());
    EXPECT_TRUE(in_time([&] { return access.linked(); })) << "by the one that follows";
    kill("m-1");
    run_out();
    EXPECT_TRUE(in_time([&] { return !access.linked(); }));
    EXPECT_TRUE(in_time([&] { return access.linked() && leads(second); }));
    (void)go(tasks.close());
}

}  // namespace
}  // namespace hostler::rig
