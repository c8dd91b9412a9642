#include "roles/master/state/estate.h"

#include <gtest/gtest.h>

#include "roles/master/scheduler/capacity.h"
#include "roles/master/scheduler/room.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using testing::DeskRig;

struct SealedEstate : Estate {
    SealedEstate() { seal_with(ring); }
    testing::PlainSealer ring;
};

// One of every kind, with something in every member that tells them apart.
void fill(Estate& estate) {
    estate.begin("key/k-1", WallTime{std::chrono::microseconds{1'700'000'000'000'001}});
    estate.tenants.add({.id = "acme",
                        .display_name = "Acme Ltd",
                        .needs_totp = true,
                        .created_at = 3,
                        .disabled_at = 4,
                        .version = 5});
    estate.projects.add({.id = "acme/lab",
                         .tenant = "acme",
                         .name = "lab",
                         .display_name = "Laboratory",
                         .created_at = 5,
                         .disabled_at = 6,
                         .version = 7});
    estate.zones.add({.name = "nj", .place = "New \"Jersey\"\n", .created_at = 5});
    estate.access_points.add({.name = "access-nj",
                              .zone = "nj",
                              .uplink_address = "1:2",
                              .tunnel_address = "3:4",
                              .control_address = "5:6",
                              .created_at = 7});
    estate.authorities.add({.fingerprint = "f00d", .phase = AuthorityPhase::outgoing, .since = 8});
    estate.holders.add({.name = "gateway/g",
                        .authority = "f00d",
                        .believes = "abcd",
                        .told_at = 9,
                        .key = "k",
                        .refused_key = "r",
                        .refused_at = 10});
    estate.admitted_keys.add({.name = "gateway/g", .keys = {"k", "l"}});
    estate.gateways.add({.name = "g", .address = "http://localhost:8443", .domain = "localhost"});
    estate.host_tokens.add({.id = "t-1",
                            .hash = "abc",
                            .zone = "nj",
                            .owner = "us",
                            .created_at = 1,
                            .expires_at = 2,
                            .used_at = 3,
                            .host = "h-a",
                            .csr_digest = "d",
                            .certificate = "PEM"});
    Host host{.id = "h-a",
              .zone = "nj",
              .owner = "us",
              .phase = HostPhase::unreachable,
              .cordoned = true,
              .message = "silent",
              .boot_id = "b",
              .engine = "podman",
              .engine_error = "none",
              .agent_version = "1",
              .facts = DeskRig::facts_of("a", 2),
              .gpu_states = {{"GPU-a-0", {GpuHealth::faulty, "XID"}}},
              .joined_at = 9};
    host.facts.topology.push_back({"GPU-a-0", "GPU-a-1", GpuLinkKind::nvlink, 18});
    host.facts.gpus[0].nvlinks.push_back({.link = 3, .active = true, .remote_switch = true});
    estate.hosts.add(std::move(host));
    estate.specs.add({.name = "small",
                      .cpu_milli = 4000,
                      .memory_bytes = 1ll << 40,
                      .gpu_type = "H100",
                      .gpu_count = 1,
                      .cpu = "4",
                      .memory = "1Ti",
                      .created_at = 4});
    estate.slots.add({.id = "s-1",
                      .spec = "small",
                      .zone = "nj",
                      .phase = SlotPhase::used,
                      .claim = "c-1",
                      .instance = "i-1",
                      .message = "m"});
    estate.hold({.id = "c-1",
                 .host = "h-a",
                 .zone = "nj",
                 .use = ClaimUse::leaving,
                 .tenant = "acme",
                 .project = "lab",
                 .holder = "i-1",
                 .cpu_milli = 1,
                 .memory_bytes = 2,
                 .gpus = {"GPU-a-0", "GPU-a-1"},
                 .address_index = 17});
    Cluster cluster{.id = "kc-1",
                    .name = "train",
                    .tenant = "acme",
                    .project = "lab",
                    .created_by = "user/u-1",
                    .driver = "test",
                    .version = "v1",
                    .values = {{"podSubnet", "10.0.0.0/8"}},
                    .phase = ClusterPhase::scaling,
                    .made = true,
                    .secrets = R"({"token":"t"})",
                    .avoided = {"h-b"},
                    .nodes_made = 2,
                    .created_at = 3,
                    .labels = {{"team", "ml"}}};
    cluster.restores = "ks-1";
    cluster.control.saves = true;
    estate.cluster_saves.add({.id = "ks-1",
                              .tenant = "acme",
                              .project = "lab",
                              .created_by = "user/u-1",
                              .cluster = "kc-0",
                              .cluster_name = "old",
                              .driver = "test",
                              .version = "v1",
                              .values = {{"podSubnet", "10.0.0.0/8"}},
                              .phase = SavePhase::deleting,
                              .reason = "step_failed",
                              .message = "it failed",
                              .bytes = 2,
                              .step = 1,
                              .attempt = 3,
                              .doing = "erase",
                              .run = 4,
                              .host = "h-a",
                              .began_at = 5,
                              .not_before = 6,
                              .created_at = 7,
                              .phase_since = 8});
    cluster.pools.push_back({.name = "gpu", .count = 2, .gpu_type = "H100", .host_labels = {{"a", "b"}}});
    estate.clusters.add(std::move(cluster));
    estate.cluster_nodes.add({.id = "kn-1",
                              .cluster = "kc-1",
                              .tenant = "acme",
                              .project = "lab",
                              .name = "train-w2",
                              .number = 2,
                              .pool = "gpu",
                              .host = "h-a",
                              .address = "10.0.0.1",
                              .phase = NodePhase::unclean,
                              .wanted = false,
                              .run = 7,
                              .leftovers = {"file /etc/kubernetes"},
                              .timeline = {{"join", 2, 3, 4, "it failed"}}});
    Instance instance{.id = "i-1",
                      .caller_id = "one",
                      .tenant = "acme",
                      .project = "lab",
                      .tenant_name = "Acme",
                      .spec_name = "small",
                      .request_digest = "d",
                      .phase = InstancePhase::lost,
                      .reason = "r",
                      .message = "m",
                      .host = "h-a",
                      .zone = "nj",
                      .claim = "c-1",
                      .slot = "s-1",
                      .subnet = "sn-1",
                      .address = "10.0.0.17",
                      .run_generation = 2,
                      .exit_code = -9,
                      .created_at = 1,
                      .started_at = 2,
                      .ready_at = 3,
                      .ended_at = 4};
    instance.meta.generation = 7;
    instance.spec = {
        "demo:1",
        {"sh", "-c", "x"},
        {{"A", "1"}},
        {{.port = 80, .is_public = true, .is_probe = true, .base_url = "/lab", .own_port = 20001}},
        {{"v-1", "/data", true}}};
    estate.instances.add(std::move(instance));
    estate.volumes.add({.id = "v-1",
                        .name = "data",
                        .tenant = "acme",
                        .project = "lab",
                        .zone = "nj",
                        .host = "h-a",
                        .size_bytes = 5,
                        .phase = VolumePhase::deleting,
                        .message = "m",
                        .created_at = 6});
    estate.networks.add({.id = "n-1", .tenant = "acme", .project = "lab", .created_at = 8});
    estate.subnets.add({.id = "sn-1",
                        .network = "n-1",
                        .tenant = "acme",
                        .project = "lab",
                        .host = "h-a",
                        .index = 4000,
                        .leaving = true,
                        .unusable = true});
    estate.commands.add({.id = "cmd-1",
                         .host = "h-a",
                         .verb = Verb::remove_network,
                         .subject = "sn-1",
                         .subject_generation = 3,
                         .phase = CommandPhase::running,
                         .message = "m",
                         .created_at = 1,
                         .expires_at = 2});
    estate.api_keys.add({.id = "k-1",
                         .name = "n",
                         .hash = "h",
                         .tenant = "acme",
                         .created_at = 1,
                         .expires_at = 2,
                         .revoked_at = 3,
                         .account = "sa-1",
                         .permissions = {"instance.read"},
                         .projects = {"web"},
                         .addresses = {"192.0.2.0/24"},
                         .disabled_at = 4});
    estate.users.add({.id = "u-1",
                      .login = "ann",
                      .name = "Ann",
                      .email = "ann@example.com",
                      .tenant = "acme",
                      .password = "$argon2id$…",
                      .totp = "GEZDGNBV",
                      .totp_confirmed = true,
                      .totp_step = 7,
                      .recovery = {"r", "s"},
                      .created_at = 1,
                      .disabled_at = 2,
                      .identities = {{"idp-1", "ann"}}});
    estate.identity_providers.add({.id = "idp-1",
                                   .name = "Acme SSO",
                                   .tenant = "acme",
                                   .issuer = "https://id.example",
                                   .client_id = "hostler",
                                   .client_secret = "opensesame",
                                   .scopes = {"profile"},
                                   .groups_claim = "groups",
                                   .group_roles = {{"ml", "member", "acme", "web"}},
                                   .default_role = "viewer",
                                   .creates_users = true,
                                   .trusted_second_factor = true,
                                   .authorities = "PEM",
                                   .created_at = 1,
                                   .disabled_at = 2,
                                   .version = 3,
                                   .listed = true});
    estate.invitations.add({.id = "inv-1",
                            .tenant = "acme",
                            .project = "web",
                            .role = "member",
                            .login = "bob",
                            .email = "bob@example.com",
                            .hash = "i",
                            .made_by = "user/u-1",
                            .credential = "login/l",
                            .created_at = 1,
                            .expires_at = 2});
    estate.logins.add({.hash = "l",
                       .user = "u-1",
                       .created_at = 1,
                       .used_at = 2,
                       .expires_at = 3,
                       .address = "192.0.2.1",
                       .client = "curl",
                       .provider = "idp-1",
                       .sid = "s",
                       .subject = "ann",
                       .end_url = "https://id.example/logout"});
    estate.password_links.add({.hash = "p", .user = "u-1", .expires_at = 4});
    estate.service_accounts.add(
        {.id = "sa-1", .name = "ci", .tenant = "acme", .created_at = 1, .disabled_at = 2});
    estate.sign_ins.add({.hash = "h", .key = "k-1", .route = "80-i-1", .expires_at = 4});
    estate.answers.add({.id = "acme|op",
                        .tenant = "acme",
                        .digest = "d",
                        .status = 202,
                        .body = "{\"a\":1}",
                        .expires_at = 5});
    estate.operations.add({.id = "op-1",
                           .kind = "deleteVolume",
                           .subject = "volume/v-1",
                           .tenant = "acme",
                           .project = "lab",
                           .phase = OperationPhase::failed,
                           .message = "m",
                           .code = "c",
                           .created_at = 1,
                           .ended_at = 2});
    estate.secrets.add({.id = "sec-1",
                        .name = "hub",
                        .tenant = "acme",
                        .project = "lab",
                        .kind = SecretKind::registry,
                        .server = "docker.io",
                        .username = "puller",
                        .values = {{"password", "opensesame"}},
                        .version = 3,
                        .created_at = 1,
                        .updated_at = 2});
    estate.shares.add({.id = "sh-1", .tenant = "acme", .project = "lab", .instance = "i-1"});
    estate.stock_images.add({.spec = "small"});
    estate.drains.add({.host = "h-a", .since = 1, .stop_at = 2, .empty_at = 3, .reason = "new memory"});
    estate.restores.add({.id = "restore", .taken_at = 1, .restored_at = 2, .heard = {"h-a"}});
    estate.prices.add({.id = "p-1",
                       .terms = {.gpu_type = "H100", .zone = "nj"},
                       .amount_micros = 2'500'000,
                       .currency = "EUR",
                       .version = 3,
                       .from = 1,
                       .until = 2});
    estate.consolidations.add(
        {.id = "co-1",
         .zone = "nj",
         .steps =
             {{.workload = "i-1", .from = "h-a", .to = "h-b", .phase = MoveState::skipped, .message = "m"}},
         .freed = {"h-a"},
         .gpus = 8,
         .phase = ConsolidationPhase::failed,
         .message = "m",
         .created_at = 1,
         .ended_at = 2});
    estate.sealing_keys.add({.id = "k-0", .phase = SealingPhase::current, .since = 4});
    alert::Rule rule;
    rule.id = "acme/hot", rule.name = "hot", rule.tenant = "acme", rule.window_s = 7;
    estate.alert_rules.add(std::move(rule));
    alert::Silence silence;
    silence.id = "si-1", silence.tenant = "acme", silence.matchers = {"zone=nj"}, silence.until = 2;
    estate.alert_silences.add(std::move(silence));
    alert::Receiver receiver;
    receiver.id = "acme/ops", receiver.name = "ops", receiver.secret = "s", receiver.to = {"a@b"};
    receiver.group_by = {"zone"};  // In place of an initialiser.
    estate.alert_receivers.add(std::move(receiver));
    alert::Alert alert;
    alert.id = "al-1", alert.rule = "acme/hot", alert.labels = {{"zone", "nj"}}, alert.fired_at = 1;
    estate.alerts.add(std::move(alert));
    alert::Delivery delivery;
    delivery.id = "an-1", delivery.receiver = "acme/ops", delivery.lines.resize(1), delivery.created_at = 1;
    estate.alert_deliveries.add(std::move(delivery));
}

// What is in `estate`, as take() would write all of it.
std::vector<Object> everything(Estate& estate, std::uint64_t number) {
    const auto edit = [](auto& table) {
        std::vector<std::string> ids;
        for (const auto& [id, row] : table.all()) ids.push_back(id);
        for (const auto& id : ids) table.edit(id);
    };
    estate.each_table_of(edit);
    std::vector<Touched> touched;
    return estate.take(1, number, touched).put;
}

TEST(Estate, LoadsWhatItWrote) {
    SealedEstate estate;
    fill(estate);
    std::vector<Touched> touched;
    const Changes changes = estate.take(3, 41, touched);
    EXPECT_EQ(changes.epoch, 3u);
    EXPECT_EQ(changes.number, 41u);
    std::size_t filled = 0;
    std::as_const(estate).each_table_of([&](const auto& table) { filled += table.all().empty() ? 0 : 1; });
    EXPECT_EQ(changes.put.size(), filled);
    EXPECT_EQ(touched.size(), filled);
    for (const Object& object : changes.put) {
        EXPECT_EQ(object.created, 41u) << object.kind;
        EXPECT_EQ(object.version, 41u) << object.kind;
        EXPECT_EQ(object.generation, object.kind == "instance" ? 7u : 1u) << object.kind;
        EXPECT_TRUE(object.live);
    }
    const auto instance = std::ranges::find(changes.put, "instance", &Object::kind);
    EXPECT_EQ(instance->tenant, "acme");
    EXPECT_EQ(instance->project, "lab");
    EXPECT_EQ(instance->phase, "lost");
    SealedEstate loaded;
    ASSERT_TRUE(loaded.load(changes.put));
    EXPECT_TRUE(loaded.unchanged());
    EXPECT_EQ(loaded.instances.at("i-1").meta, (Meta{7, 41, 41}));
    EXPECT_EQ(loaded.hosts.at("h-a").facts, estate.hosts.at("h-a").facts);
    EXPECT_EQ(loaded.instances.at("i-1").spec, estate.instances.at("i-1").spec);
    EXPECT_EQ(everything(loaded, 42), everything(estate, 42));
}

TEST(Estate, AnInstanceWithoutAnOwnerHasNoneInItsBytes) {
    SealedEstate estate;
    fill(estate);
    Instance instance = estate.instances.at("i-1");
    const std::string before = encode_body(instance);
    EXPECT_FALSE(before.contains("owner"));
    EXPECT_FALSE(decode_body<Instance>(before).value().owner);
    EXPECT_EQ(encode_body_onto(instance, before), before);
    instance.owner = Owner{"job", "j-1"};
    EXPECT_THAT(encode_body(instance), ::testing::HasSubstr(R"("owner":{"kind":"job","id":"j-1"})"));
    EXPECT_EQ(decode_body<Instance>(encode_body(instance)).value().owner, instance.owner);
}

TEST(Estate, ObjectsOfAReleaseWithoutProjectsAreInTheDefaultProject) {
    SealedEstate loaded;
    const auto stored = [](std::string kind, std::string id) {
        return Object{.kind = std::move(kind),
                      .id = id,
                      .tenant = "acme",
                      .project = "acme",
                      .live = true,
                      .body = fmt::format(R"({{"id":"{}","tenant":"acme"}})", id)};
    };
    ASSERT_TRUE(loaded.load({stored("instance", "i-1"), stored("volume", "v-1"), stored("secret", "sec-1"),
                             stored("network", "n-1"), stored("subnet", "sn-1"), stored("claim", "c-1"),
                             stored("share", "sh-1"), stored("operation", "op-1")}));
    EXPECT_EQ(loaded.instances.at("i-1").project, "default");
    EXPECT_EQ(loaded.volumes.at("v-1").project, "default");
    EXPECT_EQ(loaded.secrets.at("sec-1").project, "default");
    EXPECT_EQ(loaded.networks.at("n-1").project, "default");
    EXPECT_EQ(loaded.subnets.at("sn-1").project, "default");
    EXPECT_EQ(loaded.claims.at("c-1").project, "default");
    EXPECT_EQ(loaded.shares.at("sh-1").project, "default");
    EXPECT_EQ(loaded.operations.at("op-1").project, "default");
}

TEST(Estate, ANetworkThatWasStoredWithoutANameIsTheDefaultOne) {
    SealedEstate loaded;
    ASSERT_TRUE(loaded.load({{.kind = "network",
                              .id = "n-1",
                              .tenant = "acme",
                              .live = true,
                              .body = R"({"id":"n-1","tenant":"acme","created_at":8})"}}));
    EXPECT_EQ(loaded.networks.at("n-1").name, "default");
}

TEST(Estate, LetsPassWhatANewerReleaseWrote) {
    SealedEstate estate;
    fill(estate);
    std::vector<Touched> touched;
    auto objects = estate.take(1, 1, touched).put;
    for (Object& object : objects) object.body.insert(1, R"("later":{"a":[1,2]},)");
    objects.push_back({.kind = "warp_core", .id = "w-1", .body = "{}"});
    SealedEstate loaded;
    ASSERT_TRUE(loaded.load(objects));
    // Whatever is written again keeps what this release does not know, and is else as it was.
    const auto again = everything(loaded, 2);
    for (const Object& object : again)
        EXPECT_NE(object.body.find(R"("later":{"a":[1,2]})"), std::string::npos)
            << object.kind << object.body;
    SealedEstate third;
    ASSERT_TRUE(third.load(again));
    EXPECT_EQ(everything(third, 3), [&] {
        auto same = again;
        for (Object& object : same) object.version = 3;
        return same;
    }());
    EXPECT_EQ(third.instances.at("i-1").spec, estate.instances.at("i-1").spec);
    // Kinds that it does not know stay in the store as they are.
    EXPECT_TRUE(std::ranges::none_of(again, [](const Object& object) { return object.kind == "warp_core"; }));
    // An end is written with all of it, too; what comes after under the same id begins without.
    loaded.instances.retire("i-1");
    loaded.zones.erase("nj");
    loaded.zones.add({.name = "nj"});
    touched.clear();
    const auto ended = loaded.take(1, 4, touched).put;
    ASSERT_EQ(ended.size(), 2u);
    for (const Object& object : ended)
        EXPECT_EQ(object.body.find("later") != std::string::npos, object.kind == "instance") << object.body;
    SealedEstate older;
    ASSERT_TRUE(
        older.load({{.kind = "subnet", .id = "sn-1", .generation = 1, .body = R"({"id":"sn-1","index":3})"}}))
        << "nor is what an older one did not write missed";
    EXPECT_FALSE(older.subnets.at("sn-1").unusable);
    SealedEstate broken;
    const auto refused = broken.load({{.kind = "host", .id = "h-1", .body = "{"}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::internal);
    EXPECT_NE(refused.error().message.find("host h-1"), std::string::npos);
}

TEST(Estate, OneTakeIsAllThatChanged) {
    SealedEstate estate;
    fill(estate);
    std::vector<Touched> touched;
    (void)estate.take(1, 1, touched);
    EXPECT_TRUE(estate.unchanged());
    EXPECT_TRUE(estate.take(1, 2, touched).put.empty());
    estate.zones.edit("nj").place = "there";
    estate.instances.retire("i-1");
    estate.volumes.erase("v-1");
    estate.slots.erase("s-1");
    estate.slots.add({.id = "s-1", .spec = "large"});
    estate.networks.add({.id = "n-2"});
    estate.networks.erase("n-2");
    estate.event("zone", "nj", "", "moved", "It moved.");
    touched.clear();
    const Changes changes = estate.take(1, 3, touched);
    ASSERT_EQ(changes.put.size(), 3u);
    EXPECT_EQ(changes.put[0].kind + changes.put[1].kind + changes.put[2].kind, "zoneslotinstance");
    EXPECT_EQ(changes.put[0].created, 1u);
    EXPECT_EQ(changes.put[0].version, 3u);
    EXPECT_EQ(changes.put[1].created, 3u) << "made again under the same name, it is another";
    EXPECT_FALSE(changes.put[2].live) << "kept to be read";
    EXPECT_EQ(changes.erase, (std::vector<std::pair<std::string, std::string>>{{"volume", "v-1"}}))
        << "and what never was is not mentioned";
    EXPECT_EQ(touched.size(), 4u);
    ASSERT_EQ(changes.events.size(), 1u);
    EXPECT_EQ(changes.events[0].actor, "key/k-1");
    EXPECT_EQ(changes.events[0].time, estate.time());
}

TEST(Estate, WhatAHostSaysIsTextThatEveryDatabaseTakes) {
    SealedEstate estate;
    estate.begin("host/h", {});
    estate.event("host", "h", "", "failed", std::string{"no\0room", 7});
    std::vector<Touched> touched;
    EXPECT_EQ(estate.take(1, 1, touched).events.at(0).message, "no room");
}

TEST(Estate, EveryChangeOfAClaimIsALineOfTheLedger) {
    SealedEstate estate;
    estate.begin("test", {});
    estate.hold({.id = "c-1", .host = "h", .use = ClaimUse::stock, .holder = "s"});
    estate.pass_on("c-1", ClaimUse::instance, {"acme", "default", "i"});
    estate.release("c-1");
    std::vector<Touched> touched;
    const auto changes = estate.take(1, 1, touched);
    std::vector<std::string> lines;
    for (const auto& line : changes.ledger) lines.push_back(line.claim + " " + line.tenant + " " + line.use);
    EXPECT_EQ(lines, (std::vector<std::string>{"c-1  stock", "c-1 acme instance", "c-1 acme released"}));
    EXPECT_TRUE(changes.put.empty() && changes.erase.empty()) << "begun and ended between two commits";
}

TEST(Retention, OfATenantsAnswersTheOldestMakeRoom) {
    DeskRig rig;
    rig.settings.answers_tenant_max = 3;
    for (int i = 1; i <= 5; ++i) {
        const std::string key = std::to_string(10 - i);  // Their order is not that of their names.
        for (const std::string tenant : {"acme", "globex"})
            if (tenant == "acme" || i <= 2)
                rig.estate.answers.add({.id = tenant + "|" + key,
                                        .tenant = tenant,
                                        .expires_at = rig.estate.micros() + i * 1'000'000});
    }
    (void)rig.take();
    close_shares(rig.desk), forget_what_is_over(rig.desk);
    std::vector<std::string> kept;
    for (const auto& [id, answer] : rig.estate.answers.all()) kept.push_back(id);
    EXPECT_EQ(kept, (std::vector<std::string>{"acme|5", "acme|6", "acme|7", "globex|8", "globex|9"}));
    EXPECT_EQ(rig.take().erase.size(), 2u) << "out of the store, too";
}

TEST(Retention, ForgetsWhatIsOver) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    delete_instance(rig.desk, id, "test");
    rig.said[a].clear();
    rig.answer(id, {.done = true});
    rig.estate.answers.add({.id = "|k", .expires_at = rig.estate.micros() + 1});
    rig.estate.sign_ins.add({.hash = "h", .expires_at = rig.estate.micros() + 1});
    (void)rig.take();
    rig.pass(24 * 3600 - 1);
    close_shares(rig.desk), forget_what_is_over(rig.desk);
    EXPECT_TRUE(rig.estate.answers.all().empty());
    EXPECT_TRUE(rig.estate.sign_ins.all().empty());
}

TEST(Retention, InstancesThatEndedLeaveMemoryAndAreKeptInTheStore) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    delete_instance(rig.desk, id, "test");
    (void)rig.take();
    rig.pass(3600);
    EXPECT_FALSE(archive_instances(rig.desk));
    EXPECT_NE(rig.estate.instances.find(id), nullptr) << "its host has not said that it is gone";
    rig.said[a].clear();
    rig.answer(id, {.done = true});
    (void)rig.take();
    rig.pass(59);
    EXPECT_FALSE(archive_instances(rig.desk));
    EXPECT_NE(rig.estate.instances.find(id), nullptr) << "those who watch it are told first";
    rig.pass(1);
    EXPECT_FALSE(archive_instances(rig.desk));
    EXPECT_EQ(rig.estate.instances.find(id), nullptr);
    const auto changes = rig.take();
    EXPECT_FALSE(changes.events.empty()) << "an end without an event would never be taken out of the store";
    const auto name = std::ranges::find(changes.put, "acme/one", &Object::id);
    ASSERT_NE(name, changes.put.end());
    EXPECT_EQ(name->kind, "used_name");
    EXPECT_FALSE(name->live) << "never loaded, always found";
}

TEST(Retention, ManyThatEndedLeaveMemoryAPartAtATime) {
    DeskRig rig;
    rig.settings.ended_in_memory_max = 100;
    for (int i = 0; i < 300; ++i)
        rig.estate.instances.add({.id = fmt::format("i-{:03}", i),
                                  .caller_id = fmt::format("n{}", i),
                                  .tenant = "acme",
                                  .phase = InstancePhase::stopped,
                                  .ended_at = rig.estate.micros() + i});
    (void)rig.take();
    int times = 1;
    while (archive_instances(rig.desk)) ++times;
    EXPECT_EQ(times, 4);
    EXPECT_EQ(rig.estate.instances.all().size(), 100u) << "though none of them ended a minute ago";
    EXPECT_EQ(rig.estate.instances.all().begin()->first, "i-200") << "the longest ended go first";
    EXPECT_EQ(rig.take().put.size(), 400u);
}

// What a dry run changed is as if it had never been.
TEST(Trial, UndoesWhatWasChanged) {
    DeskRig rig;
    rig.host("a");
    ASSERT_TRUE(rig.stock(2));
    const auto id = rig.running("one");
    (void)rig.take();
    rig.live.part<Room>().follow(rig.desk);
    const auto story = [&] {
        std::string all;
        for (const auto& [key, row] : rig.estate.instances.all()) all += encode_body(row);
        for (const auto& [key, row] : rig.estate.claims.all()) all += encode_body(row);
        for (const auto& [key, row] : rig.estate.slots.all()) all += encode_body(row);
        for (const auto& [key, row] : rig.estate.commands.all()) all += encode_body(row);
        for (const auto& [key, row] : rig.estate.zones.all()) all += encode_body(row);
        return all;
    };
    const std::string before = story();
    rig.estate.zones.add({.name = "kept"});
    const std::string with_zone = story();
    {
        const Estate::Trial trial{rig.estate};
        delete_instance(rig.desk, id, "trial");
        ASSERT_TRUE(rig.start(rig.request("two")));
        rig.estate.zones.erase("kept");
        rig.estate.zones.add({.name = "kept", .place = "elsewhere"});
        rig.estate.zones.add({.name = "trial"});
        rig.estate.instances.retire(id);
        EXPECT_NE(story(), with_zone);
        EXPECT_FALSE(rig.estate.unchanged());
    }
    EXPECT_EQ(story(), with_zone);
    const auto changes = rig.take();
    ASSERT_EQ(changes.put.size(), 1u) << "what was changed before is still to be written";
    EXPECT_EQ(changes.put[0].id, "kept");
    EXPECT_TRUE(changes.erase.empty() && changes.events.empty() && changes.ledger.empty());
    rig.estate.zones.erase("kept");
    EXPECT_EQ(story(), before);
}

}  // namespace
}  // namespace hostler::master
