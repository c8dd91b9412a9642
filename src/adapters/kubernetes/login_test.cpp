#include "adapters/kubernetes/login.h"

#include <sys/stat.h>

#include <fstream>

#include "adapters/kubernetes/testing/rig.h"
#include "core/testing/file_tree.h"

namespace hostler::kubernetes {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::ModelServer;

struct KubernetesLogin : testing::Rig {
    // A plugin that is this shell script; each run adds a line to the file "runs".
    void plugin(std::string_view script) {
        files.write("plugin", fmt::format("#!/bin/sh\necho run >> {}\n{}\n", files.path("runs"), script));
        ::chmod(files.path("plugin").c_str(), 0755);
        access.token.clear();
        access.exec = ExecPlugin{.api_version = "client.authentication.k8s.io/v1",
                                 .arguments = {files.path("plugin"), "an argument"},
                                 .environment = {{"FROM", "config"}},
                                 .install_hint = "apt install it"};
    }
    static std::string credential(std::string_view status) {
        return fmt::format(
            R"(echo '{{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{}}}')",
            status);
    }
    int runs() {
        std::ifstream in{files.path("runs")};
        return static_cast<int>(std::count(std::istreambuf_iterator{in}, {}, '\n'));
    }
    Logins logins(LoginSettings with = {}) { return {timers, worker, access, with}; }
    Error refusal(std::string_view script, Duration within = 60s) {
        plugin(script);
        Logins one = logins({.plugin_time = within});
        const auto login = run(one.current());
        return login ? Error{} : login.error();
    }

    hostler::testing::FileTree files;
};

TEST_F(KubernetesLogin, ATokenFileIsReadAgainWhenItChanges) {
    files.write("token", "first\n");
    access.token.clear();
    access.token_file = files.path("token");
    server.put("a", "x");
    Client c = client();
    const auto token = [&] {
        EXPECT_TRUE(run(c.list(kinds::config_map, {.ns = "ns"})));
        return std::string{server.seen.back().request.headers.find("Authorization").value_or("")};
    };
    EXPECT_EQ(token(), "Bearer first");
    files.write("token", "second");
    EXPECT_EQ(token(), "Bearer second");
    files.write("new", "third!");
    std::filesystem::rename(files.path("new"), files.path("token"));
    EXPECT_EQ(token(), "Bearer third!");
    files.remove("token");
    const auto missing = run(c.list(kinds::config_map, {.ns = "ns"}));
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Code::not_found);
    EXPECT_THAT(missing.error().message, HasSubstr("the token: the file "));
    for (const auto* wrong : {"", "\n", "a b", "a\nb"}) {
        files.write("token", wrong);
        const auto refused = run(c.list(kinds::config_map, {.ns = "ns"}));
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Code::invalid);
    }
}

TEST_F(KubernetesLogin, APluginRunsOnceUntilItsCredentialExpires) {
    plugin(credential(R"({"token":"t","expirationTimestamp":"2026-01-01T01:00:00Z"})"));
    Logins one = logins();
    const auto first = run(one.current());
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(first->token, "t");
    timers.advance(59min);
    EXPECT_TRUE(run(one.current()));
    EXPECT_EQ(runs(), 1);
    timers.advance(55s);  // Ten seconds before it expires.
    const auto second = run(one.current());
    ASSERT_TRUE(second);
    EXPECT_EQ(runs(), 2);
    EXPECT_NE(second->number, first->number);
    EXPECT_EQ(second->own, first->own) << "connections are kept";

    plugin(credential(R"({"token":"t"})"));
    Logins lasting = logins();
    EXPECT_TRUE(run(lasting.current()));
    timers.advance(10000h);
    EXPECT_TRUE(run(lasting.current()));
    EXPECT_EQ(runs(), 3);
}

