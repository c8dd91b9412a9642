// How to reach one API server, and as whom.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hostler::kubernetes {

// A program that prints a credential (client.authentication.k8s.io).
struct ExecPlugin {
    std::string api_version;
    std::vector<std::string> arguments;  // The program first: an absolute path, or a name of PATH.
    std::vector<std::pair<std::string, std::string>> environment{};  // Beside ours.
    bool cluster_info = false;  // It is told the server's URL, name and authority.
    std::string install_hint{};
};

// Who the server takes the caller for, in place of who it is. Needs RBAC's verb `impersonate`.
struct Impersonation {
    std::string user{};
    std::vector<std::string> groups{};
    std::map<std::string, std::vector<std::string>> extra{};
    bool empty() const { return user.empty() && groups.empty() && extra.empty(); }
};

struct Access {
    std::string address;        // "10.0.0.1:6443", "[::1]:6443".
    std::string path{};         // Before the paths of the API: "/k8s/clusters/c-1"; empty as a rule.
    bool tls = true;            // False: http, only for servers on this machine.
    std::string server_name{};  // For which the server's certificate must be: a name or IP address.
    std::string authority{};    // PEM. Empty: this machine's roots.

    // The caller's credentials: a certificate and one of the others may be given together.
    std::string certificate{};  // PEM, with its chain.
    std::string key{};          // PEM.
    std::string token{};        // Bearer.
    std::string token_file{};   // In place of `token`; it is read again when it has changed.
    std::optional<ExecPlugin> exec{};
    Impersonation impersonate{};

    std::string ns{};  // Of the context; empty: none is given.
};

}  // namespace hostler::kubernetes
