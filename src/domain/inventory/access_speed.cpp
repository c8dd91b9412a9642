#include "domain/inventory/access_speed.h"

#include <algorithm>

namespace hostler {

namespace {

// FNV-1a: the same everywhere, so that every master comes to the same moment.
std::uint64_t mixed(std::uint64_t from, std::string_view text) {
    for (const char c : text) from = (from ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return from;
}

}  // namespace

const AccessSpeed* speed_to(const std::vector<AccessSpeed>& known, const std::string& access) {
    const auto found = std::ranges::find(known, access, &AccessSpeed::access);
    return found == known.end() ? nullptr : &*found;
}

AccessSpeed& speed_row(std::vector<AccessSpeed>& known, const std::string& access) {
    const auto found = std::ranges::find(known, access, &AccessSpeed::access);
    if (found != known.end()) return *found;
    if (known.size() >= access_speeds_max)
        known.erase(std::ranges::min_element(known, {}, &AccessSpeed::measured_at));
    known.push_back({.access = access});
    return known.back();
}

std::int64_t speed_due(const AccessSpeed* known, const std::string& host, std::int64_t every_us) {
    if (!known || known->wanted || known->measured_at == 0) return 0;
    const auto seed = static_cast<std::uint64_t>(known->measured_at) ^ 0xcbf29ce484222325ULL;
    const std::uint64_t place = mixed(mixed(seed, host), known->access) % 1024;
    return known->measured_at + every_us / 4 * 3 + every_us / 2048 * static_cast<std::int64_t>(place);
}

std::uint32_t busy_kbit_s(const AccessSpeed* known) {
    constexpr std::int64_t least = 8'000, most = 1'000'000'000;
    if (!known) return least;
    const std::int64_t all = known->figures.down_kbit_s.value_or(0) + known->figures.up_kbit_s.value_or(0);
    return static_cast<std::uint32_t>(std::clamp(all / 20, least, most));
}

}  // namespace hostler
