#include "roles/master/secret/secrets.h"
#include "roles/master/run/reconcile.h"

#include <gmock/gmock.h>

#include "api/types_instance.h"
#include "api/types_secret.h"
#include "proto/uplink.pb.h"
#include "roles/master/instance/explain.h"
#include "roles/master/instance/repair.h"
#include "roles/master/testing/api_rig.h"
#include "roles/master/testing/desk_rig.h"
#include "roles/master/uplink/messages.h"

namespace hostler::master {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Secrets : ::testing::Test, testing::DeskRig {
    Secrets() {
        a = host("a", "nj", 4);
        live.hosts[a].takes_secrets = true;
        HOSTLER_ASSERT(stock(2));
    }
    std::string keep(const std::string& name, std::vector<api::SecretValue> values,
                     const std::string& tenant = "acme") {
        return create_secret(desk, {.name = name, .values = std::move(values)}, tenant).value()->id;
    }
    Result<const Secret*> login(const std::string& name, const std::string& server,
                                const std::string& tenant = "acme") {
        return create_secret(desk,
                             {.name = name,
                              .kind = api::SecretKind::registry,
                              .server = server,
                              .username = "puller",
                              .values = {{"password", "opensesame"}}},
                             tenant);
    }
    static api::CreateInstance wanting(const std::string& name) {
        auto wanted = request(name);
        wanted.secret_envs = {{{"HF_TOKEN", "hf", "token"}}};
        wanted.secret_files = {{{"/run/hf", "hf", ""}, {"/run/one", "hf", "other"}}};
        return wanted;
    }
    bool sent(const std::string& id, uplink::StartWorkload& into) {
        uplink::Command command;
        const bool written = write_command(desk, 1, *command_of(id), command);
        into = command.start_workload();
        return written;
    }
    static const Secret* login_of(const Desk& desk, const std::string& tenant, const std::string& image,
                                  const std::string& project = "default") {
        Instance one{.tenant = tenant, .project = project};
        one.spec.image = image;
        return login_for(desk, one);
    }
    std::string a;
};

TEST_F(Secrets, AnInstanceIsGivenWhatItNames) {
    keep("hf", {{"token", "t0k3n"}, {"other", "0th3r"}});
    ASSERT_TRUE(start(wanting("one")));
    const std::string id = find_instance(desk, "acme", "one")->id;
    uplink::StartWorkload command;
    ASSERT_TRUE(sent(id, command));
    EXPECT_TRUE(command.has_secrets());
    std::string all;
    for (const auto& one : command.secrets()) all += one.variable() + one.path() + "=" + one.value() + " ";
    EXPECT_EQ(all, "HF_TOKEN=t0k3n /run/hf/other=0th3r /run/hf/token=t0k3n /run/one=0th3r ");
    EXPECT_FALSE(command.has_login());
    for (const auto& variable : command.environment()) EXPECT_NE(variable.value(), "t0k3n");
}

TEST_F(Secrets, WhatIsMissingIsRefusedByName) {
    keep("hf", {{"token", "t"}});
    const auto refused = start(wanting("one"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
    ASSERT_EQ(refused.error().fields.size(), 1u);
    EXPECT_EQ(refused.error().fields[0].path, "secretFiles[1].key");
    EXPECT_EQ(refused.error().fields[0].message, "secret hf has no key other");
    auto other = wanting("one");
    other.tenant_id = "globex";
    const auto foreign = start(other);
    ASSERT_FALSE(foreign);
    EXPECT_EQ(foreign.error().fields.size(), 3u) << "another tenant's secret does not exist";
    EXPECT_THAT(foreign.error().fields[0].message, HasSubstr("there is no secret hf"));
}

TEST_F(Secrets, OneInUseStaysWithItsKeys) {
    const std::string s = keep("hf", {{"token", "t"}, {"other", "o"}});
    ASSERT_TRUE(start(wanting("one")));
    const std::string id = find_instance(desk, "acme", "one")->id;
    EXPECT_EQ(users_of(desk, estate.secrets.at(s)), std::vector{id});
    const auto refused = delete_secret(desk, s);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "secret_in_use");
    EXPECT_THAT(refused.error().message, HasSubstr("one"));
    EXPECT_EQ(update_secret(desk, s, {.remove_keys = {{"other"}}}).error().reason, "secret_in_use");
    ASSERT_TRUE(update_secret(desk, s, {.values = {{{"token", "t2"}}}}));
    EXPECT_EQ(estate.secrets.at(s).version, 2u);
    uplink::StartWorkload command;
    ASSERT_TRUE(sent(id, command));
    EXPECT_EQ(command.secrets(0).value(), "t2") << "what it is when it starts";
    answer(id, {.reason = "exited", .message = "test"});
    report(a), report(a);
    ASSERT_TRUE(delete_secret(desk, s));
    const auto again = retry_instance(desk, id);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().reason, "secret_missing");
    EXPECT_THAT(again.error().message, HasSubstr("there is no secret hf"));
    keep("hf", {{"token", "t"}, {"other", "o"}});
    EXPECT_TRUE(retry_instance(desk, id)) << "by name, as it is then";
}

TEST_F(Secrets, AnOlderAgentIsGivenNone) {
    keep("hf", {{"token", "t"}, {"other", "o"}});
    live.hosts[a].takes_secrets = false;
    EXPECT_FALSE(start(wanting("one"))) << "no host takes it";
    EXPECT_TRUE(start(request("two")));
    live.hosts[a].takes_secrets = true;
    ASSERT_TRUE(start(wanting("one")));
    live.hosts[a].takes_secrets = false;
    const std::string id = find_instance(desk, "acme", "one")->id;
    uplink::StartWorkload command;
    EXPECT_FALSE(sent(id, command));
    EXPECT_THAT(explain_instance(desk, instance(id)).would_help.value_or(""), HasSubstr("upgrade the agent"));
}

TEST_F(Secrets, OneThatWasLostOnTheWayIsSentOnceMore) {
    keep("hf", {{"token", "t"}, {"other", "o"}});
    ASSERT_TRUE(start(wanting("one")));
    const std::string id = find_instance(desk, "acme", "one")->id;
    const std::string before = command_of(id)->id;
    answer(id, {.code = "conflict", .reason = "secrets_lost", .message = "test"});
    EXPECT_EQ(instance(id).phase, InstancePhase::placed) << "it has not failed";
    pass(6), reconcile_instance(desk, id);
    ASSERT_TRUE(command_of(id));
    EXPECT_NE(command_of(id)->id, before);
}

TEST_F(Secrets, PullsHaveTheLoginOfTheirTenantAndServer) {
    ASSERT_TRUE(login("ours", "Registry.LAN:5000"));
    EXPECT_EQ(login("again", "registry.lan:5000").error().reason, "registry_secret_exists");
    ASSERT_TRUE(login("theirs", "registry.lan:5000", "globex"));
    ASSERT_TRUE(login("hub", "index.docker.io"));
    EXPECT_EQ(login_of(desk, "acme", "registry.lan:5000/a/b:1")->name, "ours");
    EXPECT_EQ(login_of(desk, "globex", "registry.lan:5000/a/b@sha256:0")->name, "theirs");
    EXPECT_EQ(login_of(desk, "acme", "nginx:1")->name, "hub");
    EXPECT_EQ(login_of(desk, "globex", "nginx:1"), nullptr);
    EXPECT_EQ(login_of(desk, "acme", "registry.lan/a/b:1"), nullptr) << "another port is another server";
    EXPECT_EQ(login_of(desk, "acme", "localhost/hostler/jupyter:1"), nullptr);
    EXPECT_EQ(login_of(desk, "acme", "nginx:1", "lab"), nullptr) << "another project's login";
    auto wanted = request("one");
    wanted.image = "registry.lan:5000/a/b:1";
    ASSERT_TRUE(start(wanted));
    const std::string id = find_instance(desk, "acme", "one")->id;
    uplink::StartWorkload command;
    ASSERT_TRUE(sent(id, command));
    EXPECT_TRUE(command.has_secrets());
    EXPECT_EQ(command.login().server(), "registry.lan:5000");
    EXPECT_EQ(command.login().username(), "puller");
    EXPECT_EQ(command.login().password(), "opensesame");
    answer(id, {.code = "forbidden", .reason = "image_unauthorized", .message = "test"});
    EXPECT_THAT(explain_instance(desk, instance(id)).would_help.value_or(""), HasSubstr("secret edit ours"));
}

TEST_F(Secrets, KindsHaveTheirFields) {
    const auto wrong = [&](api::CreateSecret asked) {
        const auto refused = create_secret(desk, asked, "acme");
        return refused || refused.error().fields.empty() ? std::string{} : refused.error().fields[0].path;
    };
    using enum api::SecretKind;
    EXPECT_EQ(wrong({.name = "a", .server = "r.lan", .values = {{"k", "v"}}}), "server");
    EXPECT_EQ(wrong({.name = "a", .username = "u", .values = {{"k", "v"}}}), "username");
    EXPECT_EQ(wrong({.name = "a", .kind = registry, .username = "u", .values = {{"password", "v"}}}),
              "server");
    EXPECT_EQ(wrong({.name = "a", .kind = registry, .server = "r.lan", .values = {{"password", "v"}}}),
              "username");
    EXPECT_EQ(
        wrong({.name = "a", .kind = registry, .server = "r.lan", .username = "u", .values = {{"k", "v"}}}),
        "values");
    EXPECT_EQ(wrong({.name = "a", .values = {{"k", "v"}, {"k", "w"}}}), "values[1].key");
    EXPECT_EQ(wrong({.name = "a", .values = {{"k", std::string{"a\0b", 3}}}}), "values[0].value");
    EXPECT_EQ(wrong({.name = "a"}), "values");
    EXPECT_TRUE(estate.secrets.all().empty());
}

TEST_F(Secrets, ATenantHasSoManyAndSoMuch) {
    for (std::size_t i = 0; i < secrets_tenant_max; ++i) keep(fmt::format("s-{}", i), {{"k", "v"}});
    const auto more = create_secret(desk, {.name = "more", .values = {{"k", "v"}}}, "acme");
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().code, Code::exhausted);
    EXPECT_THAT(more.error().message, HasSubstr("secrets_tenant_max"));
    EXPECT_TRUE(create_secret(desk, {.name = "more", .values = {{"k", "v"}}}, "globex"));
    const std::string big(65536, 'x');
    std::string refused;
    for (int i = 0; i < 20 && refused.empty(); ++i) {
        const auto made =
            create_secret(desk, {.name = fmt::format("b-{}", i), .values = {{"k", big}}}, "initech");
        if (!made) refused = made.error().message;
    }
    EXPECT_THAT(refused, HasSubstr("secret_bytes_tenant_max"));
    auto wanted = request("one", "initech");
    wanted.secret_envs.emplace();
    for (int i = 0; i < 9; ++i) wanted.secret_envs->push_back({fmt::format("V{}", i), "b-0", "k"});
    const auto heavy = start(wanted);
    ASSERT_FALSE(heavy);
    EXPECT_EQ(heavy.error().reason, "instance_secret_bytes_max");
}