TEST_F(KubernetesLogin, APluginRunsAgainAfterA401) {
    plugin("n=$(wc -l < " + files.path("runs") + ")\n" + credential(R"({"token":"'t$n'"})"));
    server.put("a", "x");
    std::string good = "Bearer t1";
    server.other = [&](const ModelServer::Seen& seen) -> std::optional<http::Response> {
        if (seen.request.headers.find("Authorization") == good) return std::nullopt;
        return ModelServer::status(401, "Unauthorized");
    };
    Client c = client();
    EXPECT_TRUE(run(c.list(kinds::config_map, {.ns = "ns"})));
    EXPECT_EQ(runs(), 1);
    good = "Bearer t2";
    EXPECT_TRUE(run(c.list(kinds::config_map, {.ns = "ns"})));
    EXPECT_EQ(runs(), 2);
    EXPECT_EQ(server.seen.size(), 3U);
    good = "nothing";
    const auto refused = run(c.list(kinds::config_map, {.ns = "ns"}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::unauthenticated);
    EXPECT_EQ(server.seen.size(), 5U) << "one more try";
    EXPECT_EQ(runs(), 3);

    access = {.address = "api.test:6443", .server_name = "api.test", .token = "secret"};
    Client plain = client();
    EXPECT_FALSE(run(plain.list(kinds::config_map, {.ns = "ns"})));
    EXPECT_EQ(server.seen.size(), 6U) << "a token of the kubeconfig is what it is";
}

TEST_F(KubernetesLogin, APluginRunsOnceForAllWhoWait) {
    plugin(credential(R"({"token":"t"})"));
    worker.hold = true;
    Logins one = logins();
    std::vector<Result<Login>> got;
    const auto ask = [](Logins& of, std::vector<Result<Login>>& into) -> Task<> {
        into.push_back(co_await of.current());
        co_return Result<>{};
    };
    auto first = std::make_unique<TaskGroup>(loop);
    first->start("first", ask(one, got));
    timers.settle();
    for (int i = 0; i < 3; ++i) tasks.start("ask", ask(one, got));
    timers.settle();
    EXPECT_EQ(worker.jobs, 1);
    first->cancel();  // Whoever ran it has gone: another one does.
    timers.settle();
    EXPECT_EQ(worker.jobs, 2);
    for (auto& done : std::exchange(worker.held, {})) done();
    timers.settle();
    ASSERT_EQ(got.size(), 4U);
    EXPECT_EQ(got[0].error().code, Code::cancelled);
    for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(got[i].value().token, "t");
    EXPECT_EQ(worker.jobs, 2);
}

TEST_F(KubernetesLogin, AFailureIsThatOfAllWhoWait) {
    plugin("exit 3");
    worker.hold = true;
    Logins one = logins();
    std::vector<Result<Login>> got;
    for (int i = 0; i < 3; ++i)
        tasks.start("ask", [](Logins& of, std::vector<Result<Login>>& into) -> Task<> {
            into.push_back(co_await of.current());
            co_return Result<>{};
        }(one, got));
    timers.settle();
    for (auto& done : std::exchange(worker.held, {})) done();
    timers.settle();
    ASSERT_EQ(got.size(), 3U);
    for (const auto& login : got) EXPECT_EQ(login.error().reason, "plugin_failed");
    EXPECT_EQ(worker.jobs, 1);
}

TEST_F(KubernetesLogin, APluginKnowsWhatItNeeds) {
    access.authority = "PEM";
    plugin("printf '%s\\n' \"$1\" \"$FROM\" \"$KUBERNETES_EXEC_INFO\" > " + files.path("told") + "; cat >> " +
           files.path("told") + "\n" + credential(R"({"token":"t"})"));
    access.exec->cluster_info = true;
    Logins one = logins();
    ASSERT_TRUE(run(one.current()));
    std::ifstream in{files.path("told")};
    std::string argument, variable, info, more;
    std::getline(in, argument);
    std::getline(in, variable);
    std::getline(in, info);
    EXPECT_FALSE(std::getline(in, more)) << "its input is empty";
    EXPECT_EQ(argument, "an argument");
    EXPECT_EQ(variable, "config");
    EXPECT_EQ(parse_object(info).value(),
              parse_object(R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",
        "spec":{"interactive":false,"cluster":{"server":"https://api.test:6443","tls-server-name":"api.test",
        "certificate-authority-data":"UEVN"}}})")
                  .value());
}

