// `hostler apply`: against an API that keeps what it is told.
#include "cli/apply_test.h"
#include "api/operations_key.h"
#include "api/operations_price.h"
#include "cli/compare.h"
#include "cli/render.h"

namespace hostler::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view cloud = R"(
kind: zone
name: nj
location: New Jersey, US
---
kind: stock
specName: h100-1
number: 3
cpu: 8
memory: 32Gi
gpuType: H100 SXM5 80GB
gpuNum: 1
---
kind: volume
name: models
size: 10Gi
zone: nj
---
kind: instance
instanceID: nb
specName: h100-1
image: demo:1
template:
  ports:
    - {port: 8080, isPublic: true}
)";

TEST_F(ApplyTest, MakesWhatIsNotThereAndIsDoneTheSecondTime) {
    env["HOSTLER_KEY"] = "acme-key";
    // As a tenant zones and stock cannot be seen; the operator makes them.
    EXPECT_EQ(apply(cloud), 4);
    instance.reset();
    env["HOSTLER_KEY"] = "operator-key";
    EXPECT_EQ(apply(std::string(cloud) + "tenantID: acme\n"), 0) << err;
    EXPECT_EQ(out, "zone/nj created\nstock/h100-1 created\nvolume/models created\ninstance/nb created\n");
    EXPECT_EQ(err, "4 created\n");
    EXPECT_THAT(changes, ElementsAre("+3 anywhere"));
    EXPECT_THAT(counted, ElementsAre(0));
    EXPECT_EQ(spec.cpu, "8");
    EXPECT_EQ(instance->template_.ports, (std::vector<api::Port>{{.port = 8080, .is_public = true}}));
    EXPECT_EQ(apply(std::string(cloud) + "tenantID: acme\n"), 0) << err;
    EXPECT_EQ(out,
              "zone/nj unchanged\nstock/h100-1 unchanged\nvolume/models unchanged\ninstance/nb unchanged\n");
    EXPECT_EQ(zones.size() + volumes.size() + changes.size(), 3U);
}

TEST_F(ApplyTest, FillsTheKeysOwnTenant) {
    env["HOSTLER_KEY"] = "acme-key";
    const std::string_view text = "kind: instance\ninstanceID: nb\nspecName: s\nimage: demo:1\n";
    EXPECT_EQ(apply(text), 0) << err;
    EXPECT_EQ(instance->tenant_id, "acme");
    instance.reset();
    env["HOSTLER_KEY"] = "operator-key";
    EXPECT_EQ(apply(text), 2);
    EXPECT_THAT(err, HasSubstr("cloud.yaml:1: tenantID: is required with an operator's key"));
    EXPECT_FALSE(instance);
}

TEST_F(ApplyTest, SaysWhatDiffersAndGoesOn) {
    volumes = {{.name = "models", .tenant_id = "acme", .size = "10Gi"}};
    zones = {{.name = "nj", .location = "Newark"}};
    const std::string_view text =
        "kind: volume\nname: models\nsize: 20Gi\nzone: nj\n---\nkind: zone\nname: nj\nlocation: Newark\n---\n"
        "kind: zone\nname: lon\n";
    EXPECT_EQ(apply(text), 5);
    EXPECT_EQ(out, "volume/models refused\nzone/nj unchanged\nzone/lon created\n");
    EXPECT_THAT(
        err,
        HasSubstr("cloud.yaml:1, document 1: volume/models: it exists and differs in: size (10Gi there, 20Gi "
                  "in the file), zone (none there, nj in the file)\n"));
    EXPECT_THAT(err,
                HasSubstr("would help: a volume cannot be changed: take another name, or delete it first\n"));
    EXPECT_THAT(err, HasSubstr("hostler: 1 created, 1 unchanged, 1 refused\n"));
    // 10240Mi is 10Gi.
    EXPECT_EQ(apply("kind: volume\nname: models\nsize: 10240Mi\n"), 0) << err;
    EXPECT_EQ(out, "volume/models unchanged\n");
}

