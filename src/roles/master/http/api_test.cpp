#include "roles/master/http/api.h"
#include "roles/master/run/places.h"
#include "roles/master/run/runs.h"

#include <gtest/gtest.h>

#include "api/operation_list.h"
#include "api/operations_zone.h"
#include "roles/master/testing/api_rig.h"

namespace hostler::master {
namespace {

namespace json = boost::json;
using ApiTest = testing::ApiRig;

std::string wrong_field(const api::Reply& reply) {
    const json::value told = json::parse(reply.body);
    const json::value* errors = told.as_object().if_contains("errors");
    if (!errors || errors->as_array().empty()) return "";
    return std::string{errors->at(0).at("field").as_string()};
}

TEST_F(ApiTest, ADryRunChangesNothing) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(2)).status, 200);
    const auto commits = store.done;
    desk().live.hosts["h-a"].session = 7;
    EXPECT_EQ(call("", "POST", "/stocks?dryRun=true", stocks(2)).status, 200);
    EXPECT_EQ(call("acme", "POST", "/gpu-instances?dryRun=true", start("one")).status, 200);
    EXPECT_EQ(call("", "DELETE", "/v1/hosts/h-a?dryRun=true").status, 200);
    EXPECT_EQ(call("", "POST", "/stocks?dryRun=true", stocks(99)).status, 409)
        << "it says what would have been said";
    EXPECT_EQ(store.done, commits);
    EXPECT_TRUE(term().look().estate.unchanged());
    EXPECT_EQ(term().look().estate.slots.all().size(), 2u);
    EXPECT_TRUE(term().look().estate.instances.all().empty());
    EXPECT_EQ(term().look().live.hosts["h-a"].session, 7U) << "nor what is not stored";
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200) << "the host takes it";
}

TEST_F(ApiTest, PricesAreSetByOperatorsAndReadByAll) {
    const std::string price = R"({"gpuType":"H100","amount":"2.49","currency":"USD","zone":"lon"})";
    EXPECT_EQ(call("acme", "PUT", "/v1/prices", price).status, 403);
    EXPECT_EQ(call("", "PUT", "/v1/prices?dryRun=true", price).status, 200);
    EXPECT_TRUE(term().look().estate.prices.all().empty());
    ASSERT_EQ(call("", "PUT", "/v1/prices", price).status, 200);
    const auto listed = [&](const std::string& query) {
        return json::parse(call("acme", "GET", "/v1/prices" + query).body).at("items").as_array();
    };
    ASSERT_EQ(listed("").size(), 1u);
    EXPECT_EQ(listed("")[0].at("amount"), "2.49");
    EXPECT_EQ(listed("")[0].at("zone"), "lon");
    EXPECT_EQ(call("acme", "DELETE", "/v1/prices?gpuType=H100&zone=lon").status, 403);
    EXPECT_EQ(problem(call("", "DELETE", "/v1/prices?gpuType=H100&zone=lon&ifVersion=7")), "price_changed");
    ASSERT_EQ(call("", "DELETE", "/v1/prices?gpuType=H100&zone=lon").status, 200);
    EXPECT_EQ(call("", "DELETE", "/v1/prices?gpuType=H100&zone=lon").status, 404);
    EXPECT_TRUE(listed("").empty());
    EXPECT_EQ(listed("?past=true").size(), 1u);
}

TEST_F(ApiTest, EventsAreListedSinceATime) {
    const auto reasons = [&](const std::string& query) {
        std::string all;
        for (const auto& event :
             json::parse(call("", "GET", "/v1/events" + query).body).at("items").as_array())
            all += std::string{event.at("reason").as_string()} + " ";
        return all;
    };
    const WallTime now = timers.wall();
    store.log = {{.time = now - std::chrono::minutes{20}, .kind = "zone", .id = "lon", .reason = "created"},
                 {.time = now - std::chrono::minutes{5}, .kind = "zone", .id = "lon", .reason = "deleted"}};
    EXPECT_EQ(reasons(""), "created deleted ");
    EXPECT_EQ(reasons("?since=600"), "deleted ");
    EXPECT_EQ(reasons("?since=3600"), "created deleted ");
    EXPECT_EQ(reasons("?since=60"), "");
    EXPECT_EQ(call("", "GET", "/v1/events?since=0").status, 400);
}

