#include "bin/cluster_steps.h"

#include <fmt/format.h>

#include "adapters/net/digest.h"
#include "bin/drivers.h"

namespace hostler::bin {

namespace fs = std::filesystem;

namespace {

// Saves hold the keys of clusters.
Result<> check_saves(agent::Settings& settings) {
    if (settings.cluster_saves.empty()) return {};
    const auto refuse = [&](std::string_view why) {
        return fail(Code::invalid, fmt::format("--cluster-saves {}: {}", settings.cluster_saves, why));
    };
    if (!settings.clusters) return refuse("is for an agent with --clusters");
    const fs::path folder{settings.cluster_saves};
    if (!folder.is_absolute()) return refuse("must be an absolute path");
    std::error_code error;
    const fs::file_status found = fs::status(folder, error);
    if (!fs::is_directory(found)) return refuse("is no folder that is there; create or mount it first");
    constexpr auto others = fs::perms::group_all | fs::perms::others_all;
    if ((found.permissions() & others) != fs::perms::none)
        return refuse("others than its owner may use it, and saves hold keys: chmod 700");
    settings.cluster_saves = folder.lexically_normal().string();
    while (settings.cluster_saves.size() > 1 && settings.cluster_saves.ends_with('/'))
        settings.cluster_saves.pop_back();
    return {};
}

}  // namespace

Result<ClusterSteps> cluster_steps(Process& process, const ClusterOptions& options,
                                   agent::Settings& settings) {
    ClusterSteps made;
    settings.drivers = TRY(load_drivers(embedded_drivers(), options.drivers, net::OpenSslDigest{}));
    TRY(check_saves(settings));
    if (!settings.clusters) return made;
    const fs::path folder = fs::absolute(options.data) / "clusters";
    TRY(make_own_folder(folder));
    settings.cluster_files = folder / node_steps::files_folder;
    if (options.simulate) {
        made.life = std::make_shared<char>();
        made.machine = std::make_unique<sim::NodeHost>(sim::Dice{random_number(*process.random)});
        for (const auto& [name, known] : settings.drivers) made.machine->know(known.driver);
        made.simulated = std::make_unique<sim::SimNodeSteps>(*made.machine, *process.timers, made.life);
        return made;
    }
    made.host = std::make_unique<node_steps::HostSteps>(
        process.loop, node_steps::StepSettings{.folder = folder,
                                               .keeper = {"/proc/self/exe", node_steps::keep_command},
                                               .systemd = node_steps::has_systemd()});
    return made;
}

}  // namespace hostler::bin
