// Rules of requests that start containers.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <set>
#include <string_view>
#include <type_traits>
#include <vector>

#include "api/types_container.h"

namespace hostler::api {

// Complains at each entry of `list` whose `name` an earlier one has too.
template <class T, class Name>
void refuse_doubles(const std::vector<T>& list, std::string_view path, Name name, Wrong& wrong) {
    std::set<std::decay_t<std::invoke_result_t<Name, const T&>>> seen;
    for (std::size_t i = 0; i < list.size(); ++i)
        if (!seen.insert(std::invoke(name, list[i])).second)
            wrong.push_back({fmt::format(fmt::runtime(path), i), "appears twice"});
}

// Mount paths: `path` is that of the list, "template.volumes".
void check_mounts(const std::vector<VolumeMount>& volumes, std::string_view path, Wrong& wrong);

}  // namespace hostler::api
