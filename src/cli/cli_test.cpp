// Commands, flags, exit codes, errors.
#include "cli/cli.h"

#include "api/operation_list.h"
#include "api/operations_event.h"
#include "api/operations_host.h"
#include "api/operations_instance.h"
#include "api/operations_key.h"
#include "api/operations_offer.h"
#include "api/operations_placement.h"
#include "api/operations_quota.h"
#include "api/operations_secret.h"
#include "api/operations_stock.h"
#include "api/operations_whoami.h"
#include "cli/client.h"
#include "cli/fake_api_test.h"

namespace hostler::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(CliTest, StartsAnInstanceFromFlags) {
    api::CreateInstance got;
    api.handlers.on<api::ops::create_instance>(
        [&](api::Call, api::CreateInstance request) -> Task<api::CreatedInstance> {
            got = std::move(request);
            co_return api::CreatedInstance{};
        });
    EXPECT_EQ(run({"instance",      "create",      "nb",        "--tenant", "acme",
                   "--tenant-name", "Acme Ltd",    "--spec",    "h100-1",   "--image",
                   "demo:1",        "--storage",   "models",    "--port",   "8080,public,probe,base-url=/lab",
                   "--port",        "9000",        "--env",     "A=1",      "--env",
                   "B=x=y",         "--cmd",       "serve all", "--volume", "/data",
                   "--volume",      "other:/o:ro", "--zone",    "nj"}),
              0)
        << err;
    EXPECT_EQ(got, (api::CreateInstance{
                       .instance_id = "nb",
                       .tenant_id = "acme",
                       .tenant_name = "Acme Ltd",
                       .image = "demo:1",
                       .storage_id = "models",
                       .spec_name = "h100-1",
                       .template_ = {.ports = {{8080, api::Protocol::TCP, true, true, "/lab"}, {9000}},
                                     .envs = {{"A", "1"}, {"B", "x=y"}},
                                     .cmd = "serve all",
                                     .volumes = {{"", "/data", false}, {"other", "/o", true}}},
                       .zone = "nj"}));
    EXPECT_EQ(out, "");
    EXPECT_THAT(err, HasSubstr("instance/nb created; `hostler instance get nb`"));
    EXPECT_THAT(err, HasSubstr("files outside its volumes are kept while it is stopped"));
    EXPECT_EQ(
        run({"instance", "create", "nb", "--tenant", "acme", "--spec", "s", "--image", "i", "-o", "name"}),
        0);
    EXPECT_EQ(out, "nb\n");
}

TEST_F(CliTest, AStopSaysWhatStays) {
    bool discard = false;
    api.handlers.on<api::ops::stop_instance>(
        [&](api::Call, api::StopInstance request) -> Task<api::Instance> {
            discard = request.discard.value_or(false);
            api::Instance stopped{.instance_id = request.instance};
            if (!discard) stopped.layer = api::InstanceLayer{.host = "h-4f2a9c", .kept = true};
            co_return stopped;
        });
    EXPECT_EQ(run({"instance", "stop", "nb"}), 0) << err;
    EXPECT_FALSE(discard);
    EXPECT_THAT(err, HasSubstr("its files outside them are kept on host h-4f2a9c until it is deleted"));
    EXPECT_EQ(run({"instance", "stop", "nb", "--discard"}), 0) << err;
    EXPECT_TRUE(discard);
    EXPECT_THAT(err, HasSubstr("its volumes stay; files outside them are lost"));
}

TEST_F(CliTest, ValuesOfSecretsAreNotTypedOnTheCommandLine) {
    std::vector<api::CreateSecret> got;
    api.handlers.on<api::ops::create_secret>([&](api::Call, api::CreateSecret request) -> Task<api::Secret> {
        got.push_back(std::move(request));
        co_return api::Secret{.id = "sec-1", .name = got.back().name};
    });
    const std::vector<std::string> create{"secret", "create", "hf", "--tenant", "acme", "--value"};
    const auto with = [&](const std::string& value) {
        auto args = create;
        args.push_back(value);
        return run(args);
    };
    EXPECT_EQ(with("token=s3cr3t"), 2);
    EXPECT_THAT(err, AllOf(HasSubstr("KEY=@FILE"), Not(HasSubstr("s3cr3t"))));
    EXPECT_EQ(with("token"), 2) << "nobody can be asked";
    EXPECT_TRUE(got.empty());
    EXPECT_EQ(with("token=@" + file("token", "a=b\n")), 0) << err;
    typed = "c";
    EXPECT_EQ(with("token=-"), 0) << err;
    world.ask = [](std::string_view, bool secret) {
        return secret ? std::optional<std::string>{"d"} : std::nullopt;
    };
    EXPECT_EQ(with("token"), 0) << err;
    ASSERT_EQ(got.size(), 3u);
    EXPECT_EQ(got[0].values, (std::vector<api::SecretValue>{{"token", "a=b"}}));
    EXPECT_EQ(got[1].values, (std::vector<api::SecretValue>{{"token", "c"}}));
    EXPECT_EQ(got[2].values, (std::vector<api::SecretValue>{{"token", "d"}}));
}

