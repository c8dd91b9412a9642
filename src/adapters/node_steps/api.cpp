// How this host reaches the API server of the cluster that it is a node of.
#include <fmt/format.h>

#include "adapters/node_steps/perform.h"
#include "core/kernel_files.h"

namespace hostler::node_steps {

namespace {

constexpr std::size_t certificate_bytes_max = 256 << 10;

}  // namespace

Result<NodeApi> api(const StepSettings& settings, const std::string& cluster) {
    const std::string folder = fmt::format("{}/{}/api/", settings.folder, files_folder);
    if (read_text(folder + "cluster") != cluster)
        return fail(Code::not_found, fmt::format("this host has no API server of cluster {}", cluster),
                    "no_cluster_api");
    const auto read = [&](const char* name) -> Result<std::string> {
        auto text = read_text(folder + name, certificate_bytes_max);
        if (!text || text->empty())
            return fail(
                Code::unavailable,
                fmt::format("{}{} cannot be read: the API of the cluster is not reached", folder, name));
        return std::move(*text);
    };
    NodeApi found;
    found.address = TRY(read("address"));
    found.server_name = TRY(read("server-name"));
    found.credentials.authority = TRY(read("ca.crt"));
    found.credentials.certificate = TRY(read("client.crt"));
    found.credentials.key = TRY(read("client.key"));
    return found;
}

}  // namespace hostler::node_steps
