// Secrets in the store: sealed whatever is written, whoever wrote it before, and whichever key is current.
#include "roles/master/sealing/sealing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/metrics.h"
#include "proto/uplink.pb.h"
#include "roles/master/sealing/count.h"
#include "roles/master/sealing/keys.h"
#include "roles/master/sealing/metrics.h"
#include "roles/master/state/sealed_fields.h"
#include "roles/master/testing/callers.h"
#include "roles/master/testing/term_rig.h"
#include "roles/master/uplink/messages.h"

namespace hostler::master {
namespace {

using hostler::testing::try_run;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string marker = "tell-nobody";

struct SealingTest : ::testing::Test, testing::TermRig {
    static Instance instance(const std::string& id, const std::string& tenant = "acme") {
        Instance made;
        made.id = made.caller_id = id;
        made.tenant = tenant;
        made.phase = InstancePhase::stopped;
        made.spec.environment = {{"TOKEN", marker + id}, {"EMPTY", ""}};
        made.request_digest = "digest of " + marker;
        return made;
    }
    void add(int number) {
        for (int i = 0; i < number; ++i) desk().estate.instances.add(instance(fmt::format("i-{:03}", i)));
        HOSTLER_ASSERT(commit());
    }
    // As a release before this one wrote it.
    void stand_clear(const std::string& id, bool live) {
        const Instance row = instance(id);
        store.objects[{"instance", id}] = {.kind = "instance",
                                           .id = id,
                                           .tenant = "acme",
                                           .phase = "stopped",
                                           .generation = 1,
                                           .created = 1,
                                           .version = 1,
                                           .live = live,
                                           .body = encode_body(row)};
    }
    std::string written() const {
        std::string all;
        for (const auto& [key, object] : store.objects) all += object.id + object.phase + object.body;
        for (const EventRecord& event : store.log) all += event.reason + event.message;
        for (const AuditLine& line : store.lines) all += line.subject + line.before + line.after;
        return all;
    }
    std::size_t sealed_by(const std::string& key) const {
        const std::string all = written(), start = "sealed:" + key + ":";
        std::size_t number = 0;
        for (auto at = all.find(start); at != std::string::npos; at = all.find(start, at + 1)) ++number;
        return number;
    }
    Result<> load() {
        const auto stored = try_run(loop, store.load());
        HOSTLER_ASSERT(stored && *stored);
        if (auto here = find_sealing_keys((*stored)->live, sealer); !here) return here;
        return term().estate().load((*stored)->live);
    }
    // Another master takes over: what is stored is all it has.
    Result<> take_over(std::uint64_t epoch) {
        finish();
        store.waiting.clear();
        store.hang = false;
        begin(epoch);
        return load();
    }
    void look() {
        start_sealing(term());
        timers.advance(std::chrono::seconds{5});
    }
    const SealingCount& count() { return term().look().live.part<SealingCount>(); }
};

TEST_F(SealingTest, WhatIsLoadedIsWhatWasSaid) {
    add(2);
    EXPECT_THAT(written(), Not(HasSubstr(marker)));
    EXPECT_EQ(sealed_by("k-0"), 4u) << "two variables, two digests: what is empty stays so";
    ASSERT_TRUE(take_over(2));
    const Instance& loaded = term().look().estate.instances.at("i-001");
    EXPECT_EQ(loaded.spec.environment, instance("i-001").spec.environment);
    EXPECT_EQ(loaded.request_digest, instance("i-001").request_digest);
}

TEST_F(SealingTest, NothingThatIsSealedOpensInAnotherPlace) {
    add(2);
    const auto whole = store.objects;
    const auto moved = [&](const std::string& from_field, const std::string& to_field,
                           const std::string& from, const std::string& to) {
        Instance source = decode_body<Instance>(whole.at({"instance", from}).body).value();
        Instance target = decode_body<Instance>(whole.at({"instance", to}).body).value();
        std::string text;
        (void)each_secret(source, [&](std::string_view field, std::string& value) -> Result<> {
            if (field == from_field) text = value;
            return {};
        });
        (void)each_secret(target, [&](std::string_view field, std::string& value) -> Result<> {
            if (field == to_field) value = text;
            return {};
        });
        store.objects = whole;
        store.objects[{"instance", to}].body = encode_body(target);
        return take_over(2);
    };
    EXPECT_TRUE(moved("environment/TOKEN", "environment/TOKEN", "i-000", "i-000"));
    for (const auto& [from_field, to_field, from, to] :
         {std::array{"environment/TOKEN", "environment/TOKEN", "i-000", "i-001"},
          std::array{"environment/TOKEN", "request_digest", "i-000", "i-000"},
          std::array{"environment/TOKEN", "environment/EMPTY", "i-001", "i-001"}}) {
        const auto refused = moved(from_field, to_field, from, to);
        ASSERT_FALSE(refused) << to_field;
        EXPECT_EQ(refused.error().code, Code::internal);
        EXPECT_THAT(refused.error().message,
                    HasSubstr(fmt::format("instance {} in the store: {}", to, to_field)));
    }
    // Nor under the id of another tenant.
    store.objects = whole;
    std::string& body = store.objects[{"instance", "i-000"}].body;
    body.replace(body.find(R"("tenant":"acme")"), 15, R"("tenant":"evil")");
    EXPECT_FALSE(take_over(2));
}

TEST_F(SealingTest, WithoutTheKeyNobodyLeads) {
    ASSERT_TRUE(begin_sealing_rotation(desk(), sealer));
    ASSERT_TRUE(finish_sealing_rotation(desk(), sealer));
    add(1);
    ASSERT_TRUE(take_over(2));
    for (const std::string& lost : {std::string{"k-1"}, std::string{"k-0"}}) {
        auto whole = std::exchange(sealer.ring, {lost == "k-1" ? "k-0" : "k-1"});
        const auto refused = take_over(3);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().reason, "sealing_key_missing");
        EXPECT_THAT(refused.error().message, HasSubstr(lost));
        EXPECT_THAT(refused.error().message, HasSubstr("hostler seal import"));
        sealer.imported = {lost};
        EXPECT_TRUE(take_over(4)) << "it is looked for whenever a term begins";
        sealer.ring = whole;
    }
}

TEST_F(SealingTest, WhatOnlyLooksSealedIsATextAsAnyOther) {
    Instance odd = instance("i-odd");
    odd.spec.environment = {{"A", "sealed:k-9:00"}, {"B", "sealed:"}, {"C", "sealed:k-0:00"}};
    desk().estate.instances.add(odd);
    HOSTLER_ASSERT(commit());
    ASSERT_TRUE(take_over(2));
    EXPECT_EQ(term().look().estate.instances.at("i-odd").spec.environment, odd.spec.environment);
    odd.spec.environment.pop_back();  // Nobody before this release could know the name of a key.
    odd.request_digest.clear();
    store.objects[{"instance", "i-odd"}].body = encode_body(odd);
    ASSERT_TRUE(take_over(3));
    EXPECT_EQ(term().look().estate.instances.at("i-odd").spec.environment, odd.spec.environment);
}

TEST_F(SealingTest, WhatStandsClearIsSealedAndWhatHasEndedKeepsNone) {
    touch("nj");
    HOSTLER_ASSERT(commit());
    for (int i = 0; i < 250; ++i) stand_clear(fmt::format("i-{:03}", i), true);
    for (int i = 0; i < 150; ++i) stand_clear(fmt::format("o-{:03}", i), false);
    store.objects[{"instance", "o-001"}].body.insert(1, R"("later":7,)");
    ASSERT_TRUE(take_over(2));
    EXPECT_EQ(term().look().estate.instances.at("i-007").spec.environment[0].value, marker + "i-007");
    const std::size_t commits = store.done.size();
    look();
    EXPECT_THAT(written(), Not(HasSubstr(marker)));
    EXPECT_EQ(sealed_by("k-0"), 500u);
    EXPECT_EQ(store.done.size() - commits, 4u) << "a hundred at a time";
    const Object& ended = store.objects.at({"instance", "o-001"});
    EXPECT_FALSE(ended.live);
    EXPECT_THAT(ended.body, HasSubstr(R"("later":7)"));
    EXPECT_EQ(decode_body<Instance>(ended.body)->spec.environment[0].name, "TOKEN");
    EXPECT_TRUE(count().whole());
    EXPECT_EQ(count().values.at("k-0"), 500u);
    ASSERT_TRUE(take_over(3));
    look();
    EXPECT_EQ(store.done.size() - commits, 4u) << "and there is nothing to do again";
}

TEST_F(SealingTest, ARotationGoesOnWhereItWasWithTheNextMaster) {
    add(250);
    look();
    ASSERT_TRUE(begin_sealing_rotation(desk(), sealer));
    ASSERT_TRUE(begin_sealing_rotation(desk(), sealer)) << "it has begun";
    EXPECT_EQ(sealer.ring, (std::vector<std::string>{"k-0", "k-1"}));
    HOSTLER_ASSERT(commit());
    EXPECT_EQ(sealed_by("k-1"), 0u) << "it seals nothing yet";
    ASSERT_TRUE(finish_sealing_rotation(desk(), sealer));
    ASSERT_TRUE(finish_sealing_rotation(desk(), sealer)) << "it has finished";
    HOSTLER_ASSERT(commit());
    EXPECT_EQ(forget_sealing_key(desk(), "k-0").error().reason, "sealing_key_in_use");
    store.hang = true;
    timers.advance(std::chrono::seconds{2});
    ASSERT_EQ(store.waiting.size(), 1u);
    store.let_go();
    store.hang = true;  // The second batch does not come through.
    timers.settle();
    EXPECT_EQ(sealed_by("k-1"), 200u);
    EXPECT_EQ(sealed_by("k-0"), 300u);
    ASSERT_TRUE(take_over(2)) << "it reads both";
    EXPECT_EQ(term().look().estate.instances.at("i-240").spec.environment[0].value, marker + "i-240");
    EXPECT_EQ(forget_sealing_key(desk(), "k-0").error().reason, "sealing_key_in_use") << "it has not counted";
    look();
    EXPECT_EQ(sealed_by("k-1"), 500u);
    EXPECT_EQ(sealed_by("k-0"), 0u);
    EXPECT_EQ(count().values, (std::map<std::string, std::uint64_t>{{"k-1", 500}}));
    EXPECT_EQ(forget_sealing_key(desk(), "k-1").error().reason, "sealing_key_in_use") << "it is the current";
    EXPECT_EQ(forget_sealing_key(desk(), "k-7").error().code, Code::not_found);
    ASSERT_TRUE(forget_sealing_key(desk(), "k-0"));
    HOSTLER_ASSERT(commit());
    timers.advance(std::chrono::seconds{2});
    EXPECT_EQ(sealer.ring, (std::vector<std::string>{"k-1"}));
    ASSERT_TRUE(take_over(3));
}

TEST_F(SealingTest, AKeyIsForgottenOnlyWhenAllHasBeenSeen) {
    add(1);
    ASSERT_TRUE(begin_sealing_rotation(desk(), sealer));
    ASSERT_TRUE(finish_sealing_rotation(desk(), sealer));
    HOSTLER_ASSERT(commit());
    store.objects[{"instance", "i-bad"}] = {.kind = "instance",
                                            .id = "i-bad",
                                            .created = 1,
                                            .live = false,
                                            .body = R"({"phase":"of a later release"})"};
    look();
    EXPECT_FALSE(count().whole());
    const auto refused = forget_sealing_key(desk(), "k-0");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("i-bad"));
    store.objects.erase({"instance", "i-bad"});
    timers.advance(std::chrono::minutes{2});
    EXPECT_TRUE(forget_sealing_key(desk(), "k-0"));
}