TEST_F(ApiTest, OneTenantDoesNotSeeAnothers) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(2)).status, 200);
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
    const std::string id = term().look().estate.instances.all().begin()->first;
    EXPECT_EQ(call("globex", "POST", "/gpu-instances", start("two", "acme")).status, 403);
    for (const std::string& name : {std::string{"one"}, id}) {
        EXPECT_EQ(call("acme", "GET", "/gpu-instances/" + name).status, 200);
        EXPECT_EQ(call("globex", "GET", "/gpu-instances/" + name).status, 404);
        EXPECT_EQ(call("globex", "DELETE", "/gpu-instances/" + name).status, 404);
        EXPECT_EQ(call("globex", "GET", "/v1/instances/" + name).status, 404);
        EXPECT_EQ(call("globex", "GET", "/v1/instances/" + name + "/logs").status, 404);
        EXPECT_EQ(call("globex", "GET", "/v1/instances/" + name + "/events").status, 404);
    }
    EXPECT_EQ(json::parse(call("globex", "GET", "/v1/instances").body).at("items").as_array().size(), 0u);
    EXPECT_EQ(call("globex", "GET", "/v1/instances?tenantID=acme").status, 403);
    EXPECT_EQ(call("globex", "POST", "/stocks", stocks(1)).status, 403);
    EXPECT_EQ(
        call("globex", "GET", "/v1/networks/" + term().look().estate.networks.all().begin()->first).status,
        404);
    ASSERT_EQ(call("globex", "POST", "/gpu-instances", start("one", "globex")).status, 200);
    EXPECT_EQ(problem(call("", "GET", "/gpu-instances/one")), "ambiguous");
    EXPECT_EQ(call("", "GET", "/gpu-instances/one?tenantID=globex").status, 200);
}

TEST_F(ApiTest, InstancesAreFoundByTheirLabels) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(3)).status, 200);
    const auto labelled = [](const std::string& name, const std::string& labels) {
        std::string body = start(name);
        return body.insert(body.size() - 1, R"(,"labels":)" + labels);
    };
    const std::string one = labelled("one", R"({"team":"ml","stage":"prod"})");
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", one).status, 200);
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", labelled("two", R"({"team":"ml"})")).status, 200);
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", start("three")).status, 200);
    const auto found = [&](const std::string& query, const std::string& tenant = "acme") {
        std::string names;
        for (const auto& item :
             json::parse(call(tenant, "GET", "/v1/instances?label=" + query).body).at("items").as_array())
            names += std::string{item.at("instanceID").as_string()} + " ";
        return names;
    };
    EXPECT_EQ(found("team%3Dml"), "one two ");
    EXPECT_EQ(found("team=ml,stage=prod"), "one ");
    EXPECT_EQ(found("stage&all=true"), "one ");
    EXPECT_EQ(found("stage&instance=two"), "");
    EXPECT_EQ(found("team=ops"), "");
    EXPECT_EQ(found("team=ml", "globex"), "");
    EXPECT_EQ(wrong_field(call("acme", "GET", "/v1/instances?label=%20")), "label");

    const auto update = [&](const std::string& labels) {
        return call("acme", "PATCH", "/v1/instances/one", R"({"labels":)" + labels + "}");
    };
    const auto changed = update(R"({"team":"","stage":"test","cost":"42"})");
    EXPECT_EQ(changed.status, 200) << changed.body;
    EXPECT_EQ(json::parse(changed.body).at("labels"), (json::object{{"cost", "42"}, {"stage", "test"}}));
    EXPECT_EQ(found("team=ml"), "two ");
    EXPECT_EQ(found("stage=test"), "one ");
    EXPECT_EQ(store.log.back().reason, "labels_changed");
    const std::size_t events = store.log.size();
    EXPECT_EQ(update(R"({"stage":"test","team":""})").status, 200);
    EXPECT_EQ(store.log.size(), events) << "nothing has changed";
    std::string many = R"({"l0":"x")";
    for (std::size_t i = 1; i < labels_max; ++i) many += fmt::format(R"(,"l{}":"x")", i);
    EXPECT_EQ(wrong_field(update(many + "}")), "labels") << "together with those that it has";
    EXPECT_EQ(update(many + R"(,"stage":"","cost":""})").status, 200) << "all others at once";
    std::string none = R"({"stage":"test","cost":"42")";
    for (std::size_t i = 0; i < labels_max; ++i) none += fmt::format(R"(,"l{}":"")", i);
    EXPECT_EQ(update(none + "}").status, 200);

    // Asked for again, it is the same while its labels are; others are not made so in silence.
    EXPECT_EQ(problem(call("acme", "POST", "/gpu-instances", one)), "instance_exists");
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
    EXPECT_EQ(
        call("acme", "POST", "/gpu-instances", labelled("one", R"({"stage":"test","cost":"42"})")).status,
        200);
    EXPECT_EQ(problem(call("acme", "POST", "/gpu-instances", start("one", "acme", "demo:2"))),
              "instance_exists");
}

