#include "roles/master/host/indexes.h"

#include "domain/inventory/admission.h"
#include "domain/volume/volume.h"
#include "roles/master/state/index_keys.h"

namespace hostler::master {

namespace {

bool is_there(const Host& host) { return host.phase != HostPhase::retired; }

Texts gpus_of(const Host& host) {
    Texts gpus;
    if (!is_there(host)) return gpus;
    for (const GpuFacts& gpu : host.facts.gpus) gpus.push_back(gpu.uuid);
    return once_each(std::move(gpus));
}

std::vector<std::int64_t> prove_at(const Host& host) {
    const bool can = is_there(host) && host.facts.measures && host.facts.unmeasurable.empty() &&
                     std::ranges::any_of(host.facts.gpus,
                                         [&](const GpuFacts& gpu) { return can_prove(host.admission, gpu); });
    return one_if(can, host.admission.prove_next);
}

}  // namespace

std::int64_t whole_disk(const Host& host) {
    if (host.phase == HostPhase::retired || !host.facts.volumes_refused.empty()) return 0;
    return std::max(host.facts.volume_bytes, host.facts.disk_bytes - volume_kept_free(host.facts.disk_bytes));
}

Indexes<Host>::Indexes()
    : name([](const Host& row) { return one_if(is_there(row), row.facts.hostname); }),
      gpu(gpus_of),
      zone([](const Host& row) { return one_if(is_there(row), row.zone); }),
      owner([](const Host& row) { return one_if(is_there(row), row.owner); }),
      disk([](const Host& row) {
          const std::int64_t bytes = whole_disk(row);
          return std::vector<std::pair<std::string, std::int64_t>>{{"", bytes}, {row.zone, bytes}};
      }),
      prove_at(master::prove_at),
      work([](const Host& row) {
          return one_if(is_there(row) && measuring_due(row.facts, row.admission), HostWork::measure);
      }),
      made([](const Host& row) {
          return one_if(is_there(row) && row.facts.simulated, HostMade::simulated);
      }) {}

Indexes<HostToken>::Indexes()
    : hash([](const HostToken& row) { return one(row.hash); }),
      expires_at([](const HostToken& row) { return one(row.expires_at); }) {}

}  // namespace hostler::master