// Users had no part in it once: their second factors would have been lost with the key.
TEST_F(SealingTest, AKeyIsForgottenOnlyWhenEachKindHasLeftIt) {
    desk().estate.users.add({.id = "u-1", .login = "ann", .password = marker + "p", .totp = marker + "t"});
    desk().estate.identity_providers.add({.id = "idp-1", .client_secret = marker + "c"});
    HOSTLER_ASSERT(commit());
    EXPECT_EQ(sealed_by("k-0"), 3u);
    ASSERT_TRUE(begin_sealing_rotation(desk(), sealer));
    ASSERT_TRUE(finish_sealing_rotation(desk(), sealer));
    HOSTLER_ASSERT(commit());
    look();
    EXPECT_EQ(sealed_by("k-0"), 0u);
    EXPECT_EQ(sealed_by("k-1"), 3u);
    ASSERT_TRUE(forget_sealing_key(desk(), "k-0"));
    HOSTLER_ASSERT(commit());
    timers.advance(std::chrono::seconds{2});
    ASSERT_TRUE(take_over(2));
    EXPECT_EQ(term().look().estate.users.at("u-1").totp, marker + "t");
    EXPECT_EQ(term().look().estate.identity_providers.at("idp-1").client_secret, marker + "c");
}

TEST_F(SealingTest, TheMetricsTellWhatTheCurrentKeyDoesNotSeal) {
    const auto shown = [this](const std::string& name) {
        MetricsPage page;
        write_sealing_metrics(page, term().look(), sealer);
        const auto values = hostler::testing::parse_metrics(page.text());
        HOSTLER_ASSERT(values);
        return values->at("hostler_master_" + name);
    };
    add(2);
    stand_clear("i-clear", true);
    ASSERT_TRUE(take_over(2));
    EXPECT_EQ(shown("sealing_whole"), 0) << "nobody has looked";
    start_sealing(term());
    timers.settle();
    EXPECT_EQ(shown("secrets{key=\"\",state=\"clear\"}"), 2);
    EXPECT_EQ(shown("secrets_not_current"), 2);
    timers.advance(std::chrono::seconds{5});
    EXPECT_EQ(shown("secrets{key=\"k-0\",state=\"current\"}"), 6);
    EXPECT_EQ(shown("secrets_not_current"), 0);
    EXPECT_EQ(shown("sealing_whole"), 1);
    EXPECT_EQ(shown("sealing_failing"), 0);

    ASSERT_TRUE(begin_sealing_rotation(desk(), sealer));
    ASSERT_TRUE(finish_sealing_rotation(desk(), sealer));
    HOSTLER_ASSERT(commit());
    store.objects[{"instance", "i-bad"}] = {.kind = "instance", .id = "i-bad", .created = 1, .body = "{"};
    timers.advance(std::chrono::seconds{5});
    EXPECT_EQ(shown("secrets{key=\"k-0\",state=\"former\"}"), 6);
    EXPECT_EQ(shown("secrets_not_current"), 6);
    EXPECT_EQ(shown("sealing_whole"), 0);
    EXPECT_EQ(shown("sealing_failing"), 1);
    EXPECT_EQ(shown("sealing_keys"), 2);
    store.objects.erase({"instance", "i-bad"});
    timers.advance(std::chrono::minutes{2});
    EXPECT_EQ(shown("secrets{key=\"k-1\",state=\"current\"}"), 6);
    EXPECT_EQ(shown("secrets_not_current"), 0);
    EXPECT_EQ(shown("sealing_failing"), 0);
}