TEST_F(ApiTest, OperatorsAloneSeeSerialNumbersAndAddressesOfHosts) {
    EXPECT_FALSE(json::parse(call("", "GET", "/v1/hosts/a").body).as_object().contains("machine"));
    Host& host = desk().estate.hosts.edit("h-a");
    host.owner = "globex";
    host.facts.serial = "S41";
    host.facts.system_uuid = "4c4c4544";
    host.facts.addresses = {"192.0.2.7", "2001:db8::7"};
    host.facts.gpus[1].serial = "1652";
    const std::string gpu = host.facts.gpus[1].uuid;
    (void)commit();
    const auto shown = json::parse(call("", "GET", "/v1/hosts/a").body);
    EXPECT_EQ(shown.at("machine"), (json::object{{"serialNumber", "S41"},
                                                 {"systemUuid", "4c4c4544"},
                                                 {"gpuSerialNumbers", json::array{"1652"}},
                                                 {"addresses", json::array{"192.0.2.7", "2001:db8::7"}}}));
    EXPECT_EQ(json::parse(call("", "GET", "/v1/gpus/" + gpu).body).at("serialNumber"), "1652");
    for (const char* tenant : {"acme", "globex"})
        for (const std::string& path :
             {std::string{"hosts"}, std::string{"hosts/a"}, std::string{"gpus"}, "gpus/" + gpu})
            EXPECT_EQ(call(tenant, "GET", "/v1/" + path).status, 403) << tenant << " " << path;
}

TEST_F(ApiTest, NetworksHaveNames) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(2)).status, 200);
    for (const char* tenant : {"acme", "globex"})
        ASSERT_EQ(call(tenant, "POST", "/gpu-instances", start("one", tenant)).status, 200);
    const auto text = [](const api::Reply& reply, const char* field) {
        return std::string{json::parse(reply.body).at(field).as_string()};
    };
    EXPECT_EQ(text(call("acme", "GET", "/v1/instances/one"), "network"), "default");
    const std::string id = text(call("acme", "GET", "/v1/networks/default"), "id");
    EXPECT_NE(text(call("globex", "GET", "/v1/networks/default"), "id"), id);
    EXPECT_EQ(problem(call("", "GET", "/v1/networks/default")), "ambiguous");
    EXPECT_EQ(text(call("", "GET", "/v1/networks/default?tenantID=acme"), "id"), id);

    EXPECT_EQ(wrong_field(call("acme", "PATCH", "/v1/networks/default", R"({"name":"my lab"})")), "name");
    EXPECT_EQ(call("globex", "PATCH", "/v1/networks/" + id, R"({"name":"mine"})").status, 404);
    const auto renamed = call("", "PATCH", "/v1/networks/default", R"({"name":"lab","tenantID":"acme"})");
    EXPECT_EQ(renamed.status, 200) << renamed.body;
    EXPECT_EQ(text(renamed, "name"), "lab");
    EXPECT_EQ(text(renamed, "id"), id);
    EXPECT_EQ(store.log.back().reason, "renamed");
    EXPECT_EQ(std::tie(store.lines.back().operation, store.lines.back().subject),
              std::tuple("renameNetwork", "network/" + id));
    EXPECT_EQ(json::parse(store.lines.back().before).at("name"), "default");
    EXPECT_EQ(json::parse(store.lines.back().after).at("name"), "lab");
    EXPECT_EQ(text(call("acme", "GET", "/v1/instances/one"), "network"), "lab");
    EXPECT_EQ(problem(call("acme", "GET", "/v1/networks/default")), "network_not_found");
    EXPECT_EQ(text(call("globex", "GET", "/v1/instances/one"), "network"), "default");
    desk().estate.networks.add({.id = "n-2", .name = "other", .tenant = "acme"});
    (void)commit();
    EXPECT_EQ(problem(call("acme", "PATCH", "/v1/networks/lab", R"({"name":"other"})")), "name_taken");
}

TEST_F(ApiTest, HostsAreFoundByTheirLabels) {
    ASSERT_EQ(call("", "PATCH", "/v1/hosts/a", R"({"labels":{"disk":"nvme"}})").status, 200);
    const auto found = [&](const std::string& label) {
        return json::parse(call("", "GET", "/v1/hosts?label=" + label).body).at("items").as_array().size();
    };
    EXPECT_EQ(found("disk=nvme"), 1u);
    EXPECT_EQ(found("disk=tape"), 0u);
}

