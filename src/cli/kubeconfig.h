// `hostler cluster kubeconfig`: how kubectl and other clients reach a cluster, and the credential that they
// ask for.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/client.h"

namespace hostler::cli {

struct KubeconfigCommand {
    CLI::App* app = nullptr;
    std::string cluster, tenant, project, out;
    bool credential = false;

    void add(CLI::App& noun);
    bool chosen() const { return app && app->parsed(); }
};

// A kubeconfig whose user is this program, asked again for a token each time that one has expired. With
// `credential` that answer itself (client.authentication.k8s.io/v1); it is kept for the next call, readable
// by its owner alone. Errors: the API's; conflict (gateway_without_tls: clients show no credential there);
// invalid (a file cannot be read or written).
Task<> run_kubeconfig(CliWorld& world, ApiClient& client, const Connection& connection,
                      const KubeconfigCommand& command);

}  // namespace hostler::cli