TEST_F(SealingTest, StepsOutOfTurnAndFullDisksChangeNothing) {
    EXPECT_EQ(finish_sealing_rotation(desk(), sealer).error().reason, "rotation_not_begun");
    sealer.disk_is_full = true;
    EXPECT_EQ(begin_sealing_rotation(desk(), sealer).error().code, Code::unavailable);
    EXPECT_TRUE(term().look().estate.unchanged());
    sealer.disk_is_full = false;
    ASSERT_TRUE(begin_sealing_rotation(desk(), sealer));
    HOSTLER_ASSERT(commit());
    std::erase(sealer.ring, "k-1");
    EXPECT_EQ(finish_sealing_rotation(desk(), sealer).error().reason, "sealing_key_missing");
    EXPECT_TRUE(term().look().estate.unchanged());
    EXPECT_TRUE(forget_sealing_key(desk(), "k-1")) << "a rotation that was begun may be given up";
    ASSERT_TRUE(begin_sealing_rotation(desk(), sealer));
    EXPECT_TRUE(term().look().estate.sealing_keys.find("k-2"));
}

TEST_F(SealingTest, TheFirstKeyIsTheOneThatIsHereOrANewOne) {
    const auto first = [this](std::vector<std::string> ring) {
        Estate estate;
        Live live;
        Desk fresh{estate, live, settings, desk().pool, random};
        sealer.ring = std::move(ring);
        HOSTLER_ASSERT(agree_on_sealing(fresh, sealer) && agree_on_sealing(fresh, sealer));
        HOSTLER_ASSERT(estate.sealing_keys.all().size() == 1);
        return estate.sealing_keys.all().begin()->first;
    };
    EXPECT_EQ(first({}), "k-1");
    EXPECT_EQ(first({"k-5", "k-6"}), "k-6") << "an operator brought it";
}

