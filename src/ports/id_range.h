// Which users and groups of a host those inside of a container are.
#pragma once

#include <cstdint>

namespace hostler {

// A container's root is `first_user` of the host, its user 1 the next, and so on; groups alike. All zero:
// there is no user namespace, and root is root.
struct IdRange {
    static constexpr std::uint32_t size = 65536;
    std::uint32_t first_user = 0;
    std::uint32_t first_group = 0;

    bool mapped() const { return first_user != 0; }
    bool operator==(const IdRange&) const = default;
};

}  // namespace hostler
