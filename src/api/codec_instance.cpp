#include <ranges>

#include "api/codec_define.h"
#include "api/container_rules.h"
#include "api/operation_list.h"
#include "api/operations_instance.h"

namespace hostler::api {
namespace {

std::string check_owner_filter(std::string_view text) {
    const auto slash = text.find('/');
    const bool ok = forms::label.check(text.substr(0, slash)).empty() &&
                    (slash == text.npos || forms::id.check(text.substr(slash + 1)).empty());
    return ok ? "" : "must be KIND/ID or KIND, as job/j-7k2m9x or job";
}

// "/data//models/" and "/data/models" are one place.
std::string place_of(std::string_view path) {
    std::string place;
    for (const auto part : std::views::split(path, '/'))
        if (const std::string_view name{part}; !name.empty() && name != ".") place.append("/").append(name);
    return place;
}

}  // namespace

namespace forms {
constinit const Form owner_filter{"owner-filter",
                                  "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(/[A-Za-z0-9][A-Za-z0-9._-]{0,127})?$",
                                  &check_owner_filter};
}  // namespace forms

void check_mounts(const std::vector<VolumeMount>& volumes, std::string_view path, Wrong& wrong) {
    constexpr std::string_view kernels[] = {"/proc", "/sys", "/dev"};
    std::set<std::string> places;
    for (std::size_t i = 0; i < volumes.size(); ++i) {
        const std::string place = place_of(volumes[i].mount_path);
        const auto complain = [&](std::string what) {
            wrong.push_back({fmt::format("{}[{}].mountPath", path, i), std::move(what)});
        };
        if (place.empty()) complain("must not be the root of the container");
        if (!places.insert(place).second) complain("appears twice");
        for (const std::string_view top : kernels)
            if (place == top || place.starts_with(fmt::format("{}/", top)))
                complain(fmt::format("must not lie in {}, where the container finds the kernel's own", top));
    }
}

void Rules<CreateInstance>::check(const CreateInstance& request, Wrong& wrong) {
    const Template& t = request.template_;
    if (request.image.empty() && request.template_name.empty())
        wrong.push_back({"image", "is required, unless templateName names a template"});
    if (!request.parameters.empty() && request.template_name.empty())
        wrong.push_back({"parameters", "are answers to a template, and templateName names none"});
    if (request.placement) {
        check_placement(*request.placement, "placement.", wrong);
        if (request.zone && !request.placement->zones.empty())
            wrong.push_back({"placement.zones", "only one of zone and placement.zones"});
    }
    refuse_doubles(t.ports, "template.ports[{}].port", &Port::port, wrong);
    check_container(request, t.envs, "template.envs", wrong);
    check_mounts(t.volumes, "template.volumes", wrong);
    for (std::size_t i = 0; i < t.volumes.size(); ++i)
        if (t.volumes[i].name.empty() && request.storage_id.empty())
            wrong.push_back({fmt::format("template.volumes[{}].name", i),
                             "is required, because storageID names no volume to stand for it"});
}

void Rules<UpdateInstance>::check(const UpdateInstance& request, Wrong& wrong) {
    if (request.ports) refuse_doubles(*request.ports, "ports[{}].port", &Port::port, wrong);
    if (request.envs) refuse_doubles(*request.envs, "envs[{}].name", &Env::name, wrong);
    if (request.labels) check_label_changes(*request.labels, "labels.", wrong);
}

}  // namespace hostler::api

HOSTLER_JSON(hostler::api::CreateInstance)
HOSTLER_JSON(hostler::api::InstancePlan)
HOSTLER_JSON(hostler::api::CreatedInstance)
HOSTLER_JSON(hostler::api::NameInstance)
HOSTLER_JSON(hostler::api::InstanceStateAnswer)
HOSTLER_JSON(hostler::api::InstanceRun)
HOSTLER_JSON(hostler::api::InstanceLayer)
HOSTLER_JSON(hostler::api::InstanceOwner)
HOSTLER_JSON(hostler::api::Instance)
HOSTLER_JSON(hostler::api::GetInstance)
HOSTLER_JSON(hostler::api::StopInstance)
HOSTLER_JSON(hostler::api::KeepAlive)
HOSTLER_JSON(hostler::api::UpdateInstance)
HOSTLER_JSON(hostler::api::ListInstances)
HOSTLER_JSON(hostler::api::GetLogs)
HOSTLER_JSON(hostler::api::Logs)
HOSTLER_JSON(hostler::api::List<hostler::api::Instance>)
HOSTLER_JSON(hostler::api::Template)
HOSTLER_JSON(hostler::api::Port)
HOSTLER_JSON(hostler::api::Env)
HOSTLER_JSON(hostler::api::VolumeMount)
HOSTLER_JSON(hostler::api::SecretEnv)
HOSTLER_JSON(hostler::api::SecretFile)

namespace hostler::api {

ApiArea instance_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &create_instance,
        &delete_instance,
        &get_instance_state,
        &list_instances,
        &get_instance,
        &stop_instance,
        &start_instance,
        &restart_instance,
        &retry_instance,
        &keep_instance_alive,
        &update_instance,
        &get_instance_logs,
        &list_instance_events,
        &explain_instance,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"instance", "GPU instances."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
