// Rules of requests that start containers.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <set>
#include <string_view>
#include <type_traits>
#include <vector>

#include "api/types_container.h"
#include "api/types_placement.h"

namespace hostler::api {

// Complains at each entry of `list` whose `name` an earlier one has too.
template <class T, class Name>
void refuse_doubles(const std::vector<T>& list, std::string_view path, Name name, Wrong& wrong) {
    std::set<std::decay_t<std::invoke_result_t<Name, const T&>>> seen;
    for (std::size_t i = 0; i < list.size(); ++i)
        if (!seen.insert(std::invoke(name, list[i])).second)
            wrong.push_back({fmt::format(fmt::runtime(path), i), "appears twice"});
}

// Variables, secrets and labels of a request that makes one; `envs` is the path of its variables.
template <class Request>
void check_container(const Request& request, const std::vector<Env>& variables, std::string_view envs,
                     Wrong& wrong) {
    refuse_doubles(variables, fmt::format("{}[{{}}].name", envs), &Env::name, wrong);
    if (request.secret_envs)
        refuse_doubles(*request.secret_envs, "secretEnvs[{}].name", &SecretEnv::name, wrong);
    if (request.secret_files)
        refuse_doubles(*request.secret_files, "secretFiles[{}].path", &SecretFile::path, wrong);
    if (!request.labels) return;
    check_labels(*request.labels, "labels.", wrong);
    for (const auto& [name, value] : *request.labels)
        if (value.empty()) wrong.push_back({"labels." + name, "must have a value"});
}

// Mount paths: `path` is that of the list, "template.volumes".
void check_mounts(const std::vector<VolumeMount>& volumes, std::string_view path, Wrong& wrong);

}  // namespace hostler::api
