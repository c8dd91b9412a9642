#include "ports/discover.h"

#include "domain/inventory/merge.h"

namespace hostler {

Task<HostFacts> discover_host(std::vector<Telemetry*> sources, HostTelemetry& host) {
    HostFacts facts = CO_TRY(co_await host.facts());
    std::vector<GpuInventory> seen;
    for (Telemetry* source : sources) {
        auto inventory = co_await source->discover();
        if (!inventory && inventory.error().code == Code::cancelled)
            co_return std::unexpected(inventory.error());
        if (inventory) {
            seen.push_back(std::move(*inventory));
        } else {
            facts.problems.push_back(std::string{source->name()} + ": " + inventory.error().message);
        }
    }
    co_return merge_inventories(std::move(facts), seen);
}

}  // namespace hostler
