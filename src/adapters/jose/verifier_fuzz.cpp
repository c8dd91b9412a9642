// Any bytes as a token, and as a set of keys.
#include <cstdint>
#include <string_view>

#include "adapters/jose/verifier.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view all{reinterpret_cast<const char*>(data), size};
    const auto end = all.find('\n');
    const hostler::jose::JoseVerifier verifier;
    (void)verifier.verify(all.substr(0, end), end == all.npos ? "" : all.substr(end + 1));
    return 0;
}