TEST_F(ApiTest, VolumesShowTheirUseToTheirTenant) {
    const auto made = call("acme", "POST", "/v1/volumes", R"({"name":"data","size":"1Gi"})");
    ASSERT_EQ(made.status, 201) << made.body;
    ASSERT_EQ(call("globex", "POST", "/v1/volumes", R"({"name":"other","size":"1Gi"})").status, 201);
    const std::string id{boost::json::parse(made.body).at("id").as_string()};
    const auto data = [&] {
        const auto reply = call("acme", "GET", "/v1/volumes/data");
        HOSTLER_ASSERT(reply.status == 200);
        return boost::json::parse(reply.body).as_object();
    };
    EXPECT_FALSE(data().contains("usedBytes")) << "nobody has measured it";
    desk().estate.volumes.edit(id).host = "h-a";
    desk().estate.volumes.edit(id).phase = VolumePhase::available;
    (void)commit();
    HostLive& live = desk().live.hosts["h-a"];
    live.connected = true;
    live.disks = DiskUses{.volumes = {{id, {990, 1000, 5, 50}}}};
    EXPECT_EQ(data().at("usedBytes"), 990);
    EXPECT_EQ(data().at("totalBytes"), 1000);
    EXPECT_EQ(data().at("usedInodes"), 5);
    EXPECT_EQ(data().at("totalInodes"), 50);
    const auto list = [&](const std::string& tenant) {
        return boost::json::parse(call(tenant, "GET", "/v1/volumes").body).at("items").as_array();
    };
    ASSERT_EQ(list("acme").size(), 1u);
    EXPECT_EQ(list("acme")[0].at("usedInodes"), 5);
    ASSERT_EQ(list("globex").size(), 1u);
    EXPECT_FALSE(list("globex")[0].as_object().contains("usedBytes"));
    EXPECT_EQ(call("globex", "GET", "/v1/volumes/" + id).status, 404);
    EXPECT_EQ(call("globex", "GET", "/v1/volumes/" + id + "/explain").status, 404);
    const auto why = boost::json::parse(call("acme", "GET", "/v1/volumes/data/explain").body);
    EXPECT_EQ(why.at("token"), "volume_full");
    live.connected = false;
    EXPECT_FALSE(data().contains("usedBytes")) << "who says nothing is not believed for ever";
}

TEST_F(ApiTest, AVolumeThatNoHostCouldHoldIsRefused) {
    const auto ask = [&](const std::string& size) {
        return call("acme", "POST", "/v1/volumes", fmt::format(R"({{"name":"data","size":"{}"}})", size));
    };
    const auto refused = ask("1025Gi");
    EXPECT_EQ(refused.status, 400) << refused.body;
    EXPECT_EQ(problem(refused), "volume_too_large");
    EXPECT_NE(refused.body.find("1Ti"), std::string::npos) << refused.body;
    EXPECT_EQ(ask("1Ti").status, 201) << "whatever lies there now";
}

TEST_F(ApiTest, TheSameKeyAgainGetsTheFirstAnswer) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(2, "op-1")).status, 200);
    ASSERT_EQ(call("", "POST", "/stocks", stocks(2, "op-1")).status, 200);
    EXPECT_EQ(term().look().estate.slots.all().size(), 2u);
    EXPECT_EQ(problem(call("", "POST", "/stocks", stocks(3, "op-1"))), "idempotency_key_reused");
    ASSERT_EQ(call("", "POST", "/stocks", stocks(2, "op-2")).status, 200);
    EXPECT_EQ(term().look().estate.slots.all().size(), 4u);
    const auto volume = call("acme", "POST", "/v1/volumes", R"({"name":"data","size":"1Gi"})", "k");
    ASSERT_LT(volume.status, 300) << volume.body;
    EXPECT_EQ(call("acme", "POST", "/v1/volumes", R"({"name":"data","size":"1Gi"})", "k").body, volume.body);
    EXPECT_EQ(call("acme", "POST", "/v1/volumes", R"({"name":"data","size":"1Gi"})").status, 409);
    EXPECT_LT(call("globex", "POST", "/v1/volumes", R"({"name":"data","size":"1Gi"})", "k").status, 300)
        << "another tenant's keys are its own";
    ASSERT_LT(call("", "DELETE", "/v1/hosts/h-a", "", "gone").status, 300);
    EXPECT_LT(call("", "DELETE", "/v1/hosts/h-a", "", "gone").status, 300)
        << "though it is not there any more";
    EXPECT_EQ(call("", "DELETE", "/v1/hosts/h-a").status, 404);
}

