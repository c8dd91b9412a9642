#include "seeds.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

namespace hostler::simulation {

Seeds seeds(std::uint64_t default_count) {
    Seeds range{1, default_count};
    const char* set = std::getenv("HOSTLER_SEEDS");
    if (!set || !*set) return range;
    const std::string_view text{set};
    const auto dots = text.find("..");
    std::from_chars(text.data(), text.data() + std::min(dots, text.size()), range.first);
    range.last = range.first;
    if (dots != std::string_view::npos)
        std::from_chars(text.data() + dots + 2, text.data() + text.size(), range.last);
    return range;
}

std::string replay_command(std::uint64_t seed) { return fmt::format("./dev sim --seed {}", seed); }

}  // namespace hostler::simulation
