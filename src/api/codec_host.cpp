#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_host.h"

namespace hostler::api {

void Rules<UpdateHost>::check(const UpdateHost& request, Wrong& wrong) {
    if (request.rack && request.rack->find_first_not_of(' ') == std::string::npos && !request.rack->empty())
        wrong.push_back({"rack", "must not be blank"});
    check_label_changes(request.labels, "labels.", wrong);
}

}  // namespace hostler::api

HOSTLER_JSON(hostler::api::HostMachine)
HOSTLER_JSON(hostler::api::Host)
HOSTLER_JSON(hostler::api::ListHosts)
HOSTLER_JSON(hostler::api::UpdateHost)
HOSTLER_JSON(hostler::api::NameHost)
HOSTLER_JSON(hostler::api::DrainHost)
HOSTLER_JSON(hostler::api::RemoveHost)
HOSTLER_JSON(hostler::api::Gpu)
HOSTLER_JSON(hostler::api::ListGpus)
HOSTLER_JSON(hostler::api::GetGpu)
HOSTLER_JSON(hostler::api::GpuEvidence)
HOSTLER_JSON(hostler::api::GpuExplanation)
HOSTLER_JSON(hostler::api::List<hostler::api::Host>)
HOSTLER_JSON(hostler::api::List<hostler::api::Gpu>)

namespace hostler::api {

ApiArea host_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &list_hosts,
        &get_host,
        &update_host,
        &cordon_host,
        &uncordon_host,
        &drain_host,
        &undrain_host,
        &release_host,
        &measure_host,
        &admit_host,
        &explain_host,
        &remove_host,
        &list_gpus,
        &get_gpu,
        &explain_gpu,
        &return_gpu,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"host", "Machines with GPUs."},
        {"gpu", "GPUs of the hosts."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
