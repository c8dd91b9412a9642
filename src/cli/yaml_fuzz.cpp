// Whatever a file says: nothing may crash or grow without bound, and what was taken reads back the same.
#include "cli/yaml.h"

#include "api/indent.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
    using namespace hostler;
    const auto parsed = cli::parse_yaml({reinterpret_cast<const char*>(bytes), size});
    if (!parsed) return 0;
    for (const cli::Document& document : *parsed) {
        const auto again = cli::parse_yaml(cli::to_yaml(document.value));
        HOSTLER_ASSERT(again && again->size() == 1);
        HOSTLER_ASSERT(api::compact(again->front().value) == api::compact(document.value));
    }
    return 0;
}
