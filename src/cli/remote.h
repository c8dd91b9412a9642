// Commands that go into an instance: ssh, exec, port-forward, proxy and cp.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/session.h"

namespace hostler::cli {

struct RemoteCommands {
    CLI::App* ssh = nullptr;
    CLI::App* exec = nullptr;
    CLI::App* forward = nullptr;
    CLI::App* proxy = nullptr;
    CLI::App* copy = nullptr;
    std::string name;                    // Of the instance.
    std::string tenant;                  // --tenant
    std::vector<std::string> words;      // Behind "--": the command.
    std::vector<std::string> ports;      // Of port-forward.
    std::vector<std::string> paths;      // Of cp.
    std::vector<std::string> variables;  // --env
    std::string user;
    std::string folder;
    std::string port;  // Of proxy.
    bool terminal = false;
    bool input = false;

    void add(CLI::App& app);
    bool chosen() const;
    // Cuts off what stands behind "--", when it is one of these.
    void take_words(std::vector<std::string>& args);
    // Errors: invalid, for ssh and exec: the command, which begins with `extra`, stands without a "--".
    Result<> refuse_words(const std::vector<std::string>& typed, const std::string& extra) const;
};

// Answers what the remote command ended with. Errors: as the API, the gateway and the host tell them.
Task<int> run_remote(CliWorld& world, ApiClient& client, const Connection& connection,
                     const RemoteCommands& commands);

Task<int> run_command(CliWorld& world, const Way& way, const RemoteCommands& commands);
Result<> check_ports(const std::vector<std::string>& ports);  // [LOCAL:]REMOTE
Task<int> forward_ports(CliWorld& world, const Way& way, std::vector<std::string> ports);
Task<int> proxy_port(CliWorld& world, const Way& way, std::string port);
// One of the two is "NAME:PATH".
Task<int> copy_files(CliWorld& world, ApiClient& client, const Connection& connection, std::string tenant,
                     std::string from, std::string to);

// Carries bytes between a stream and a session until both have ended.
Task<> join_stream(CliWorld& world, Session& session, Stream& stream);

}  // namespace hostler::cli
