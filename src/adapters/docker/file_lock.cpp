#include "adapters/docker/file_lock.h"

#include <sys/file.h>

#include <cerrno>
#include <thread>

namespace hostler::docker {

bool lock_within(int file, std::chrono::milliseconds within) {
    constexpr std::chrono::milliseconds pause{5};
    const auto end = std::chrono::steady_clock::now() + within;
    while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return false;
        if (std::chrono::steady_clock::now() >= end) {
            errno = EWOULDBLOCK;
            return false;
        }
        std::this_thread::sleep_for(pause);
    }
    return true;
}

}  // namespace hostler::docker
