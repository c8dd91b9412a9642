#include <sys/random.h>

#include <cerrno>

#include "adapters/net/net.h"
#include "core/result.h"

namespace hostler::net {

namespace {

class SystemRandom final : public Random {
public:
    void fill(std::span<std::uint8_t> into) override {
        while (!into.empty()) {
            const ssize_t taken = ::getrandom(into.data(), into.size(), 0);
            HOSTLER_ASSERT(taken > 0 || errno == EINTR);
            if (taken > 0) into = into.subspan(static_cast<std::size_t>(taken));
        }
    }
};

}  // namespace

std::unique_ptr<Random> make_random() { return std::make_unique<SystemRandom>(); }

}  // namespace hostler::net
