#include "adapters/kubernetes/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>

#include "adapters/kubernetes/yaml.h"
#include "core/base64.h"
#include "core/testing/file_tree.h"

namespace hostler::kubernetes {
namespace {

using ::testing::HasSubstr;

const std::string certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
const std::string key = "-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n";

// A kubeconfig with one of each; `cluster` and `user` are lines of YAML at their depth.
std::string config(std::string_view cluster, std::string_view user) {
    return fmt::format(R"(apiVersion: v1
kind: Config
preferences: {{}}
current-context: here
contexts:
- name: there
  context: {{cluster: missing, user: missing}}
- name: here
  context:
    cluster: c
    user: u
    namespace: ns
clusters:
- name: c
  cluster:
{}
users:
- name: other
  user: {{token: 3}}
- name: u
  user:
{}
)",
                       cluster, user);
}

constexpr std::string_view server = "    server: https://10.0.0.1:6443";
constexpr std::string_view token = "    token: abc";

Result<Access> read(const std::string& text, std::string_view context = {}) {
    const std::map<std::string, std::string> files{{"/etc/k/ca.crt", certificate},
                                                   {"/etc/k/pki/u.key", key},
                                                   {"/abs/u.crt", certificate},
                                                   {"/etc/k/empty", ""}};
    return read_kubeconfig(text, context, "/etc/k", [&](const std::string& path) -> Result<std::string> {
        const auto found = files.find(path);
        if (found == files.end())
            return fail(Code::not_found, fmt::format("the file {} does not exist", path));
        return found->second;
    });
}

// "path: message" of each wrong field.
std::vector<std::string> complaints(const std::string& text, std::string_view context = {}) {
    const auto access = read(text, context);
    if (access) return {"it is accepted"};
    EXPECT_EQ(access.error().code, Code::invalid);
    std::vector<std::string> all;
    for (const auto& [path, message] : access.error().fields) {
        all.push_back(path + ": " + message);
        EXPECT_THAT(access.error().message, HasSubstr(all.back()));
    }
    return all;
}

TEST(Kubeconfig, ReadsInlineCertificates) {
    const auto access =
        read(config(fmt::format("{}\n    certificate-authority-data: {}\n    tls-server-name: kubernetes",
                                server, base64(certificate)),
                    fmt::format("    client-certificate-data: {}\n    client-key-data: {}",
                                base64(certificate), base64(key))));
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(access->address, "10.0.0.1:6443");
    EXPECT_EQ(access->server_name, "kubernetes");
    EXPECT_TRUE(access->tls);
    EXPECT_EQ(access->authority, certificate);
    EXPECT_EQ(access->certificate, certificate);
    EXPECT_EQ(access->key, key);
    EXPECT_EQ(access->ns, "ns");
    EXPECT_FALSE(access->exec);
}

TEST(Kubeconfig, ReadsFilesRelativeToItself) {
    const auto access = read(
        config(fmt::format("{}\n    certificate-authority: ca.crt", server),
               "    client-certificate: /abs/u.crt\n    client-key: pki/u.key\n    tokenFile: run/token\n"
               "    token: ignored"));
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(access->authority, certificate);
    EXPECT_EQ(access->certificate, certificate);
    EXPECT_EQ(access->key, key);
    EXPECT_EQ(access->token_file, "/etc/k/run/token");
    EXPECT_EQ(access->token, "") << "the file comes before it";
}

TEST(Kubeconfig, ReadsExecAndImpersonation) {
    const auto access = read(config(server, R"(    as: jane
    as-groups: [dev, ops]
    as-user-extra: {scopes: [a, b]}
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./bin/login
      args: [--cluster, "7"]
      env:
      - {name: A, value: b}
      - {name: B, value: ""}
      interactiveMode: IfAvailable
      provideClusterInfo: true
      installHint: install it)"));
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(access->exec->arguments, (std::vector<std::string>{"/etc/k/./bin/login", "--cluster", "7"}));
    EXPECT_EQ(access->exec->environment,
              (std::vector<std::pair<std::string, std::string>>{{"A", "b"}, {"B", ""}}));
    EXPECT_TRUE(access->exec->cluster_info);
    EXPECT_EQ(access->exec->install_hint, "install it");
    EXPECT_EQ(access->impersonate.user, "jane");
    EXPECT_EQ(access->impersonate.groups, (std::vector<std::string>{"dev", "ops"}));
    EXPECT_EQ(access->impersonate.extra.at("scopes"), (std::vector<std::string>{"a", "b"}));
}

TEST(Kubeconfig, ReadsUrlsOfServers) {
    const std::tuple<std::string, std::string, std::string, std::string> good[] = {
        {"https://api.example.com", "api.example.com:443", "api.example.com", ""},
        {"https://[::1]:6443/", "[::1]:6443", "::1", ""},
        {"https://[fd00::1]", "[fd00::1]:443", "fd00::1", ""},
        {"https://rancher.test/k8s/clusters/c-1/", "rancher.test:443", "rancher.test", "/k8s/clusters/c-1"},
        {"http://127.0.0.1:8001", "127.0.0.1:8001", "127.0.0.1", ""}};
    for (const auto& [url, address, name, path] : good) {
        Access access;
        ASSERT_TRUE(read_server_url(url, access)) << url;
        EXPECT_EQ(access.address, address);
        EXPECT_EQ(access.server_name, name);
        EXPECT_EQ(access.path, path);
        EXPECT_EQ(access.tls, url.starts_with("https"));
    }
    for (const auto* url :
         {"", "10.0.0.1:6443", "ftp://x", "https://", "https://:6443", "https://a:0", "https://a:65536",
          "https://a:6x", "https://a:", "https://[::1", "https://[]:1", "https://[x]:1", "https://user@host",
          "http://10.0.0.1:8080", "http://127.evil.test", "https://a b", "https://a/b?c", "https://a/b#c",
          "https://[::1]6443"}) {
        Access access;
        EXPECT_FALSE(read_server_url(url, access)) << url;
    }
}

TEST(Kubeconfig, NamesEachWrongField) {
    using All = std::vector<std::string>;
    const std::string good{server};
    const std::string data = fmt::format("    client-certificate-data: {}", base64(certificate));
    const std::tuple<std::string, std::string, All> rows[] = {
        {"    {}", "    token: a\n", {"clusters[0].cluster.server: is required"}},
        {"    server: 5", "    {}", {"clusters[0].cluster.server: must be a string"}},
        {"    server: ftp://x",
         "    {}",
         {"clusters[0].cluster.server: must be a URL as https://HOST:PORT (it is 'ftp://x')"}},
        {good + "\n    insecure-skip-tls-verify: true",
         "    {}",
         {"clusters[0].cluster.insecure-skip-tls-verify: is not supported: give certificate-authority or "
          "certificate-authority-data"}},
        {good + "\n    insecure-skip-tls-verify: false", "    {}", {"it is accepted"}},
        {good + "\n    proxy-url: http://p", "    {}", {"clusters[0].cluster.proxy-url: is not supported"}},
        {good + "\n    certificate-authority-data: \"***\"",
         "    {}",
         {"clusters[0].cluster.certificate-authority-data: is not base64"}},
        {good + "\n    certificate-authority-data: AAAA",
         "    {}",
         {"clusters[0].cluster.certificate-authority-data: has no certificate in PEM"}},
        {good + "\n    certificate-authority: none.crt",
         "    {}",
         {"clusters[0].cluster.certificate-authority: the file /etc/k/none.crt does not exist"}},
        {good + "\n    certificate-authority: empty",
         "    {}",
         {"clusters[0].cluster.certificate-authority: has no certificate in PEM"}},
        {good, data, {"users[1].user.client-key: is required with client-certificate"}},
        {good,
         "    client-key: pki/u.key",
         {"users[1].user.client-certificate: is required with client-key"}},
        {good,
         data + "\n    client-key: /abs/u.crt",
         {"users[1].user.client-key: has no private key in PEM"}},
        {good, "    token: \"a b\"", {"users[1].user.token: holds a character that a token may not"}},
        {good,
         "    username: a\n    password: b",
         {"users[1].user.username: is not supported: API servers take no passwords",
          "users[1].user.password: is not supported: API servers take no passwords"}},
        {good, "    auth-provider: {name: gcp}", {"users[1].user.auth-provider: is not supported: use exec"}},
        {good, "    as-groups: [a]", {"users[1].user.as: is required with as-groups and as-user-extra"}},
        {good, "    as: a\n    as-groups: a", {"users[1].user.as-groups: must be a list"}},
        {good,
         "    as: a\n    as-user-extra: {x: [1]}",
         {"users[1].user.as-user-extra.x[0]: must be a string"}},
        {good,
         "    exec: {}",
         {"users[1].user.exec.apiVersion: is required", "users[1].user.exec.command: is required"}},
        {good,
         "    exec: true",
         {"users[1].user.exec: must be a map", "users[1].user.exec.apiVersion: is required",
          "users[1].user.exec.command: is required"}},
        {good,
         "    exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}",
         {"users[1].user.exec.apiVersion: must be client.authentication.k8s.io/v1"}},
        {good,
         "    exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Always, args: "
         "x}",
         {"users[1].user.exec.args: must be a list",
          "users[1].user.exec.interactiveMode: must be Never or IfAvailable: there is no terminal"}},
        {good,
         "    exec: {apiVersion: client.authentication.k8s.io/v1, command: x, env: [{value: a}, {name: "
         "B=C}], "
         "provideClusterInfo: 1}",
         {"users[1].user.exec.env[0].name: is required", "users[1].user.exec.env[1].name: must have no '='",
          "users[1].user.exec.provideClusterInfo: must be true or false"}},
        {good,
         "    token: a\n    exec: {apiVersion: client.authentication.k8s.io/v1, command: x}",
         {"users[1].user.exec: excludes token and tokenFile"}},
    };
    for (const auto& [cluster, user, expected] : rows)
        EXPECT_EQ(complaints(config(cluster, user)), expected) << user;
}

TEST(Kubeconfig, NamesWhatIsMissingAroundThem) {
    using All = std::vector<std::string>;
    EXPECT_EQ(complaints(config(server, token), "there"),
              (All{"clusters: must have the cluster 'missing'", "users: must have the user 'missing'"}));
    EXPECT_EQ(complaints(config(server, token), "nowhere"), All{"contexts: must have the context 'nowhere'"});
    EXPECT_EQ(complaints("apiVersion: v1"),
              All{"current-context: is required where no context is asked for"});
    EXPECT_EQ(complaints("apiVersion: v2\nkind: Pod\ncurrent-context: a\ncontexts: [{name: a, context: {}}]"),
              (All{"apiVersion: must be v1", "kind: must be Config",
                   "contexts[0].context.cluster: is required", "contexts[0].context.user: is required"}));
    EXPECT_EQ(complaints("current-context: a\ncontexts: {a: b}"),
              (All{"contexts: must be a list", "contexts: must have the context 'a'"}));
    EXPECT_EQ(complaints("current-context: a\ncontexts: [{name: a}, 3]"),
              (All{"contexts[1]: must be a map", "contexts[0].context: is required",
                   "contexts[0].context.cluster: is required", "contexts[0].context.user: is required"}));
    const auto twice = complaints(config(server, std::string{token} + "\n- name: u\n  user: {}"));
    EXPECT_EQ(twice, All{"users[2].name: 'u' stands twice"});
}

TEST(Kubeconfig, RefusesWhatIsNoYaml) {
    for (const auto* text : {"", "a: [", "a: &x [*x]", "[1]", "{a: 1, a: 2}", "? [a]\n: b", "plain"}) {
        const auto access = read(text);
        ASSERT_FALSE(access) << text;
        EXPECT_EQ(access.error().code, Code::invalid) << text;
    }
    std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n";
    for (char name = 'b'; name < 'k'; ++name)
        bomb += fmt::format("{0}: &{0} [*{1},*{1},*{1},*{1},*{1},*{1},*{1},*{1},*{1},*{1}]\n", name,
                            static_cast<char>(name - 1));
    EXPECT_THAT(read(bomb).error().message, HasSubstr("too many values"));
    EXPECT_THAT(read(std::string(yaml_bytes_max + 1, ' ')).error().message, HasSubstr("larger than"));
    EXPECT_FALSE(read(std::string(100'000, '[')));
}

TEST(Kubeconfig, NoSecretIsInAMessage) {
    const auto access = read(config(fmt::format("{}\n    proxy-url: p", server),
                                    "    token: \"s3cret value\"\n    password: s3cret"));
    ASSERT_FALSE(access);
    EXPECT_THAT(access.error().message, ::testing::Not(HasSubstr("s3cret")));
}

TEST(Kubeconfig, IsLoadedFromAFile) {
    testing::FileTree files;
    files.write("k/config", config(fmt::format("{}\n    certificate-authority: ca.crt", server), token));
    files.write("k/ca.crt", certificate);
    const auto access = load_kubeconfig(files.path("k/config"));
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(access->authority, certificate);
    EXPECT_EQ(access->token, "abc");
    const auto missing = load_kubeconfig(files.path("none"));
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Code::not_found);
    files.remove("k/ca.crt");
    EXPECT_THAT(load_kubeconfig(files.path("k/config")).error().message,
                HasSubstr("clusters[0].cluster.certificate-authority: the file "));
}

}  // namespace
}  // namespace hostler::kubernetes
