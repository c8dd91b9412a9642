#include "cli/kubeconfig.h"

#include <fmt/format.h>

#include <filesystem>

#include "api/codec.h"
#include "api/operations_cluster.h"
#include "cli/values.h"
#include "core/base64.h"

namespace hostler::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t ca_file_max = 1 << 20;
constexpr std::chrono::seconds renew_before{60};  // A kept token that expires sooner is replaced.

api::Params which(const KubeconfigCommand& command) {
    api::Params which;
    if (!command.tenant.empty()) which.emplace_back("tenantID", command.tenant);
    if (!command.project.empty()) which.emplace_back("project", command.project);
    return which;
}

Task<api::ClusterCredential> ask(ApiClient& client, const KubeconfigCommand& command) {
    json::object body;
    for (const auto& [name, value] : which(command)) body[name] = value;
    const json::value made = CO_TRY(co_await client.call({.operation = &api::ops::create_cluster_credential,
                                                          .params = {{"cluster", command.cluster}},
                                                          .body = std::move(body)}));
    co_return api::decode_stored<api::ClusterCredential>(json::serialize(made));
}

// Where the token for this cluster is kept; empty: nowhere. One of another API or key is never taken for it.
std::string kept_path(const CliWorld& world, const Connection& connection, const std::string& cluster) {
    std::string folder = world.env("XDG_CACHE_HOME").value_or("");
    if (const std::string home = world.env("HOME").value_or(""); folder.empty() && !home.empty())
        folder = home + "/.cache";
    if (folder.empty() || cluster.find('/') != std::string::npos) return {};
    const auto of = std::hash<std::string>{}(connection.api + '\n' + connection.key);
    return fmt::format("{}/hostler/cluster-{}-{:016x}.json", folder, cluster, of);
}

std::optional<api::ClusterCredential> kept(const CliWorld& world, const std::string& path) {
    const auto text = path.empty() ? std::nullopt : read_file(path, ca_file_max);
    if (!text) return std::nullopt;
    auto found = api::decode_stored<api::ClusterCredential>(*text);
    if (!found || found->expires_at - renew_before <= world.timers.wall()) return std::nullopt;
    return std::move(*found);
}

Task<> print_credential(CliWorld& world, ApiClient& client, const Connection& connection,
                        const KubeconfigCommand& command) {
    const std::string path = kept_path(world, connection, command.cluster);
    auto credential = kept(world, path);
    if (!credential) {
        credential = CO_TRY(co_await ask(client, command));
        // Without it each call asks the API.
        if (!path.empty()) (void)write_private(path, api::encode(*credential));
    }
    world.out(json::serialize(json::object{{"apiVersion", "client.authentication.k8s.io/v1"},
                                           {"kind", "ExecCredential"},
                                           {"status",
                                            {{"token", credential->token},
                                             {"expirationTimestamp", rfc3339(credential->expires_at)}}}}) +
              "\n");
    co_return Result<>{};
}

std::string in_quotes(std::string_view text) { return json::serialize(json::string{text}); }

// This executable; by its name where it cannot be found out.
std::string own_path() {
    std::error_code wrong;
    const fs::path path = fs::read_symlink("/proc/self/exe", wrong);
    return wrong ? "hostler" : path.string();
}

Result<std::string> kubeconfig_of(const Connection& connection, const api::Cluster& cluster,
                                  const api::ClusterCredential& credential) {
    std::string authority;
    std::vector<std::string> words{"--api", connection.api};
    if (!connection.ca.empty()) {
        const auto text = read_file(connection.ca, ca_file_max);
        if (!text) return fail(Code::invalid, fmt::format("{} cannot be read", connection.ca));
        authority = fmt::format("    certificate-authority-data: {}\n", base64(*text));
        std::error_code wrong;
        words.insert(words.end(), {"--ca", fs::absolute(connection.ca, wrong).string()});
    }
    words.insert(words.end(), {"cluster", "kubeconfig", cluster.id, "--credential"});
    std::string args;
    for (const std::string& word : words) args += fmt::format("      - {}\n", in_quotes(word));
    const std::string name = in_quotes(cluster.name);
    return fmt::format(
        "apiVersion: v1\nkind: Config\ncurrent-context: {0}\n"
        "clusters:\n- name: {0}\n  cluster:\n    server: {1}\n{2}"
        "contexts:\n- name: {0}\n  context:\n    cluster: {0}\n    user: {0}\n"
        "users:\n- name: {0}\n  user:\n    exec:\n      apiVersion: client.authentication.k8s.io/v1\n"
        "      interactiveMode: Never\n      command: {3}\n      args:\n{4}",
        name, in_quotes(credential.server), authority, in_quotes(own_path()), args);
}

}  // namespace

void KubeconfigCommand::add(CLI::App& noun) {
    app = noun.add_subcommand("kubeconfig",
                              "Print a kubeconfig with which kubectl reaches a cluster through the gateway.");
    app->add_option("CLUSTER", cluster, "The cluster's id or name.")->required();
    app->add_option("--tenant-id,--tenant", tenant,
                    "Owning tenant; for an operator's key, when two tenants use the same name.")
        ->type_name("TENANT");
    app->add_option("--project", project, "Project of the cluster.")->type_name("PROJECT");
    app->add_option("--out", out, "A file, which is replaced. Default: standard output.")->type_name("FILE");
    app->add_flag("--credential", credential,
                  "Print a token for the cluster instead, as kubectl asks for it (ExecCredential).");
    app->footer(
        "Example:\n  hostler cluster kubeconfig train --out train.yaml\n  kubectl --kubeconfig train.yaml "
        "get nodes");
    app->fallthrough()->allow_extras();
}

Task<> run_kubeconfig(CliWorld& world, ApiClient& client, const Connection& connection,
                      const KubeconfigCommand& command) {
    if (command.credential) co_return co_await print_credential(world, client, connection, command);
    const json::value shown = CO_TRY(co_await client.call({.operation = &api::ops::get_cluster,
                                                           .params = {{"cluster", command.cluster}},
                                                           .query = which(command)}));
    const auto cluster = CO_TRY(api::decode_stored<api::Cluster>(json::serialize(shown)));
    const auto credential = CO_TRY(co_await ask(client, command));
    if (!credential.server.starts_with("https://"))
        co_return fail(
            Code::conflict,
            fmt::format("the gateway at {} has no TLS, and Kubernetes clients show no credential without it; "
                        "its operator sets --tls-certificate",
                        credential.server),
            "gateway_without_tls");
    const std::string text = CO_TRY(kubeconfig_of(connection, cluster, credential));
    if (command.out.empty()) {
        world.out(text);
        co_return Result<>{};
    }
    CO_TRY(write_private(command.out, text));
    world.err(fmt::format("{} leads to cluster {}: kubectl --kubeconfig {} get nodes\n", command.out,
                          cluster.name, command.out));
    co_return Result<>{};
}

}  // namespace hostler::cli