// All that a caller can say, with the same word in each place that is secret.
struct SealedApi : SealingTest {
    SealedApi() {
        settings.templates = {
            {.name = "lab",
             .image = "demo:1",
             .parameters = {{.name = "password", .type = ParameterType::secret, .variable = "PASSWORD"}}}};
        Desk& now = desk();
        now.estate.zones.add({.name = "nj"});
        now.estate.hosts.add({.id = "h-a",
                              .zone = "nj",
                              .phase = HostPhase::ready,
                              .facts = testing::DeskRig::facts_of("a", 8)});
        (void)commit();
    }
    static Task<api::Reply> wrapped(const api::Handlers& handlers, api::Inquiry inquiry, api::Caller caller) {
        co_return co_await handlers.answer(std::move(inquiry), std::move(caller), nullptr);
    }
    std::string call(const std::string& tenant, const std::string& method, const std::string& target,
                     const std::string& body, int status) {
        auto caller = caller_for(tenant);
        const std::string key = method == "POST" && target != "/stocks"
                                    ? std::to_string(std::hash<std::string>{}(target + body))
                                    : "";
        auto answer =
            try_run(loop, wrapped(api.handlers(),
                                  {.method = method, .target = target, .body = body, .idempotency_key = key},
                                  caller));
        HOSTLER_ASSERT(answer && *answer);
        EXPECT_EQ((*answer)->status, status) << method << " " << target << ": " << (*answer)->body;
        return (*answer)->body;
    }
    Api api{lead};
};

