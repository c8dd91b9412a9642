#include "roles/master/template/templates.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/types_instance.h"
#include "roles/master/scheduler/wishes.h"

namespace hostler::master {

namespace {

Error no_such_template(const std::vector<InstanceTemplate>& known, const std::string& name) {
    std::string names;
    for (const auto& one : known) names += (names.empty() ? "" : ", ") + one.name;
    Error error{Code::invalid, fmt::format("there is no template {}", name), "template_not_found"};
    error.fields = {{"templateName", names.empty() ? "this cloud has no templates"
                                                   : fmt::format("must be one of {}", names)}};
    return error;
}

}  // namespace

const InstanceTemplate* find_template(const std::vector<InstanceTemplate>& known, std::string_view name) {
    const auto found = std::ranges::find(known, name, &InstanceTemplate::name);
    return found == known.end() ? nullptr : &*found;
}

Result<api::CreateInstance> filled_in(const std::vector<InstanceTemplate>& known,
                                      api::CreateInstance request) {
    if (request.template_name.empty()) return request;
    const InstanceTemplate* from = find_template(known, request.template_name);
    if (!from) return std::unexpected(no_such_template(known, request.template_name));
    std::vector<InstanceVariable> answers;
    for (const auto& [name, value] : request.parameters) answers.push_back({name, value});
    const auto environment = TRY(environment_of(*from, answers));
    if (!request.inactivity_timeout_seconds && from->inactivity_s > 0)
        request.inactivity_timeout_seconds = from->inactivity_s;
    if (!request.loss_policy && from->loss_policy == LossPolicy::move)
        request.loss_policy = api::LossPolicy::move;
    if (from->placement)
        request.placement =
            filled_with(request.placement.value_or(api::Placement{}), shown_as(*from->placement));
    api::Template& container = request.template_;
    if (request.image.empty()) request.image = from->image;
    if (container.cmd.empty()) container.cmd = from->command;
    if (container.ports.empty())
        for (const auto& port : from->ports)
            container.ports.push_back({.port = port.port,
                                       .is_public = port.is_public,
                                       .is_probe = port.is_probe,
                                       .base_url = port.base_url});
    const auto secret_envs = request.secret_envs.value_or(std::vector<api::SecretEnv>{});
    for (const auto& [name, value] : environment)
        if (std::ranges::find(container.envs, name, &api::Env::name) == container.envs.end() &&
            std::ranges::find(secret_envs, name, &api::SecretEnv::name) == secret_envs.end())
            container.envs.push_back({name, value});
    if (container.volumes.empty() && !request.storage_id.empty()) {
        if (from->mount_path.empty()) {
            Error error{Code::invalid, fmt::format("template {} mounts no volume on its own", from->name),
                        "validation_failed"};
            error.fields = {{"storageID", "say with template.volumes[].mountPath where it is to be mounted"}};
            return std::unexpected(std::move(error));
        }
        container.volumes.push_back({.name = "", .mount_path = from->mount_path});
    }
    return request;
}

}  // namespace hostler::master