TEST_F(CliTest, AnInstanceNamesSecretsByFlags) {
    api::CreateInstance got;
    api.handlers.on<api::ops::create_instance>(
        [&](api::Call, api::CreateInstance request) -> Task<api::CreatedInstance> {
            got = std::move(request);
            co_return api::CreatedInstance{};
        });
    std::vector<std::string> create{"instance", "create", "nb",      "--tenant", "acme",
                                    "--spec",   "s",      "--image", "i"};
    create.insert(create.end(), {"--secret-env", "HF_TOKEN=hf/token", "--secret-file", "/run/a=hf/token",
                                 "--secret-file", "/run/all=hf"});
    EXPECT_EQ(run(create), 0) << err;
    EXPECT_EQ(got.secret_envs, (std::vector<api::SecretEnv>{{"HF_TOKEN", "hf", "token"}}));
    EXPECT_EQ(got.secret_files,
              (std::vector<api::SecretFile>{{"/run/a", "hf", "token"}, {"/run/all", "hf", ""}}));
    create.back() = "all=hf";
    EXPECT_EQ(run(create), 2);
    EXPECT_THAT(err, HasSubstr("is not /PATH=SECRET[/KEY]"));
}

TEST_F(CliTest, PlacementIsSaidByFlags) {
    std::vector<api::CreateInstance> got;
    api.handlers.on<api::ops::create_instance>(
        [&](api::Call, api::CreateInstance request) -> Task<api::CreatedInstance> {
            got.push_back(std::move(request));
            co_return api::CreatedInstance{};
        });
    const std::vector<std::string> create{"instance", "create", "nb",      "--tenant", "acme",
                                          "--spec",   "s",      "--image", "i"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), create.begin(), create.end());
        return run(more);
    };
    EXPECT_EQ(with({"--zones",      "nj",    "--zones",      "lon",  "--near",        "51.5,-0.128",
                    "--within-km",  "300",   "--gpu-memory", "48",   "--host-label",  "disk=nvme",
                    "--host-label", "a=b.c", "--rack",       "r1",   "--trust",       "trusted",
                    "--group",      "web",   "--apart",      "host", "--link-wanted", "nvlink"}),
              0)
        << err;
    EXPECT_EQ(got.back().placement, (api::Placement{.zones = {"nj", "lon"},
                                                    .racks = {"r1"},
                                                    .near = "51.5,-0.128",
                                                    .within_km = 300,
                                                    .gpu_memory = "48",
                                                    .trust = api::Trust::trusted,
                                                    .labels = {{"a", "b.c"}, {"disk", "nvme"}},
                                                    .group = "web",
                                                    .apart = api::Area::host,
                                                    .link_wanted = api::Link::nvlink}));
    EXPECT_EQ(with({"--zone", "nj"}), 0) << err;
    EXPECT_EQ(got.back().zone, "nj");
    EXPECT_FALSE(got.back().placement);
    EXPECT_EQ(with({"--host-label", "disk", "--apart", "town"}), 2);
    EXPECT_THAT(err, HasSubstr("--host-label: 'disk' is not NAME=VALUE"));
    EXPECT_THAT(err, HasSubstr("--apart: 'town' is none of host, rack, zone"));
}

