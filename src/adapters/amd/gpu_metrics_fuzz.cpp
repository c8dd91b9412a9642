#include "adapters/amd/gpu_metrics.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    (void)hostler::amd::parse_gpu_metrics({reinterpret_cast<const char*>(bytes), size});
    return 0;
}