TEST_F(SealedApi, NoSecretOfACallerStandsInTheStore) {
    call(
        "", "POST", "/stocks",
        R"({"number":4,"operationID":"s","specName":"small","cpu":"1","memory":"1Gi","gpuType":"H100","gpuNum":1})",
        200);
    const std::string request = fmt::format(
        R"({{"instanceID":"one","tenantID":"acme","tenantName":"","image":"demo:1","storageID":"","specName":"small",)"
        R"("template":{{"envs":[{{"name":"TOKEN","value":"{}"}}]}}}})",
        marker);
    call("acme", "POST", "/gpu-instances", request, 200);
    call("acme", "POST", "/gpu-instances", request, 200);
    call("acme", "POST", "/gpu-instances",
         fmt::format(
             R"({{"instanceID":"two","tenantID":"acme","tenantName":"","storageID":"","specName":"small",)"
             R"("templateName":"lab","parameters":[{{"name":"password","value":"{}"}}]}})",
             marker),
         200);
    const std::string receiver = fmt::format(
        R"({{"name":"ops","type":"webhook","url":"https://hooks.example/x","secret":"{}"}})", marker);
    call("acme", "POST", "/v1/alert-receivers", receiver, 201);
    call("acme", "PUT", "/v1/alert-receivers/ops",
         fmt::format(R"({{"type":"webhook","url":"https://hooks.example/y","secret":"{}"}})", marker), 200);
    call("acme", "DELETE", "/gpu-instances/two", "", 200);

    const auto& estate = term().look().estate;
    EXPECT_EQ(estate.alert_receivers.at("acme/ops").secret, marker);
    ASSERT_EQ(estate.instances.all().size(), 2u);
    for (const auto& [id, one] : estate.instances.all())
        EXPECT_EQ(one.spec.environment.at(0).value, marker) << "memory knows it";
    bool sent = false;
    for (const auto& [id, command] : estate.commands.all()) {
        uplink::Frame frame;
        sent |= write_command(term().look(), 1, command, *frame.mutable_command()) &&
                frame.SerializeAsString().contains(marker);
    }
    EXPECT_TRUE(sent) << "and the host is told";
    ASSERT_FALSE(estate.answers.all().empty());
    EXPECT_THAT(written(), Not(HasSubstr(marker)));
    EXPECT_GE(sealed_by("k-0"), 6u);
}

TEST_F(SealedApi, AnOperatorSeesAndTakesTheSteps) {
    add(1);
    look();
    EXPECT_THAT(call("", "GET", "/v1/sealing-keys", "", 200), HasSubstr(R"("id":"k-0","state":"current")"));
    call("acme", "GET", "/v1/sealing-keys", "", 403);
    call("acme", "POST", "/v1/sealing-keys/rotate", R"({"step":"begin"})", 403);
    call("", "POST", "/v1/sealing-keys/rotate?dryRun=true", R"({"step":"begin"})", 200);
    EXPECT_EQ(sealer.ring.size(), 1u);
    EXPECT_THAT(call("", "POST", "/v1/sealing-keys/rotate", R"({"step":"begin"})", 200),
                HasSubstr(R"("id":"k-1","state":"next")"));
    call("", "POST", "/v1/sealing-keys/rotate", R"({"step":"finish"})", 200);
    call("", "POST", "/v1/sealing-keys/k-0/forget", "", 409);
    timers.advance(std::chrono::seconds{5});
    EXPECT_THAT(call("", "GET", "/v1/sealing-keys", "", 200), HasSubstr(R"("whole":true)"));
    call("", "POST", "/v1/sealing-keys/k-0/forget", "", 200);
    timers.advance(std::chrono::seconds{5});
    EXPECT_EQ(sealer.ring, (std::vector<std::string>{"k-1"}));
    EXPECT_EQ(store.lines.back().operation, "forgetSealingKey");
}

}  // namespace
}  // namespace hostler::master
