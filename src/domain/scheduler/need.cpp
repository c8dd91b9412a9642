#include "domain/scheduler/need.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <tuple>

#include "core/result.h"
#include "domain/scheduler/place.h"

namespace hostler {

namespace {

bool among(const std::vector<std::string>& wanted, const std::string& name) {
    return wanted.empty() || std::ranges::find(wanted, name) != wanted.end();
}

bool labelled(const Terms& terms, const Traits& traits) {
    return std::ranges::all_of(terms.labels, [&](const auto& label) {
        const auto found = traits.labels.find(label.first);
        return found != traits.labels.end() && found->second == label.second;
    });
}

bool met(Obstacle obstacle, const Terms& terms, const Traits& traits) {
    switch (obstacle) {
        case Obstacle::host: return among(terms.hosts, traits.name);
        case Obstacle::zone: return among(terms.zones, traits.zone);
        case Obstacle::rack: return among(terms.racks, traits.rack);
        case Obstacle::distance:
            return !terms.near ||
                   (traits.spot && distance_km(*traits.spot, terms.near->spot) <= terms.near->km);
        case Obstacle::vendor: return !terms.vendor || *terms.vendor == traits.vendor;
        case Obstacle::model: return terms.model.empty() || model_matches(terms.model, traits.model);
        case Obstacle::gpu_class: return terms.gpu_class.empty() || terms.gpu_class == traits.gpu_class;
        case Obstacle::gpu_memory: return terms.gpu_memory_bytes <= traits.gpu_memory_bytes;
        case Obstacle::tier: return terms.tier == GpuTier::unrated || traits.tier <= terms.tier;
        case Obstacle::isolation: return !terms.isolation || traits.offers(*terms.isolation);
        case Obstacle::programs: return !terms.programs || traits.programs;
        case Obstacle::trust: return terms.trust <= traits.trust;
        case Obstacle::price:
            return !terms.price_micros ||
                   (traits.price_micros && *traits.price_micros <= *terms.price_micros);
        case Obstacle::label: return labelled(terms, traits);
        case Obstacle::mig_profile:
        case Obstacle::volume:
        case Obstacle::cordoned:
        case Obstacle::draining:
        case Obstacle::cluster:
        case Obstacle::unreachable:
        case Obstacle::faulty:
        case Obstacle::refused:
        case Obstacle::addresses:
        case Obstacle::lease:
        case Obstacle::apart:
        case Obstacle::gpus:
        case Obstacle::share:
        case Obstacle::slice:
        case Obstacle::link:
        case Obstacle::cpu:
        case Obstacle::memory:
        case Obstacle::disk:
        case Obstacle::stock:
        case Obstacle::together:
        case Obstacle::tasks: break;
    }
    return true;
}

}  // namespace

std::string_view token_of(Obstacle obstacle) {
    static constexpr auto tokens = std::to_array<std::string_view>(
        {"host",        "zone",      "rack",      "distance", "vendor",  "model",       "gpu_class",
         "gpu_memory",  "tier",      "isolation", "programs", "trust",   "price",       "label",
         "mig_profile", "volume",    "cordoned",  "draining", "cluster", "unreachable", "faulty",
         "refused",     "addresses", "lease",     "apart",    "gpus",    "share",       "slice",
         "link",        "cpu",       "memory",    "disk",     "stock",   "together",    "tasks"});
    static_assert(tokens.size() == static_cast<std::size_t>(Obstacle::tasks) + 1);
    return tokens[static_cast<std::size_t>(obstacle)];
}

// The haversine formula on a sphere of 6371 km.
int distance_km(Spot a, Spot b) {
    const auto radians = [](std::int32_t millionths) { return millionths / 1e6 * std::numbers::pi / 180; };
    const double north = std::sin((radians(b.latitude) - radians(a.latitude)) / 2);
    const double east = std::sin((radians(b.longitude) - radians(a.longitude)) / 2);
    const double part =
        north * north + std::cos(radians(a.latitude)) * std::cos(radians(b.latitude)) * east * east;
    return static_cast<int>(2 * 6371 * std::asin(std::sqrt(std::min(part, 1.0))));
}

Result<Spot> parse_spot(std::string_view text) {
    // Degrees as millionths; nullopt: it is no number, or above `most`.
    const auto millionths = [](std::string_view degrees, int most) -> std::optional<std::int32_t> {
        const bool negative = degrees.starts_with('-');
        if (negative) degrees.remove_prefix(1);
        std::int64_t value = 0;
        int digits = 0, places = -1;
        for (const char c : degrees) {
            if (c == '.' && places < 0 && digits > 0) {
                places = 0;
                continue;
            }
            if (c < '0' || c > '9' || ++digits > 9 || (places >= 0 && ++places > 6)) return std::nullopt;
            value = 10 * value + (c - '0');
        }
        if (digits == 0 || places == 0) return std::nullopt;
        for (int i = std::max(places, 0); i < 6; ++i) value *= 10;
        if (value > most * std::int64_t{1'000'000}) return std::nullopt;
        return static_cast<std::int32_t>(negative ? -value : value);
    };
    const auto comma = text.find(',');
    const auto north = millionths(text.substr(0, comma), 90);
    const auto east = comma == text.npos ? std::nullopt : millionths(text.substr(comma + 1), 180);
    if (!north || !east) return fail(Code::invalid, "must be degrees north and east, as 40.73,-74.17");
    return Spot{*north, *east};
}

std::string to_string(Spot spot) {
    const auto degrees = [](std::int32_t millionths) {
        const std::int32_t size = std::abs(millionths);
        std::string text =
            fmt::format("{}{}.{:06}", millionths < 0 ? "-" : "", size / 1'000'000, size % 1'000'000);
        text.erase(text.find_last_not_of('0') + 1);
        if (text.ends_with('.')) text.pop_back();
        return text;
    };
    return fmt::format("{},{}", degrees(spot.latitude), degrees(spot.longitude));
}

std::vector<Obstacle> unmet(const Terms& terms, const Traits& traits) {
    std::vector<Obstacle> found;
    for (int i = 0; i <= static_cast<int>(Obstacle::label); ++i)
        if (!met(static_cast<Obstacle>(i), terms, traits)) found.push_back(static_cast<Obstacle>(i));
    return found;
}

bool admits(const Terms& terms, const Traits& traits) {
    for (int i = 0; i <= static_cast<int>(Obstacle::label); ++i)
        if (!met(static_cast<Obstacle>(i), terms, traits)) return false;
    return true;
}

std::vector<Area> levels_of(const Gang& gang) {
    std::vector<Area> levels{gang.together};
    if (gang.together == Area::none && gang.wanted_together != Area::none)
        levels.insert(levels.begin(), gang.wanted_together);
    return levels;
}

std::optional<std::vector<Need>> tasks_within(const Gang& gang, Area level, const std::string& name) {
    std::vector<Need> tasks = gang.tasks;
    if (level == Area::none) return tasks;
    for (Need& task : tasks) {
        auto& names = level == Area::host   ? task.terms.hosts
                      : level == Area::rack ? task.terms.racks
                                            : task.terms.zones;
        if (!narrow(names, name)) return std::nullopt;
    }
    return tasks;
}

bool narrow(std::vector<std::string>& names, const std::string& to) {
    if (!among(names, to)) return false;
    names = {to};
    return true;
}

std::vector<std::size_t> largest_first(const std::vector<Need>& tasks) {
    std::vector<std::size_t> order(tasks.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) {
        const Shape& shape = tasks[i].shape;
        return std::tuple(-shape.gpus * shape.gpu_milli, -shape.cpu_milli, -shape.memory_bytes, i);
    });
    return order;
}

}  // namespace hostler