TEST_F(ApiTest, ARefusalIsNotRememberedUnderItsKey) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(8)).status, 200);
    EXPECT_EQ(call("", "POST", "/stocks", stocks(1, "op-1")).status, 409);
    EXPECT_EQ(call("", "POST", "/stocks", stocks(1, "op-1")).status, 409);
    EXPECT_EQ(call("acme", "POST", "/v1/instances/none/stop", "", "k").status, 404);
    EXPECT_TRUE(term().look().estate.answers.all().size() == 0u) << "what was refused has no answer to keep";
    desk().estate.hosts.add(
        {.id = "h-b", .zone = "nj", .phase = HostPhase::ready, .facts = testing::DeskRig::facts_of("b", 8)});
    (void)commit();
    EXPECT_EQ(call("", "POST", "/stocks", stocks(1, "op-1")).status, 200) << "now there is room";
    EXPECT_EQ(call("", "POST", "/stocks", stocks(1, "op-1")).status, 200);
    EXPECT_EQ(term().look().estate.slots.all().size(), 9u) << "once";
}

TEST_F(ApiTest, SecretsAreToldOnceAndKeptNowhere) {
    const auto made = call("", "POST", "/v1/api-keys", R"({"name":"ci","tenantID":"acme"})", "k");
    ASSERT_LT(made.status, 300) << made.body;
    const std::string secret{json::parse(made.body).at("secret").as_string()};
    EXPECT_EQ(problem(call("", "POST", "/v1/api-keys", R"({"name":"ci","tenantID":"acme"})", "k")),
              "secret_told");
    EXPECT_EQ(term().look().estate.api_keys.all().size(), 1u);
    for (const auto& [key, object] : store.objects)
        if (key.first != "api_key") EXPECT_EQ(object.body.find(secret), std::string::npos) << key.first;
}

TEST_F(ApiTest, ATenantsKeyRevokesItselfAlone) {
    desk().estate.api_keys.add({.id = "acme", .name = "own", .hash = "1", .tenant = "acme"});
    desk().estate.api_keys.add({.id = "k-2", .name = "ci", .hash = "2", .tenant = "acme"});
    desk().estate.api_keys.add({.id = "k-3", .name = "theirs", .hash = "3", .tenant = "globex"});
    (void)commit();
    const auto refused = call("acme", "DELETE", "/v1/api-keys/k-2");
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(problem(refused), "permission_missing");
    EXPECT_TRUE(refused.body.contains("a tenant's key may revoke itself alone")) << refused.body;
    EXPECT_TRUE(refused.body.contains("hostler key delete k-2")) << refused.body;
    EXPECT_EQ(desk().estate.api_keys.at("k-2").revoked_at, 0);
    EXPECT_EQ(problem(call("acme", "DELETE", "/v1/api-keys/k-3")), "api_key_not_found")
        << "nothing is told of another tenant's";
    EXPECT_LT(call("acme", "DELETE", "/v1/api-keys/acme").status, 300);
    EXPECT_NE(desk().estate.api_keys.at("acme").revoked_at, 0);
    EXPECT_LT(call("", "DELETE", "/v1/api-keys/k-2").status, 300) << "an operator's";
    EXPECT_NE(desk().estate.api_keys.at("k-2").revoked_at, 0);
}

