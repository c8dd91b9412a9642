#include "bin/cluster_steps.h"

#include "adapters/net/digest.h"
#include "bin/cluster_saves.h"
#include "bin/drivers.h"

namespace hostler::bin {

namespace fs = std::filesystem;

Result<ClusterSteps> cluster_steps(Process& process, const ClusterOptions& options,
                                   agent::Settings& settings) {
    ClusterSteps made;
    settings.drivers = TRY(load_drivers(embedded_drivers(), options.drivers, net::OpenSslDigest{}));
    settings.cluster_saves = TRY(saves_folder(settings.cluster_saves, settings.clusters));
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
