#include "through_gateway.h"

#include <filesystem>

#include "parts.h"

namespace hostler::kube {

Environment ThroughGateway::environment() const {
    Environment all = cloud_.environment();
    if (!key_.empty()) all["HOSTLER_KEY"] = key_;
    all["HOME"] = folder_;  // Of the kept credential, and of what kubectl keeps.
    return all;
}

Words ThroughGateway::command(const char* program, Words words) const {
    words.insert(words.begin(), {part(program), "--kubeconfig", file()});
    return words;
}

Ran ThroughGateway::make_kubeconfig(const std::string& cluster) {
    std::filesystem::create_directories(folder_);
    return run({HOSTLER, "cluster", "kubeconfig", cluster, "--tenant-id", "acme", "--out", file()},
               Seconds{60}, {}, environment());
}

Ran ThroughGateway::kubectl(Words words, Seconds within) {
    return run(command("kubectl", std::move(words)), within, {}, environment());
}

Ran ThroughGateway::helm(Words words) {
    return run(command("helm", std::move(words)), Seconds{120}, {}, environment());
}

Result<Child> ThroughGateway::start(Words words, const std::string& log) {
    return Child::start(command("kubectl", std::move(words)), log, environment());
}

}  // namespace hostler::kube
