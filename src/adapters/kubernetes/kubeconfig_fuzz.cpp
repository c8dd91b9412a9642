// Any bytes as a kubeconfig: the first line names the context.
#include <cstdint>
#include <string_view>

#include "adapters/kubernetes/kubeconfig.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace hostler;
    const std::string_view all{reinterpret_cast<const char*>(data), size};
    const auto end = all.find('\n');
    const auto read = kubernetes::read_kubeconfig(end == all.npos ? all : all.substr(end + 1),
                                                  end == all.npos ? "" : all.substr(0, end), "/folder",
                                                  [](const std::string& path) -> Result<std::string> {
                                                      if (path.size() % 2 == 0)
                                                          return fail(Code::not_found, "no such file");
                                                      return "-----BEGIN CERTIFICATE----- PRIVATE KEY";
                                                  });
    if (read && read->address.empty()) __builtin_trap();
    if (!read && read.error().code != Code::invalid) __builtin_trap();
    return 0;
}
