#include "adapters/docker/architecture.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace hostler::docker {

std::string machine_architecture() {
    utsname kernel{};
    ::uname(&kernel);
    const std::string_view machine = kernel.machine;
    if (machine == "x86_64") return "amd64";
    if (machine == "aarch64") return "arm64";
    return std::string{machine};
}

bool runs_programs_of(std::string_view architecture) {
    if (architecture.empty() || architecture == machine_architecture()) return true;
    const std::string_view emulated = architecture == "amd64"   ? "x86_64"
                                      : architecture == "arm64" ? "aarch64"
                                                                : architecture;
    return ::access(fmt::format("/proc/sys/fs/binfmt_misc/qemu-{}", emulated).c_str(), F_OK) == 0;
}

}  // namespace hostler::docker
