#include "adapters/kubernetes/kinds.h"

#include <fmt/format.h>

#include "core/percent.h"

namespace hostler::kubernetes {

std::string api_version(const Kind& kind) {
    return kind.group.empty() ? std::string{kind.version} : fmt::format("{}/{}", kind.group, kind.version);
}

const Kind* find_kind(std::string_view version, std::string_view name) {
    for (const Kind& kind : kinds::all)
        if (kind.name == name && api_version(kind) == version) return &kind;
    return nullptr;
}

std::string collection_path(const Kind& kind, std::string_view ns) {
    const std::string root = fmt::format("/{}/{}", kind.group.empty() ? "api" : "apis", api_version(kind));
    return kind.namespaced && !ns.empty()
               ? fmt::format("{}/namespaces/{}/{}", root, percent_encode(ns), kind.plural)
               : fmt::format("{}/{}", root, kind.plural);
}

std::string object_path(const Kind& kind, const ObjectKey& key, std::string_view subresource) {
    return fmt::format("{}/{}{}{}", collection_path(kind, key.ns), percent_encode(key.name),
                       subresource.empty() ? "" : "/", subresource);
}

}  // namespace hostler::kubernetes