TEST_F(ApplyTest, AnInstanceThatWasStartedOtherwiseIsAConflict) {
    const std::string text = "kind: instance\ninstanceID: nb\ntenantID: acme\nspecName: s\nimage: demo:1\n";
    EXPECT_EQ(apply(text), 0) << err;
    // Not to be seen from outside; the API knows.
    EXPECT_EQ(apply(text + "template: {cmd: serve}\n"), 5);
    EXPECT_THAT(err, HasSubstr("nb was started with other values"));
    EXPECT_EQ(out, "instance/nb refused\n");
    EXPECT_EQ(apply(text + "# the same\n"), 0) << err;
}

TEST_F(ApplyTest, AnInstancesLabelsAreMadeSo) {
    const std::string text = "kind: instance\ninstanceID: nb\ntenantID: acme\nspecName: s\nimage: demo:1\n";
    EXPECT_EQ(apply(text + "labels: {team: ml, old: x}\n"), 0) << err;
    EXPECT_EQ(apply(text + "labels: {team: ml, old: x}\n"), 0) << err;
    EXPECT_EQ(out, "instance/nb unchanged\n");
    EXPECT_EQ(apply(text), 0) << err;
    EXPECT_EQ(out, "instance/nb unchanged\n") << "a file without labels leaves them";
    EXPECT_EQ(apply(text + "labels: {team: ops, stage: prod}\n", {"--dry-run"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("instance/nb would be updated"));
    EXPECT_EQ(labels, (Labels{{"old", "x"}, {"team", "ml"}}));
    EXPECT_EQ(apply(text + "labels: {team: ops, stage: prod}\n"), 0) << err;
    EXPECT_EQ(out, "instance/nb updated: its labels\n");
    EXPECT_EQ(labels, (Labels{{"stage", "prod"}, {"team", "ops"}}));
    EXPECT_EQ(apply(text + "labels: {team: x}\ntemplate: {cmd: serve}\n"), 5);
    EXPECT_EQ(labels.at("team"), "ops") << "what is refused changes nothing";
}

TEST_F(ApplyTest, APriceIsKnownByWhatItIsFor) {
    std::vector<api::Price> prices = {
        {.gpu_type = "H100", .zone = "lon", .amount = "2.00", .currency = "USD", .version = 3}};
    std::vector<std::string> sets;
    api.handlers.on<api::ops::list_prices>([&](api::Call, api::ListPrices) -> Task<api::List<api::Price>> {
        co_return api::List<api::Price>{.items = prices};
    });
    api.handlers.on<api::ops::set_price>([&](api::Call, api::SetPrice asked) -> Task<api::Price> {
        sets.push_back(fmt::format("{} {} {} if {}", asked.gpu_type, asked.zone.value_or(""), asked.amount,
                                   asked.if_version.value_or(-1)));
        co_return api::Price{.gpu_type = asked.gpu_type, .amount = asked.amount, .currency = "USD"};
    });
    const std::string price = "kind: price\ngpuType: H100\ncurrency: USD\n";
    EXPECT_EQ(apply(price + "zone: lon\namount: 2\n"), 0) << err;
    EXPECT_EQ(out, "price/H100 unchanged\n");
    EXPECT_EQ(apply(price + "zone: lon\namount: \"2.5\"\n"), 0) << err;
    EXPECT_EQ(out, "price/H100 updated: 2.5 USD, was 2.00 USD\n");
    EXPECT_EQ(apply(price + "amount: 3\n"), 0) << err;
    EXPECT_EQ(out, "price/H100 created\n");
    EXPECT_EQ(apply(price + "zone: lon\namount: 2.49\n"), 0) << err;
    EXPECT_EQ(apply(price + "zone: nj\namount: 0.00005\n"), 0) << err;
    prices[0].amount = "2.49";
    EXPECT_EQ(apply(price + "zone: lon\namount: 2.490\n"), 0) << err;
    EXPECT_EQ(out, "price/H100 unchanged\n");
    EXPECT_THAT(
        sets, ElementsAre("H100 lon 2.5 if 3", "H100  3 if 0", "H100 lon 2.49 if 3", "H100 nj 0.00005 if 0"))
        << "whoever changes it meanwhile is not overruled";
    EXPECT_EQ(apply(price + "amount: -3\n"), 2);
    EXPECT_THAT(err, HasSubstr("cloud.yaml:4: amount: must be a sum such as 2.49"));
}

TEST_F(ApplyTest, EveryWrongFieldIsNamedWithItsLineBeforeAnythingIsSent) {
    EXPECT_EQ(
        apply("kind: zone\nname: New Jersey\n---\nkind: volume\nname: v\nsize: much\ncolour: red\n---\n"
              "kind: zoen\nname: x\n---\nname: y\n---\nkind: gpu\n---\nkind: 7\n---\n"
              "kind: instance\ninstanceID: nb\nspecName: s\nimage: i\ntemplate:\n  ports:\n    - port: 0\n"),
        2);
    EXPECT_THAT(err, HasSubstr("hostler: 8 fields are wrong; nothing was sent\n"));
    EXPECT_THAT(err, HasSubstr("  cloud.yaml:2, document 1: name: must "));
    EXPECT_THAT(err, HasSubstr("  cloud.yaml:6, document 2: size: "));
    EXPECT_THAT(err, HasSubstr("  cloud.yaml:7, document 2: colour: "));
    EXPECT_THAT(
        err, HasSubstr("  cloud.yaml:9, document 3: kind: there is no kind 'zoen'; did you mean 'zone'?\n"));
    EXPECT_THAT(err, HasSubstr("  cloud.yaml:12, document 4: kind: is required: one of stock, instance, "));
    EXPECT_THAT(
        err,
        HasSubstr("  cloud.yaml:14, document 5: kind: 'gpu' is none of stock, instance, job, cluster, "));
    EXPECT_THAT(err, HasSubstr("  cloud.yaml:16, document 6: kind: must be a text\n"));
    EXPECT_THAT(
        err, HasSubstr("  cloud.yaml:24, document 7: template.ports[0].port: must be between 1 and 65535\n"));
    EXPECT_EQ(out, "");
    EXPECT_TRUE(api.requests.empty());
}

TEST_F(ApplyTest, WhatHasNoNameIsMadeByItsOwnCommand) {
    EXPECT_EQ(apply("kind: host token\nzone: nj\n"), 2);
    EXPECT_THAT(err, HasSubstr("`hostler host token create` makes one"));
    EXPECT_TRUE(api.requests.empty());
}

TEST_F(ApplyTest, FieldsThatOnlyTheApiCanJudgeAreNamedWithTheirLine) {
    Error wrong{.code = Code::invalid, .message = "a field is wrong"};
    wrong.fields = {{"size", "is more than any host has"}};
    const api::Reply reply = api::reply_of(wrong);
    api.canned["POST /v1/volumes"] = {reply.status, {{"Content-Type", reply.content_type}}, reply.body};
    EXPECT_EQ(apply("kind: volume\nname: v\nsize: 4Pi\n"), 2);
    EXPECT_THAT(err, HasSubstr("  cloud.yaml:3: size: is more than any host has\n"));
}

TEST_F(ApplyTest, ADryRunKnowsWhatTheDocumentsBeforeWouldMake) {
    const std::string_view text =
        "kind: zone\nname: nj\n---\nkind: volume\nname: v\nsize: 1Gi\nzone: nj\n---\n";
    EXPECT_EQ(apply(text, {"--dry-run"}), 0) << err;
    EXPECT_EQ(
        out,
        "zone/nj would be created\nvolume/v would be created: only partly known: it needs resources of the "
        "documents before it\n");
    EXPECT_EQ(apply(std::string(text) + "kind: volume\nname: w\nsize: 1Gi\nzone: mars\n", {"--dry-run"}), 3);
    EXPECT_THAT(out, HasSubstr("volume/w refused\n"));
    EXPECT_THAT(err, HasSubstr("volume/w: there is no zone 'mars'"));
}

TEST_F(ApplyTest, ADryRunChangesNothing) {
    stock = 1;
    spec = {.name = "h100-1", .cpu = "8", .memory = "32Gi", .gpu_type = "H100 SXM5 80GB", .gpu_num = 1};
    EXPECT_EQ(apply("kind: zone\nname: nj\n", {"--dry-run"}), 0) << err;
    EXPECT_EQ(err, "1 created (a dry run: nothing was changed)\n");
    EXPECT_TRUE(zones.empty());
    for (const std::string& request : api.requests)
        EXPECT_TRUE(!request.starts_with("POST") || request.contains("?dryRun=true")) << request;
}

TEST_F(ApplyTest, TellsProgramsWhatBecameOfEach) {
    zones = {{.name = "nj"}};
    EXPECT_EQ(apply("kind: zone\nname: nj\n---\nkind: zone\nname: lon\n", {"-o", "json"}), 0) << err;
    const json::value results = json::parse(out);
    EXPECT_EQ(results.at(0).at("result"), "unchanged");
    EXPECT_EQ(results.at(1).at("result"), "created");
    EXPECT_EQ(results.at(1).at("at"), "cloud.yaml:4, document 2");
    EXPECT_EQ(results.at(1).at("answer").at("name"), "lon");
    EXPECT_EQ(err, "");
    EXPECT_EQ(apply("kind: zone\nname: nj\n", {"-o", "csv"}), 0) << err;
    EXPECT_EQ(out, "kind,name,result,dryRun,message,at\r\nzone,nj,unchanged,false,,cloud.yaml:1\r\n");
    EXPECT_EQ(apply("kind: zone\nname: nj\n---\nkind: zone\nname: lon\nlocation: x\n", {"-o", "name"}), 5);
    EXPECT_EQ(out, "zone/nj\n");
}

TEST_F(ApplyTest, ReadsJsonAndStandardInput) {
    typed = R"([{"kind": "zone", "name": "nj"},
                {"kind": "zone", "name": "lon"}])";
    EXPECT_EQ(run({"apply", "-f", "-"}), 0) << err;
    EXPECT_EQ(out, "zone/nj created\nzone/lon created\n");
    typed = R"({"kind": "zone", "name": "x y"})";
    EXPECT_EQ(run({"apply", "-f", "-"}), 2);
    EXPECT_THAT(err, HasSubstr("standard input:1: name: must"));
    EXPECT_EQ(run({"apply", "-f", file("a.json", R"([{"kind": "zone", "name": "nj"},
  {"kind": "zone", "name": "N"}])")}),
              2);
    EXPECT_THAT(err, HasSubstr("a.json:2, document 2: name: must"));
    EXPECT_EQ(run({"apply", file("c.yaml", "kind: zone\nname: nj\n"), "--dry-run"}), 0) << err;
    EXPECT_EQ(out, "zone/nj unchanged\n");
    EXPECT_EQ(run({"apply", "-f", file("b.json", R"({"kind": "zone", "name": "nj",})")}), 2);
    EXPECT_THAT(err, HasSubstr("malformed JSON at line 1, column"));
    EXPECT_EQ(run({"apply", "-f", file("a.yaml", "kind: zone\nname: nj\n"), "-f",
                   file("b.yaml", "kind: zone\nname: ny\n")}),
              0)
        << err;
    EXPECT_EQ(out, "zone/nj unchanged\nzone/ny created\n");
}

TEST_F(ApplyTest, RefusesFilesThatSayNothing) {
    EXPECT_EQ(run({"apply"}), 2);
    EXPECT_THAT(err, HasSubstr("--file is required"));
    EXPECT_EQ(run({"apply", "-f", home + "/none.yaml"}), 2);
    EXPECT_THAT(err, HasSubstr("none.yaml cannot be read"));
    EXPECT_EQ(run({"apply", "-f", home}), 2);
    EXPECT_EQ(apply("# nothing\n---\n"), 2);
    EXPECT_THAT(err, HasSubstr("cloud.yaml: there is nothing in it"));
    EXPECT_EQ(apply("just words\n"), 2);
    EXPECT_THAT(err, HasSubstr("cloud.yaml:1: must be an object"));
    EXPECT_EQ(apply("a: [b\n"), 2);
    EXPECT_THAT(err, HasSubstr("cloud.yaml: line "));
    EXPECT_EQ(apply(std::string((4 << 20) + 1, '#')), 2);
    EXPECT_THAT(err, HasSubstr("is larger than 4 MiB"));
    EXPECT_TRUE(api.requests.empty());
}

TEST_F(ApplyTest, StopsWhereTheNextWouldMeetTheSame) {
    api.down = true;
    EXPECT_EQ(apply("kind: zone\nname: nj\n---\nkind: zone\nname: lon\n"), 8);
    EXPECT_EQ(api.dialled.size(), 1U);
    EXPECT_THAT(err, HasSubstr("cannot be reached"));
    EXPECT_THAT(err, HasSubstr("hostler: 1 refused, 1 not tried\n"));
    api.down = false;
    env["HOSTLER_KEY"] = "wrong";
    EXPECT_EQ(apply("kind: zone\nname: nj\n---\nkind: zone\nname: lon\n"), 4);
    EXPECT_THAT(err, HasSubstr("  would help: `hostler login`, or a key by --key or HOSTLER_KEY\n"));
    EXPECT_EQ(api.requests.size(), 1U);
}

TEST_F(ApplyTest, AKeyIsMadeOnceAndItsSecretShown) {
    std::vector<api::ApiKey> keys{
        {.id = "k-0", .name = "ci", .tenant_id = "acme", .expires_at = timers.wall() - 1s},
        {.id = "k-1", .name = "ci", .tenant_id = "other"}};
    api.handlers.on<api::ops::list_api_keys>(
        [&](api::Call, api::ListApiKeys) -> Task<api::List<api::ApiKey>> {
            co_return api::List<api::ApiKey>{keys};
        });
    api.handlers.on<api::ops::create_api_key>(
        [&](api::Call, api::CreateApiKey asked) -> Task<api::CreatedApiKey> {
            keys.push_back({.id = "k-2", .name = asked.name, .tenant_id = asked.tenant_id.value_or("")});
            co_return api::CreatedApiKey{.id = "k-2", .name = asked.name, .secret = "hk_secret"};
        });
    const std::string text = "kind: key\nname: ci\ntenantID: acme\nttlSeconds: 3600\n";
    EXPECT_EQ(apply(text), 0) << err;
    EXPECT_EQ(out, "key/ci created\n  secret: hk_secret\n");
    EXPECT_THAT(err, HasSubstr("keep the secret now"));
    EXPECT_EQ(apply(text), 0) << err;
    EXPECT_EQ(out, "key/ci unchanged\n");
    EXPECT_EQ(keys.size(), 3U);
}

TEST_F(ApplyTest, ASingleCommandTakesYamlAndTheSameFile) {
    EXPECT_EQ(run({"zone", "create", "-f", file("z.yaml", "kind: zone\nname: nj\nlocation: \"1\"\n")}), 0)
        << err;
    EXPECT_EQ(zones.back().location, "1");
    EXPECT_EQ(run({"zone", "create", "lon", "-f", file("z.yaml", "name: nj\n")}), 0) << err;
    EXPECT_EQ(zones.back().name, "lon");
    EXPECT_EQ(run({"zone", "create", "-f", file("z.yaml", "kind: volume\nname: nj\n")}), 2);
    EXPECT_THAT(err, HasSubstr("z.yaml:1: this is the kind volume, not zone"));
    EXPECT_EQ(run({"zone", "create", "-f", file("z.yaml", "name: a\n---\nname: b\n")}), 2);
    EXPECT_THAT(err, HasSubstr("has 2 documents"));
    typed = "name: fra\n";
    EXPECT_EQ(run({"zone", "create", "-f", "-"}), 0) << err;
    EXPECT_EQ(zones.back().name, "fra");
}

}  // namespace
}  // namespace hostler::cli