TEST_F(KubernetesLogin, APluginMayGiveACertificate) {
    access.authority = "AUTHORITY";
    plugin(credential(R"({"clientCertificateData":"CERT","clientKeyData":"KEY"})"));
    Logins one = logins();
    const auto login = run(one.current());
    ASSERT_TRUE(login) << login.error().message;
    EXPECT_EQ(login->token, "");
    EXPECT_EQ(login->own->certificate, "CERT");
    EXPECT_EQ(login->own->key, "KEY");
    EXPECT_EQ(login->own->authority, "AUTHORITY");
}

TEST_F(KubernetesLogin, SaysHowAPluginFails) {
    auto error = refusal("echo 'sign in first' >&2; echo more >&2; exit 7");
    EXPECT_EQ(error.code, Code::unauthenticated);
    EXPECT_THAT(error.message, HasSubstr("plugin' ended with 7: sign in first"));
    EXPECT_THAT(error.message, ::testing::Not(HasSubstr("more")));
    EXPECT_THAT(refusal("exit 1").message, HasSubstr("it says nothing on its standard error"));

    const auto begun = std::chrono::steady_clock::now();
    error = refusal("sleep 600 & sleep 600", 300ms);
    EXPECT_EQ(error.code, Code::timeout);
    EXPECT_THAT(error.message, HasSubstr("did not end within 300 ms"));
    EXPECT_EQ(refusal("exec > /dev/null 2> /dev/null; sleep 600", 300ms).code, Code::timeout);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 60s) << "it is killed with all that it started";

    error = refusal("head -c 2000000 /dev/zero");
    EXPECT_EQ(error.code, Code::invalid);
    EXPECT_THAT(error.message, HasSubstr("printed more than"));

    plugin("");
    access.exec->arguments[0] = files.path("none");
    Logins one = logins();
    const auto missing = run(one.current());
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Code::not_found);
    EXPECT_EQ(missing.error().help, "apt install it");
}

TEST_F(KubernetesLogin, SaysWhatIsWrongWithAnAnswer) {
    const auto wrong = [&](std::string_view output) {
        const auto read = read_credential(output, "client.authentication.k8s.io/v1");
        EXPECT_EQ(read ? Code::internal : read.error().code, Code::invalid) << output;
        return read ? "" : read.error().message;
    };
    const auto with = [](std::string_view status) {
        return fmt::format(
            R"({{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{}}})",
            status);
    };
    EXPECT_THAT(wrong("hello"), HasSubstr("it is not JSON"));
    EXPECT_THAT(wrong("[]"), HasSubstr("not a JSON object"));
    EXPECT_THAT(wrong("{}"), HasSubstr("kind must be ExecCredential"));
    EXPECT_THAT(wrong(R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"})"),
                HasSubstr("apiVersion must be client.authentication.k8s.io/v1, as the kubeconfig says"));
    EXPECT_THAT(wrong(with("{}")), HasSubstr("status must have a token"));
    EXPECT_THAT(wrong(with(R"({"token":"a\nb"})")), HasSubstr("status.token holds"));
    EXPECT_THAT(wrong(with(R"({"clientCertificateData":"x"})")),
                HasSubstr("status.clientKeyData is required"));
    EXPECT_THAT(wrong(with(R"({"token":"a","expirationTimestamp":"soon"})")),
                HasSubstr("status.expirationTimestamp must be a time"));
}

}  // namespace
}  // namespace hostler::kubernetes