using SecretsApi = testing::ApiRig;

TEST_F(SecretsApi, ValuesComeInAndNeverGoOut) {
    namespace json = boost::json;
    const std::string clear_text = "v3ry-s3cr3t";
    const std::string body = R"({"name":"hf","values":[{"key":"token","value":")" + clear_text + R"("}]})";
    EXPECT_EQ(call("", "POST", "/v1/secrets", body).status, 400) << "whose?";
    const auto made = call("acme", "POST", "/v1/secrets", body, "once");
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(call("acme", "POST", "/v1/secrets", body, "once").status, 201) << "sent again";
    EXPECT_EQ(problem(call("acme", "POST", "/v1/secrets", body)), "secret_exists");
    const std::string id{json::parse(made.body).at("id").as_string()};
    std::string said = made.body;
    for (const char* target : {"/v1/secrets", "/v1/secrets/hf"}) said += call("acme", "GET", target).body;
    EXPECT_THAT(said, HasSubstr(R"("keys":[{"key":"token","bytes":11}])"));
    for (const std::string& name : {std::string{"hf"}, id}) {
        EXPECT_EQ(call("globex", "GET", "/v1/secrets/" + name).status, 404);
        EXPECT_EQ(call("globex", "PATCH", "/v1/secrets/" + name, R"({"removeKeys":["token"]})").status, 404);
        EXPECT_EQ(call("globex", "DELETE", "/v1/secrets/" + name).status, 404);
    }
    EXPECT_EQ(json::parse(call("globex", "GET", "/v1/secrets").body).at("items").as_array().size(), 0u);
    EXPECT_EQ(call("globex", "GET", "/v1/secrets?tenantID=acme").status, 403);
    const auto edited = call("acme", "PATCH", "/v1/secrets/hf",
                             R"({"values":[{"key":"token","value":")" + clear_text + R"(2"}]})");
    ASSERT_EQ(edited.status, 200) << edited.body;
    said += edited.body;
    for (const AuditLine& line : store.lines) said += line.before + line.after + line.subject;
    for (const EventRecord& event : store.log) said += event.message;
    ASSERT_GE(store.lines.size(), 2u);
    EXPECT_THAT(said, Not(HasSubstr(clear_text)));
    EXPECT_THAT(store.objects.at({"secret", id}).body, Not(HasSubstr(clear_text))) << "it lies there sealed";
    ASSERT_EQ(call("acme", "DELETE", "/v1/secrets/hf").status, 200);
    EXPECT_FALSE(store.objects.contains({"secret", id})) << "nothing of it stays";
}

}  // namespace
}  // namespace hostler::master