TEST_F(ApiTest, WhatHasEndedIsAnsweredForFromTheStore) {
    settings.repairable_tenant_max = 0;
    ASSERT_EQ(call("", "POST", "/stocks", stocks(1)).status, 200);
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("one", "acme", "other:1")).status, 409);
    const std::string id = term().look().estate.instances.all().begin()->first;
    note(desk(), id, InstanceEvent::fail, "exited", "test");
    let_go(desk(), id);
    (void)commit();
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 409);
    timers.advance(std::chrono::minutes{2});
    EXPECT_FALSE(archive_instances(desk()));
    EXPECT_EQ(term().look().estate.instances.find(id), nullptr);
    EXPECT_EQ(problem(call("acme", "POST", "/gpu-instances", start("one"))), "instance_exists")
        << "the store does not know yet that it has ended";
    (void)commit();
    EXPECT_EQ(problem(call("acme", "POST", "/gpu-instances", start("one"))), "instance_exists")
        << "it was not deleted";
    for (const std::string& name : {std::string{"one"}, id}) {
        EXPECT_EQ(call("acme", "GET", "/gpu-instances/" + name).body, R"({"state":"failed"})");
        EXPECT_EQ(call("globex", "GET", "/gpu-instances/" + name).status, 404);
        EXPECT_EQ(call("acme", "DELETE", "/gpu-instances/" + name).status, 200);
        EXPECT_EQ(call("acme", "GET", "/v1/instances/" + name + "/explain").status, 200);
        EXPECT_EQ(call("acme", "GET", "/v1/instances/" + name + "/events").status, 200);
        EXPECT_EQ(problem(call("acme", "POST", "/v1/instances/" + name + "/stop")), "not_running");
        EXPECT_EQ(problem(call("acme", "POST", "/v1/instances/none/stop")), "instance_not_found");
        EXPECT_NE(call("acme", "POST", "/v1/instances/" + name + "/retry").body.find("repairable_tenant_max"),
                  std::string::npos);
    }
    const auto listed = [&](std::string_view query) {
        return json::parse(call("acme", "GET", fmt::format("/v1/instances{}", query)).body)
            .at("items")
            .as_array()
            .size();
    };
    EXPECT_EQ(listed(""), 0u);
    EXPECT_EQ(listed("?instance=one"), 1u);
    EXPECT_EQ(listed("?state=failed"), 1u);
    EXPECT_EQ(listed("?state=running"), 0u);
    EXPECT_EQ(listed("?all=true"), 1u);
    timers.advance(std::chrono::hours{24});
    EXPECT_EQ(listed("?instance=one"), 0u);
    EXPECT_EQ(listed("?state=failed"), 0u);
    EXPECT_EQ(call("acme", "GET", "/gpu-instances/one").status, 404);
    EXPECT_EQ(call("acme", "DELETE", "/gpu-instances/one").status, 404);
    const auto all = json::parse(call("acme", "GET", "/v1/instances?all=true").body).at("items").as_array();
    ASSERT_EQ(all.size(), 1u) << "the record is kept";
    EXPECT_EQ(all[0].at("state").as_string(), "failed");
    EXPECT_EQ(json::parse(call("globex", "GET", "/v1/instances?all=true").body).at("items").as_array().size(),
              0u);
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200) << "it was deleted";
}

TEST_F(ApiTest, ANameIsFreeOnceItsEndedInstanceWasDeleted) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(2)).status, 200);
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
    const std::string id = find_instance(term().look(), "acme", "one")->id;
    const auto end = [&](const std::string& of, InstanceEvent event) {
        note(desk(), of, event, "exited", "test");
        let_go(desk(), of);
        (void)commit();
    };
    end(id, InstanceEvent::fail);
    EXPECT_EQ(problem(call("acme", "POST", "/gpu-instances", start("one"))), "instance_exists");
    EXPECT_EQ(call("acme", "DELETE", "/gpu-instances/one").status, 200);
    EXPECT_EQ(call("acme", "GET", "/gpu-instances/one").body, R"({"state":"failed"})");
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
    const std::string next = find_instance(term().look(), "acme", "one")->id;
    EXPECT_NE(next, id);
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200) << "the same again";
    EXPECT_EQ(find_instance(term().look(), "acme", "one")->id, next);
    const auto state = [&](const std::string& name) {
        return call("acme", "GET", "/gpu-instances/" + name).body;
    };
    EXPECT_EQ(state("one"), R"({"state":"ready"})");
    EXPECT_EQ(state(id), R"({"state":"failed"})");
    const auto listed = json::parse(call("acme", "GET", "/v1/instances?instance=one&all=true").body);
    ASSERT_EQ(listed.at("items").as_array().size(), 1u) << "who waits for it is not told of the other";
    EXPECT_EQ(listed.at("items").as_array()[0].at("id").as_string(), next);
    // The first leaves memory when the second has ended: the name stays the second's.
    end(next, InstanceEvent::fail);
    timers.advance(std::chrono::minutes{2});
    (void)archive_instances(desk());
    (void)commit();
    ASSERT_EQ(term().look().estate.instances.find(id), nullptr);
    EXPECT_EQ(problem(call("acme", "POST", "/gpu-instances", start("one"))), "instance_exists");
    EXPECT_EQ(state(id), R"({"state":"failed"})");
    // Of one that lives, a deletion frees the name when it has ended.
    ASSERT_EQ(call("acme", "DELETE", "/gpu-instances/one").status, 200);
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
    const std::string third = find_instance(term().look(), "acme", "one")->id;
    ASSERT_EQ(call("acme", "DELETE", "/gpu-instances/one").status, 200);
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("one", "acme", "other:1")).status, 409);
    end(third, InstanceEvent::absent);
    EXPECT_EQ(state("one"), R"({"state":"stopped"})");
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("one", "acme", "other:1")).status, 200);
}

