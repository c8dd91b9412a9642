#include <csignal>
#include <string_view>

#include "adapters/net/stdio.h"
#include "bin/process.h"
#include "bin/roles.h"
#include "cli/cli.h"
#include "core/version.h"

int main(int argc, char** argv) {
    using namespace hostler;
    std::signal(SIGPIPE, SIG_IGN);
    struct Role {
        std::string_view name;
        std::string_view help;
        int (*main)(int, const char* const*);
    };
    static constexpr Role roles[] = {
        {"up", "Run a whole cloud on this machine.", bin::up_main},
        {"master", "Run a master.", bin::master_main},
        {"access", "Run an access point.", bin::access_main},
        {"gateway", "Run a gateway.", bin::gateway_main},
        {"ca", "Make certificates, and carry the keys of the authority.", bin::ca_main},
        {"seal", "Carry the keys that seal secrets in the store.", bin::seal_main},
        {"store", "Copy, check and migrate stores.", bin::store_main},
        {"backup", "Write everything that the store holds into a file.", bin::backup_main},
        {"restore", "Make a new store of a backup.", bin::restore_main},
    };
    // `hostler access list` and `hostler ca show` are of the command line: these words are nouns of the API,
    // too.
    const std::string_view verb = argc < 3 ? "-" : argv[2];
    const auto asks_api = [verb](std::string_view noun) {
        return (noun == "access" && !verb.starts_with('-')) ||
               (noun == "ca" && (verb == "show" || verb == "rotate" || verb == "admit")) ||
               (noun == "seal" && (verb == "keys" || verb == "rotate" || verb == "forget"));
    };
    for (const Role& role : roles)
        if (argc > 1 && argv[1] == role.name && !asks_api(role.name)) return role.main(argc - 1, argv + 1);

    if (bin::is_audit_file(argc, argv)) return bin::audit_verify_main(argc - 2, argv + 2);

    bin::Process process;
    cli::CliWorld world = cli::terminal_world(process.loop, *process.net, *process.timers);
    world.version = version;
    world.stdio = [&process] { return net::stdio_stream(process.loop); };
    // From the first time on that somebody asks; until then they end the program.
    world.next_signal = [&process, watch = std::function<Task<int>()>{}]() mutable {
        if (!watch) watch = net::signals(process.loop, {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH});
        return watch();
    };
    for (const Role& role : roles) world.other_commands.emplace_back(role.name, role.help);
    return cli::run_cli(argc, argv, world);
}