TEST_F(CliTest, LabelsAreGivenChangedShownAndAskedForByFlags) {
    api::CreateInstance created;
    api::UpdateInstance updated;
    std::vector<std::string> asked;
    const api::Instance shown{.instance_id = "nb", .labels = {{"acme.com/stage", "prod"}, {"team", "ml"}}};
    api.handlers.on<api::ops::create_instance>(
        [&](api::Call, api::CreateInstance request) -> Task<api::CreatedInstance> {
            created = std::move(request);
            co_return api::CreatedInstance{};
        });
    api.handlers.on<api::ops::update_instance>(
        [&](api::Call, api::UpdateInstance request) -> Task<api::Instance> {
            updated = std::move(request);
            co_return shown;
        });
    api.handlers.on<api::ops::list_instances>(
        [&](api::Call, api::ListInstances request) -> Task<api::List<api::Instance>> {
            asked.push_back(request.label.value_or("none"));
            co_return api::List<api::Instance>{{shown}};
        });
    api.handlers.on<api::ops::list_hosts>(
        [&](api::Call, api::ListHosts request) -> Task<api::List<api::Host>> {
            asked.push_back(request.label.value_or("none"));
            co_return api::List<api::Host>{};
        });
    EXPECT_EQ(run({"instance", "create", "nb", "--tenant", "acme", "--spec", "s", "--image", "i", "--label",
                   "team=ml", "--label", "acme.com/stage=prod"}),
              0)
        << err;
    EXPECT_EQ(created.labels, shown.labels);
    EXPECT_FALSE(created.placement) << "no wish about hosts";
    EXPECT_EQ(run({"instance", "update", "nb", "--label", "team=ops", "--label", "old="}), 0) << err;
    EXPECT_EQ(updated.labels, (Labels{{"team", "ops"}, {"old", ""}}));
    EXPECT_THAT(out, HasSubstr("acme.com/stage=prod, team=ml"));
    EXPECT_EQ(run({"instance", "list", "--label", "team=ml", "--label", "gpu"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("LABELS"));
    EXPECT_THAT(out, HasSubstr("acme.com/stage=prod, team=ml"));
    EXPECT_EQ(run({"host", "list", "--label", "disk=nvme"}), 0) << err;
    EXPECT_EQ(asked, (std::vector<std::string>{"team=ml,gpu", "disk=nvme"}));
    EXPECT_EQ(run({"instance", "list", "--label", "team=m l"}), 2);
    EXPECT_THAT(err, HasSubstr("'team=m l'"));
}

TEST_F(CliTest, InstancesOfAnOwnerAreListedShownAndNotDeleted) {
    std::vector<std::string> asked;
    api.handlers.on<api::ops::list_instances>(
        [&](api::Call, api::ListInstances request) -> Task<api::List<api::Instance>> {
            asked.push_back(request.owner.value_or("none"));
            api::Instance shown{.instance_id = "web-0"};
            if (request.owner) shown.owner = api::InstanceOwner{.kind = "job", .id = "j-1"};
            co_return api::List<api::Instance>{{shown}};
        });
    api.handlers.on<api::ops::delete_instance>([](api::Call, api::NameInstance) -> Task<api::Empty> {
        Error error{Code::conflict, "instance web-0 belongs to job j-1", "owned"};
        error.help = "Change or delete the job instead.";
        co_return std::unexpected(error);
    });
    EXPECT_EQ(run({"instance", "list", "--owner", "job/j-1"}), 0) << err;
    EXPECT_THAT(out, AllOf(HasSubstr("OWNER"), HasSubstr("job/j-1")));
    EXPECT_EQ(run({"instance", "list", "--owner", "job"}), 0) << err;
    EXPECT_EQ(run({"instance", "list"}), 0) << err;
    EXPECT_THAT(out, Not(HasSubstr("OWNER"))) << "a column without a value is left out";
    EXPECT_THAT(asked, ElementsAre("job/j-1", "job", "none"));
    EXPECT_EQ(run({"instance", "list", "--owner", "Job/"}), 2);
    EXPECT_THAT(err, AllOf(HasSubstr("owner"), HasSubstr("must be KIND/ID or KIND")));
    EXPECT_EQ(run({"instance", "list", "--help"}), 0);
    EXPECT_THAT(out, HasSubstr("--owner KIND[/ID]"));
    EXPECT_EQ(run({"instance", "delete", "web-0", "--yes"}), 5);
    EXPECT_THAT(err, HasSubstr("instance web-0 belongs to job j-1"));
    EXPECT_THAT(err, HasSubstr("Change or delete the job instead."));
}

TEST_F(CliTest, GlobalFlagsMayStandBeforeAShortForm) {
    std::vector<std::string> asked;
    api.handlers.on<api::ops::get_instance_logs>([&](api::Call, api::GetLogs request) -> Task<api::Logs> {
        asked.push_back("logs " + request.instance);
        co_return api::Logs{};
    });
    api.handlers.on<api::ops::explain_instance>(
        [&](api::Call, api::GetInstance request) -> Task<api::Explanation> {
            asked.push_back("explain " + request.instance);
            co_return api::Explanation{};
        });
    api.handlers.on<api::ops::list_events>([&](api::Call, api::ListEvents) -> Task<api::List<api::Event>> {
        asked.emplace_back("events");
        co_return api::List<api::Event>{};
    });
    api.handlers.on<api::ops::list_offers>([&](api::Call, api::ListOffers) -> Task<api::List<api::Offer>> {
        asked.emplace_back("offers");
        co_return api::List<api::Offer>{};
    });
    EXPECT_EQ(run({"--key", "acme-key", "events"}), 0) << err;
    EXPECT_EQ(run({"-o", "json", "explain", "nb"}), 0) << err;
    EXPECT_EQ(run({"-ojson", "explain", "x"}), 0) << err;
    EXPECT_EQ(run({"--key=acme-key", "-y", "logs", "nb"}), 0) << err;
    EXPECT_EQ(run({"--no-color", "-yo", "json", "--key", "acme-key", "offers"}), 0) << err;
    EXPECT_EQ(run({"--key", "acme-key", "events", "-o", "csv"}), 0) << err;
    EXPECT_EQ(run({"-o", "json", "offers", "list"}), 0) << err;
    EXPECT_THAT(asked,
                ElementsAre("events", "explain nb", "explain x", "logs nb", "offers", "events", "offers"));
}

TEST_F(CliTest, ADryRunOfAStartShowsWhereItWouldGo) {
    api::CreatedInstance answer{api::InstancePlan{.zone = "lon", .from_stock = true}};
    answer.plan->gpu = api::InstanceGpu{"H100", 1, "2.49", "USD"};
    bool dry = false;
    api.handlers.on<api::ops::create_instance>(
        [&](api::Call call, api::CreateInstance) -> Task<api::CreatedInstance> {
            dry = call.dry_run;
            co_return dry ? answer : api::CreatedInstance{};
        });
    std::vector<std::string> words{"instance", "create", "nb",      "--tenant", "acme",
                                   "--spec",   "s",      "--image", "i"};
    EXPECT_EQ(run(words), 0) << err;
    EXPECT_FALSE(dry);
    EXPECT_EQ(out, "");
    words.push_back("--dry-run");
    EXPECT_EQ(run(words), 0) << err;
    EXPECT_TRUE(dry);
    for (const char* told : {"lon", "fromStock", "2.49", "USD"}) EXPECT_THAT(out, HasSubstr(told));
    EXPECT_THAT(err, HasSubstr("instance/nb: would be created (nothing was changed)"));
    words.insert(words.end(), {"-o", "name"});
    EXPECT_EQ(run(words), 0) << err;
    EXPECT_EQ(out, "nb\n");
}

// What a person reads who asks for too much.
TEST_F(CliTest, ARefusedPlacementSaysWhatWouldHelp) {
    api.handlers.on<api::ops::create_instance>(
        [](api::Call, api::CreateInstance) -> Task<api::CreatedInstance> {
            Error error{Code::conflict, "No host can take 4 GPUs: 3 hosts have too few GPUs.",
                        "insufficient_capacity"};
            error.fields = {{"gpus", "3"}};
            error.help = "Ask for 2 GPUs.";
            co_return std::unexpected(error);
        });
    EXPECT_EQ(run({"instance", "create", "nb", "--tenant", "acme", "--spec", "s", "--image", "i"}), 6);
    EXPECT_THAT(err, HasSubstr("No host can take 4 GPUs: 3 hosts have too few GPUs."));
    EXPECT_THAT(err, HasSubstr("Ask for 2 GPUs."));
    api.handlers.on<api::ops::explain_placement>(
        [](api::Call, api::ExplainPlacement request) -> Task<api::PlacementAnswer> {
            EXPECT_EQ(request.gpus, 4);
            EXPECT_EQ(request.placement.model, "h100");
            api::PlacementDenial denial{
                .reasons = {{"gpus", 3}}, .sentence = "No host can.", .would_help = "Wait."};
            co_return api::PlacementAnswer{.denial = denial};
        });
    EXPECT_EQ(run({"placement", "explain", "--gpus", "4", "--model", "h100"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("No host can."));
    EXPECT_THAT(out, HasSubstr("Wait."));
}

TEST_F(CliTest, OffersAreAskedForInOneLine) {
    std::vector<api::ListOffers> asked;
    api.handlers.on<api::ops::list_offers>(
        [&](api::Call, api::ListOffers request) -> Task<api::List<api::Offer>> {
            asked.push_back(request);
            api::Offer offer{.spec = "h100-1", .zone = "lon", .location = "London, GB"};
            offer.gpu_type = "H100 SXM5 80GB", offer.vendor = "nvidia", offer.gpus = 1;
            offer.gpu_memory_bytes = std::int64_t{80} << 30, offer.cpu = "8", offer.memory = "32Gi";
            offer.isolation = "container", offer.trust = "trusted", offer.ready = 2, offer.available = 12;
            co_return api::List<api::Offer>{.items = {offer}};
        });
    const std::string query = "gpu_memory>=48 zone=lon trust=trusted";
    EXPECT_EQ(run({"offers", query, "-o", "available"}), 0) << err;
    EXPECT_EQ(run({"offers", query, "--order=-available", "-o", "json"}), 0) << err;
    EXPECT_EQ(run({"offer", "list"}), 0) << err;
    ASSERT_EQ(asked.size(), 3u);
    EXPECT_EQ(asked[0].query, query);
    EXPECT_EQ(asked[0].order, "available");
    EXPECT_EQ(asked[1].order, "-available");
    EXPECT_EQ(asked[2].query + asked[2].order, "");
    EXPECT_THAT(out, HasSubstr("SPEC    ZONE  GPU TYPE        GPUS"));
    EXPECT_THAT(out, HasSubstr("80 GiB"));
    EXPECT_EQ(run({"offers", "tpu=1 zone>lon", "-o", "cost"}), 2);
    EXPECT_THAT(err, HasSubstr("at 1: there is no field 'tpu'"));
    EXPECT_THAT(err, HasSubstr("at 7: zone is compared with = and != only"));
    EXPECT_THAT(err, HasSubstr("there is no field 'cost'"));
    EXPECT_EQ(run({"offers", "-o", "jsno"}), 2);
    EXPECT_THAT(err, HasSubstr("'jsno' is none of table, json, yaml, csv, name"));
    EXPECT_EQ(asked.size(), 3u);
    for (const api::QueryField& field : api::offer_fields) {
        EXPECT_EQ(run({"offers", "-o", std::string{field.name}}), 0) << err;
        EXPECT_EQ(asked.back().order, field.name);
    }
}

TEST_F(CliTest, ATenantsKeyNeedNotSayWhoseItIs) {
    api.handlers.on<api::ops::whoami>([](api::Call call, api::Empty) -> Task<api::Whoami> {
        co_return api::Whoami{.actor = call.caller.actor,
                              .is_operator = call.caller.tenant.empty(),
                              .tenant_id = call.caller.tenant};
    });
    std::string tenant;
    api.handlers.on<api::ops::create_instance>(
        [&](api::Call, api::CreateInstance request) -> Task<api::CreatedInstance> {
            tenant = request.tenant_id;
            co_return api::CreatedInstance{};
        });
    env["HOSTLER_KEY"] = "acme-key";
    EXPECT_EQ(run({"instance", "create", "nb", "--spec", "s", "--image", "i"}), 0) << err;
    EXPECT_EQ(tenant, "acme");
    EXPECT_EQ(run({"instance", "create", "nb", "--spec", "s", "--image", "i", "--key", "operator-key"}), 2);
    EXPECT_THAT(err, HasSubstr("--tenant-id: is required with an operator's key"));
}

TEST_F(CliTest, TakesFieldsFromAFileAndLetsFlagsWin) {
    std::ofstream{home + "/body.json"} << R"({"number": 1, "specName": "a", "cpu": "4", "zone": "nj"})";
    std::vector<api::CreateStocks> got;
    api.handlers.on<api::ops::create_stocks>(
        [&](api::Call call, api::CreateStocks request) -> Task<api::Empty> {
            EXPECT_TRUE(call.dry_run);
            EXPECT_EQ(call.idempotency_key, "once");
            got.push_back(std::move(request));
            co_return api::Empty{};
        });
    EXPECT_EQ(run({"stock", "create", "b", "-f", home + "/body.json", "--number", "3", "--dry-run",
                   "--idempotency-key", "once"}),
              0)
        << err;
    EXPECT_THAT(got, ElementsAre(api::CreateStocks{.number = 3, .spec_name = "b", .cpu = "4", .zone = "nj"}));
    EXPECT_EQ(err, "stock/b: would be created (nothing was changed)\n");
    EXPECT_EQ(run({"stock", "create", "b", "-f", home + "/none.json"}), 2);
}

TEST_F(CliTest, LimitsOfAQuotaAreWordsBehindEachOther) {
    api::SetQuota got;
    api.handlers.on<api::ops::set_quota>([&](api::Call, api::SetQuota request) -> Task<api::Quota> {
        got = std::move(request);
        co_return api::Quota{.tenant_id = "acme", .project = "lab", .usage = {"gpus 7 of 8"}};
    });
    EXPECT_EQ(run({"quota", "set", "gpus=8,guaranteed=2", "gpus:H100 SXM5 80GB=4", "--tenant", "acme",
                   "--project", "lab", "--limit", "cpu=500m"}),
              0)
        << err;
    ASSERT_EQ(got.limits.size(), 3u);
    EXPECT_EQ(got.limits[0].resource + got.limits[0].limit + got.limits[0].guaranteed, "gpus82");
    EXPECT_EQ(got.limits[1].resource, "gpus:H100 SXM5 80GB");
    EXPECT_EQ(got.limits[1].limit, "4");
    EXPECT_EQ(got.limits[2].resource, "cpu");
    EXPECT_EQ(got.tenant_id, "acme");
    EXPECT_EQ(got.project, "lab");
    EXPECT_THAT(out, HasSubstr("gpus 7 of 8"));
    EXPECT_EQ(run({"quota", "set", "gpus", "--tenant", "acme"}), 2);
    EXPECT_THAT(err, HasSubstr("'gpus' is not RESOURCE=LIMIT[,guaranteed=AMOUNT]"));
    EXPECT_EQ(run({"quota", "set", "gpu=1", "--tenant", "acme"}), 2);
    EXPECT_THAT(err, HasSubstr("did you mean gpus?"));
}

TEST_F(CliTest, DeletesStockByQuery) {
    api.handlers.on<api::ops::delete_stocks>(
        [](api::Call, api::DeleteStocks) -> Task<api::Empty> { co_return api::Empty{}; });
    EXPECT_EQ(run({"stock", "delete", "h 1"}), 2);
    EXPECT_THAT(err, HasSubstr("--number: is required"));
    EXPECT_TRUE(api.requests.empty());
    EXPECT_EQ(run({"stock", "delete", "h1", "--number", "2"}), 0) << err;
    EXPECT_THAT(api.requests, ElementsAre("DELETE /stocks?number=2&specName=h1"));
    EXPECT_EQ(err, "stock/h1 deleted\n");
}

TEST_F(CliTest, ShowsSecretsOnceOnStandardOutput) {
    api.handlers.on<api::ops::create_api_key>(
        [](api::Call, api::CreateApiKey request) -> Task<api::CreatedApiKey> {
            EXPECT_EQ(request.ttl_seconds, 30 * 86400);
            EXPECT_EQ(request.tenant_id, "acme");
            co_return api::CreatedApiKey{
                .id = "k-1", .name = request.name, .tenant_id = "acme", .secret = "s3cret"};
        });
    EXPECT_EQ(run({"key", "create", "ci", "--tenant", "acme", "--ttl", "30d"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("secret:     s3cret\n"));
    EXPECT_THAT(err, Not(HasSubstr("s3cret")));
    EXPECT_EQ(run({"host", "token", "create", "--zone", "nj", "--ttl", "soon"}), 2);
    EXPECT_THAT(err, HasSubstr("--ttl-seconds: 'soon' is no time; write it as 90s, 10m, 1h or 30d"));
}

TEST_F(CliTest, PutsNamesSafelyIntoPaths) {
    EXPECT_EQ(run({"volume", "get", "a/../b c"}), 8);  // Nobody handles it here: 503.
    EXPECT_THAT(api.requests, ElementsAre("GET /v1/volumes/a%2F..%2Fb%20c"));
}

TEST_F(CliTest, AWrongNameIsAnsweredWithTheListOfAll) {
    const auto said = [&](std::vector<std::string> words, const std::string& where, Error error) {
        api.canned[where] = problem(std::move(error));
        EXPECT_NE(run(std::move(words)), 0);
        return err;
    };
    const auto missing = [](std::string message, std::string help = "") {
        return Error{.code = Code::not_found, .message = std::move(message), .help = std::move(help)};
    };
    const std::string host = "GET /v1/hosts/x";
    EXPECT_THAT(said({"host", "get", "x"}, host, missing("there is no host x")),
                HasSubstr("  would help: `hostler host list` names all\n"));
    EXPECT_THAT(said({"host", "get", "x"}, host, missing("there is no host x; did you mean y?")),
                Not(HasSubstr("would help")));
    EXPECT_THAT(said({"host", "get", "x"}, host, missing("there is no host x", "Look again.")),
                HasSubstr("would help: Look again.\n"));
    EXPECT_THAT(said({"host", "get", "x"}, host, missing("there is no answer to that")),
                Not(HasSubstr("would help")));
    EXPECT_THAT(said({"key", "delete", "x", "-y"}, "DELETE /v1/api-keys/x", missing("there is no API key x")),
                HasSubstr("would help: `hostler key list` names all\n"));
    EXPECT_THAT(said({"host", "token", "delete", "x", "-y"}, "DELETE /v1/host-tokens/x",
                     missing("there is no host token x")),
                HasSubstr("would help: `hostler host token list` names all\n"));
    Error wrong{.code = Code::invalid, .message = "the request is wrong"};
    wrong.fields = {{"zone", "there is no zone fra"}};
    EXPECT_THAT(said({"offers"}, "GET /v1/offers?limit=1000", wrong),
                HasSubstr("would help: `hostler zone list` names all\n"));
}

TEST_F(CliTest, NamesTheRequestWhereTheFaultIsTheServers) {
    const auto said = [&](int status) {
        api.canned["GET /v1/whoami"] = {
            status,
            {},
            fmt::format(R"({{"status":{},"code":"x","title":"t","detail":"a sentence","requestID":"r-1"}})",
                        status)};
        EXPECT_NE(run({"whoami"}), 0);
        return err;
    };
    EXPECT_THAT(said(500), HasSubstr("hostler: a sentence (request r-1)\n"));
    EXPECT_THAT(said(404), HasSubstr("hostler: a sentence\n"));
}

TEST_F(CliTest, ExitCodesTellWhatWentWrong) {
    const std::string where = "GET /v1/whoami";
    const auto with = [&](Code code, std::string reason = "") {
        api.canned[where] = problem({.code = code, .message = "a sentence", .reason = std::move(reason)});
        const int got = run({"whoami"});
        EXPECT_THAT(err, HasSubstr("hostler: a sentence\n"));
        EXPECT_EQ(out, "");
        return got;
    };
    EXPECT_EQ(with(Code::internal), 1);
    EXPECT_EQ(with(Code::invalid), 2);
    EXPECT_EQ(with(Code::not_found), 3);
    EXPECT_EQ(with(Code::unauthenticated), 4);
    EXPECT_EQ(with(Code::forbidden), 4);
    EXPECT_EQ(with(Code::conflict), 5);
    EXPECT_EQ(with(Code::exhausted, "insufficient_capacity"), 6);
    EXPECT_EQ(with(Code::exhausted, "rate_limited"), 6);
    EXPECT_EQ(with(Code::timeout), 7);
    EXPECT_EQ(with(Code::unavailable), 8);
    api.canned.clear();
    env["HOSTLER_KEY"] = "wrong";
    EXPECT_EQ(run({"zone", "list"}), 4);
    EXPECT_THAT(err, HasSubstr("would help: `hostler login`, or a key"));
    env["HOSTLER_KEY"] = "acme-key";
    EXPECT_EQ(run({"host", "list"}), 4);
}

TEST_F(CliTest, PrintsEveryWrongFieldOnItsOwnLine) {
    api.handlers.on<api::ops::create_instance>(
        [](api::Call, api::CreateInstance) -> Task<api::CreatedInstance> {
            co_return api::CreatedInstance{};
        });
    EXPECT_EQ(
        run({"instance", "create", "n b", "--tenant", "t", "--spec", "s", "--image", "i", "--port", "0"}), 2);
    EXPECT_EQ(
        err,
        "hostler: 2 fields are wrong\n"
        "  instanceID: must be 1 to 128 letters, digits, '.', '_' or '-', with a letter or digit first\n"
        "  template.ports[0].port: must be between 1 and 65535\n");
    EXPECT_EQ(
        run({"instance", "create", "nb", "--tenant", "t", "--spec", "s", "--image", "i", "--port", "0"}), 2);
    EXPECT_EQ(err, "hostler: the request is wrong\n  template.ports[0].port: must be between 1 and 65535\n");
}

TEST_F(CliTest, ShowsWhatWouldHelp) {
    Error error{.code = Code::exhausted, .message = "no host has room", .reason = "insufficient_capacity"};
    error.help = "delete 1 idle slot";
    api.canned["GET /v1/whoami"] = problem(error);
    EXPECT_EQ(run({"whoami"}), 6);
    EXPECT_EQ(err, "hostler: no host has room\n  would help: delete 1 idle slot\n");
}

TEST_F(CliTest, NamesTheNearestForWhatItDoesNotKnow) {
    EXPECT_EQ(run({"instnace", "list"}), 2);
    EXPECT_THAT(err, HasSubstr("there is no command 'instnace'; did you mean 'instance'?"));
    EXPECT_EQ(run({"instance", "lsit"}), 2);
    EXPECT_THAT(err, HasSubstr("did you mean 'list'?"));
    EXPECT_EQ(run({"gpu", "list", "--modle=x"}), 2);
    EXPECT_THAT(err, HasSubstr("there is no flag --modle here; did you mean '--model'?"));
    EXPECT_EQ(run({"gpu", "list", "--state", "helthy"}), 2);
    EXPECT_THAT(err, HasSubstr("did you mean 'healthy'?"));
    EXPECT_EQ(run({"zone", "get", "nj", "lon"}), 2);
    EXPECT_THAT(err, HasSubstr("'lon' is one argument too many"));
    EXPECT_EQ(run({"zone", "get"}), 2);
    EXPECT_THAT(err, HasSubstr("ZONE: is required: The zone's name."));
    EXPECT_EQ(run({"zone"}), 2);
    EXPECT_THAT(err, HasSubstr("list, create, get, edit, delete"));
    EXPECT_EQ(run({"key", "get"}), 2);
    EXPECT_THAT(
        err,
        HasSubstr(
            "there is no command 'get' here; there are create, list, delete, rotate, disable, enable\n"));
    EXPECT_EQ(run({"weather"}), 2);
    EXPECT_THAT(err, HasSubstr("there is no command 'weather'; `hostler --help` shows all\n"));
    EXPECT_EQ(run({"volume", "create", "v", "--size"}), 2);
    EXPECT_EQ(err, "hostler: --size needs a value: QUANTITY\n");
    EXPECT_EQ(run({"zone", "list", "-o", "xml"}), 2);
    EXPECT_EQ(run({"zone", "list", "--limit", "many"}), 2);
    EXPECT_TRUE(api.requests.empty());
}

TEST_F(CliTest, AsksBeforeWhatCannotBeUndone) {
    api.handlers.on<api::ops::remove_host>(
        [](api::Call, api::RemoveHost) -> Task<api::Empty> { co_return api::Empty{}; });
    EXPECT_EQ(run({"host", "remove", "h-1"}), 2);  // No terminal: never a prompt.
    EXPECT_THAT(err, HasSubstr("needs --yes here"));
    std::string asked;
    world.ask = [&](std::string_view prompt, bool) {
        asked = prompt;
        return std::optional<std::string>("n");
    };
    EXPECT_EQ(run({"host", "remove", "h-1"}), 1);
    EXPECT_THAT(asked, HasSubstr("remove host/h-1?"));
    EXPECT_TRUE(api.requests.empty());
    EXPECT_EQ(run({"host", "remove", "h-1", "-y"}), 0) << err;
    EXPECT_EQ(err, "host/h-1 removed\n");
}

TEST_F(CliTest, NamesAMissingArgumentBeforeAMissingApi) {
    env.erase("HOSTLER_API");
    env.erase("HOSTLER_KEY");
    EXPECT_EQ(run({"cluster", "save"}), 2);
    EXPECT_THAT(err, HasSubstr("CLUSTER: is required"));
    EXPECT_THAT(err, Not(HasSubstr("no API is known")));
    EXPECT_EQ(run({"instance", "get"}), 2);
    EXPECT_THAT(err, HasSubstr("INSTANCE: is required"));
    EXPECT_EQ(run({"cluster", "save", "train"}), 2);
    EXPECT_THAT(err, HasSubstr("no API is known"));
    EXPECT_EQ(run({"instance", "create", "-f", file("instance.yaml", "name: nb")}), 2);
    EXPECT_THAT(err, HasSubstr("no API is known")) << "the file may have it";
}

TEST_F(CliTest, HelpShowsFlagsAndExamples) {
    EXPECT_EQ(run({"--help"}), 0);
    for (const auto* word : {"instance", "zone", "login", "--output", "HOSTLER_API"})
        EXPECT_THAT(out, HasSubstr(word));
    EXPECT_EQ(run({"instance", "create", "--help"}), 0);
    for (const auto* word : {"--image", "Container image to run.", "--port", "Example:", "--wait", "--zone"})
        EXPECT_THAT(out, HasSubstr(word));
    EXPECT_EQ(run({}), 0);
    EXPECT_THAT(out, HasSubstr("instance"));
    EXPECT_EQ(run({"--version"}), 0);
    EXPECT_EQ(out, "hostler 0.1.0\n");
    EXPECT_TRUE(api.requests.empty());
}

TEST_F(CliTest, EveryOperationHasACommandThatHelps) {
    for (const api::Operation* operation : api::operations()) {
        std::vector<std::string> args;
        std::string_view rest = operation->noun;
        for (; !rest.empty(); rest.remove_prefix(std::min(rest.size(), rest.find(' ') + 1)))
            if (args.emplace_back(rest.substr(0, rest.find(' '))); rest.find(' ') == rest.npos) break;
        if (!operation->verb.empty()) args.emplace_back(operation->verb);
        args.emplace_back("--help");
        EXPECT_EQ(run(args), 0) << operation->name;
        EXPECT_THAT(out, HasSubstr(std::string(operation->help))) << operation->name;
    }
}

TEST_F(CliTest, CompletesCommandsFlagsAndValues) {
    const auto complete = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "__complete");
        EXPECT_EQ(run(words), 0);
        std::vector<std::string> lines;
        for (std::string_view rest = out; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1))
            lines.emplace_back(rest.substr(0, rest.find('\n')));
        return lines;
    };
    world.other_commands = {{"up", "Run a cloud on this machine."}};
    EXPECT_THAT(complete({"ins"}), ElementsAre("instance"));
    EXPECT_THAT(complete({""}), AllOf(Contains("up"), Contains("apply"), Contains("logs")));
    EXPECT_THAT(complete({"instance", "sta"}), ElementsAre("start", "state"));
    EXPECT_THAT(complete({"instance", "create", "--im"}), ElementsAre("--image"));
    EXPECT_THAT(complete({"gpu", "list", "--state", "h"}), ElementsAre("healthy"));
    EXPECT_THAT(complete({"gpu", "list", "--state", "healthy", "--st"}), ElementsAre("--state"));
    EXPECT_THAT(complete({"gpu", "list", "-o", "j"}), ElementsAre("json"));
    EXPECT_THAT(complete({"apply", "-f", "x"}), ElementsAre(":files"));
    EXPECT_THAT(complete({"volume", "create", "--file", ""}), ElementsAre(":files"));
    EXPECT_THAT(complete({"zone", "list", "--limit", ""}), ElementsAre());
    EXPECT_TRUE(api.requests.empty());
    for (const auto* shell : {"bash", "zsh", "fish"}) {
        EXPECT_EQ(run({"completion", shell}), 0);
        EXPECT_THAT(out, HasSubstr("__complete"));
    }
    EXPECT_EQ(run({"completion", "cmd.exe"}), 2);
}

}  // namespace
}  // namespace hostler::cli