TEST_F(ApiTest, ANameThatNobodyDeletedIsFreedWhenItsInstanceIsLongGone) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(1)).status, 200);
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
    const std::string id = find_instance(term().look(), "acme", "one")->id;
    note(desk(), id, InstanceEvent::fail, "exited", "test");
    let_go(desk(), id);
    (void)commit();
    timers.advance(std::chrono::hours{23});
    EXPECT_FALSE(archive_instances(desk()));
    EXPECT_NE(term().look().estate.instances.find(id), nullptr) << "its owner may repair it";
    timers.advance(std::chrono::hours{2});
    (void)archive_instances(desk());
    (void)commit();
    EXPECT_EQ(call("acme", "GET", "/gpu-instances/one").status, 404);
    EXPECT_EQ(problem(call("acme", "POST", "/gpu-instances", start("one"))), "instance_exists");
    EXPECT_EQ(call("globex", "DELETE", "/gpu-instances/one").status, 404);
    EXPECT_EQ(call("acme", "DELETE", "/gpu-instances/one?dryRun=true").status, 200);
    EXPECT_EQ(problem(call("acme", "POST", "/gpu-instances", start("one"))), "instance_exists");
    EXPECT_EQ(call("acme", "DELETE", "/gpu-instances/one").status, 200);
    EXPECT_EQ(call("acme", "DELETE", "/gpu-instances/one").status, 404);
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
}

TEST_F(ApiTest, ListsPageWithoutSkippingOrRepeating) {
    for (const std::string query : {"?limit=2", "?limit=2&all=true"}) {
        if (term().look().estate.instances.all().empty()) {
            ASSERT_EQ(call("", "POST", "/stocks", stocks(5)).status, 200);
            for (int i = 0; i < 5; ++i)
                ASSERT_EQ(call("acme", "POST", "/gpu-instances", start(fmt::format("one-{}", i))).status,
                          200);
        }
        std::vector<std::string> names;
        std::string cursor;
        int pages = 0;
        do {
            const auto page = json::parse(
                call("acme", "GET", "/v1/instances" + query + (cursor.empty() ? "" : "&cursor=" + cursor))
                    .body);
            for (const auto& item : page.at("items").as_array())
                names.emplace_back(item.at("instanceID").as_string());
            const auto* next = page.as_object().if_contains("nextCursor");
            cursor = next && next->is_string() ? std::string{next->as_string()} : "";
        } while (!cursor.empty() && ++pages < 9);
        EXPECT_EQ(names, (std::vector<std::string>{"one-0", "one-1", "one-2", "one-3", "one-4"})) << query;
        EXPECT_EQ(pages, 2) << query;
    }
}

std::string path_of(const api::Operation& operation) {
    std::string path{operation.path};
    for (auto open = path.find('{'); open != path.npos; open = path.find('{'))
        path.replace(open, path.find('}') - open + 1, "one");
    return path;
}

TEST_F(ApiTest, EveryListRefusesACursorThatIsNotItsOwn) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(1)).status, 200);
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
    ASSERT_EQ(call("", "POST", "/v1/service-accounts", R"({"name":"one","tenantID":"acme"})").status, 201);
    ASSERT_EQ(call("", "POST", "/v1/jobs",
                   R"({"name":"one","tenantID":"acme","image":"demo:1","specName":"small"})")
                  .status,
              201);
    desk().estate.clusters.add({.id = "kc-1", .name = "one", .tenant = "acme", .project = "default"});
    (void)commit();
    const std::string of_zones{
        json::parse(call("", "GET", "/v1/zones?limit=1").body).at("nextCursor").as_string()};
    ASSERT_EQ(call("", "GET", "/v1/zones?cursor=" + of_zones).status, 200);
    int lists = 0;
    for (const api::Operation* operation : api::operations()) {
        if (!operation->list) continue;
        ++lists;
        ASSERT_EQ(call("", "GET", path_of(*operation)).status, 200) << operation->name;
        for (const std::string& cursor :
             {std::string{"nonsense"}, std::string{"1"}, std::string{"a.b.c.d"}, std::string{"1.2.3."},
              std::string{"-1.0.0.x"}, std::string(2000, '1'), of_zones + "%00", of_zones}) {
            if (operation == &api::ops::list_zones && cursor == of_zones) continue;
            const auto reply = call("", "GET", path_of(*operation) + "?cursor=" + cursor);
            EXPECT_EQ(reply.status, 400) << operation->name << " " << cursor;
            EXPECT_EQ(reply.content_type, "application/problem+json") << operation->name;
            if (!cursor.ends_with("%00")) EXPECT_EQ(wrong_field(reply), "cursor") << reply.body;
        }
    }
    EXPECT_GE(lists, 12);
    const auto both = call("", "GET", "/v1/gpus?limit=0&cursor=nonsense");
    EXPECT_EQ(json::parse(both.body).at("errors").as_array().size(), 2u) << "all that is wrong at once";
}

TEST_F(ApiTest, GpusComeByTheNamesOfTheirHostsAndTheirNumbers) {
    // Its id comes first and its name last; its twelve GPUs have UUIDs in no order.
    auto facts = testing::DeskRig::facts_of("zoo", 12);
    for (GpuFacts& gpu : facts.gpus) gpu.uuid = fmt::format("GPU-{}", (gpu.index * 7 + 5) % 12);
    desk().estate.hosts.add({.id = "h-0", .zone = "nj", .phase = HostPhase::ready, .facts = facts});
    (void)commit();
    std::string places, cursor;
    for (int page = 0; page < 10; ++page) {
        const auto list = json::parse(call("", "GET", "/v1/gpus?limit=7" + cursor).body);
        for (const auto& gpu : list.at("items").as_array())
            places +=
                fmt::format("{}{} ", std::string{gpu.at("hostName").as_string()}, gpu.at("index").as_int64());
        const auto* next = list.as_object().if_contains("nextCursor");
        if (!next) break;
        cursor = "&cursor=" + std::string{next->as_string()};
    }
    EXPECT_EQ(places,
              "a0 a1 a2 a3 a4 a5 a6 a7 zoo0 zoo1 zoo2 zoo3 zoo4 zoo5 zoo6 zoo7 zoo8 zoo9 zoo10 zoo11 ");
    ASSERT_EQ(call("", "POST", "/stocks", stocks(1)).status, 200);
    EXPECT_EQ(json::parse(call("", "GET", "/v1/gpus?use=stock").body).at("items").as_array()[0].at("holder"),
              "small");
}

TEST_F(ApiTest, SshIsNoWebPage) {
    desk().estate.gateways.add({.name = "g", .address = "http://localhost:8443", .domain = "localhost"});
    (void)commit();
    ASSERT_EQ(call("", "POST", "/stocks", stocks(1)).status, 200);
    auto asked = json::parse(start("one"));
    asked.as_object()["template"] = json::parse(R"({"ports":[{"port":22},{"port":80}]})");
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", json::serialize(asked)).status, 200);
    const auto urls = json::parse(call("acme", "GET", "/v1/instances/one").body).at("urls").as_array();
    EXPECT_EQ(urls.at(0).at("url"), "ssh://one.hostler");
    EXPECT_TRUE(urls.at(1).at("url").as_string().starts_with("http://80-")) << urls.at(1);
}

TEST_F(ApiTest, ACursorIsForOneQueryOfOneTenant) {
    const auto first = json::parse(call("", "GET", "/v1/gpus?limit=3").body);
    const std::string next{first.at("nextCursor").as_string()};
    const auto rest = json::parse(call("", "GET", "/v1/gpus?limit=100&cursor=" + next).body);
    EXPECT_EQ(first.at("items").as_array().size() + rest.at("items").as_array().size(), 8u);
    EXPECT_EQ(wrong_field(call("", "GET", "/v1/gpus?zone=nj&cursor=" + next)), "cursor");

    ASSERT_EQ(call("", "POST", "/stocks", stocks(2)).status, 200);
    for (const char* name : {"one", "two"})
        ASSERT_EQ(call("acme", "POST", "/gpu-instances", start(name)).status, 200);
    const auto cursor = [&](const std::string& query) {
        return std::string{json::parse(call("acme", "GET", "/v1/instances?limit=1" + query).body)
                               .at("nextCursor")
                               .as_string()};
    };
    const std::string living = cursor(""), all = cursor("&all=true");
    EXPECT_EQ(call("acme", "GET", "/v1/instances?all=false&cursor=" + living).status, 200)
        << "the same in words";
    EXPECT_EQ(call("acme", "GET", "/v1/instances?all=true&cursor=" + all).status, 200);
    EXPECT_EQ(wrong_field(call("acme", "GET", "/v1/instances?cursor=" + all)), "cursor");
    EXPECT_EQ(wrong_field(call("acme", "GET", "/v1/instances?all=true&cursor=" + living)), "cursor");
    EXPECT_EQ(wrong_field(call("globex", "GET", "/v1/instances?cursor=" + living)), "cursor");
    EXPECT_EQ(wrong_field(call("acme", "GET", "/v1/instances?watch=true&cursor=nonsense")), "cursor");
}

}  // namespace
}  // namespace hostler::master
