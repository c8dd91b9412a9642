#include "domain/scheduler/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace hostler {

namespace {

std::string lower(std::string_view text) {
    std::string result{text};
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> found;
    std::string word;
    for (const char c : lower(text) + " ") {
        if (c == ' ' || c == '-' || c == '_' || c == '/') {
            if (!word.empty()) found.push_back(std::exchange(word, {}));
        } else {
            word += c;
        }
    }
    return found;
}

std::string people(std::int64_t bytes) {
    return fmt::format("{:.4g} GiB", static_cast<double>(bytes) / (1 << 30));
}
std::string cpus(std::int64_t milli) { return fmt::format("{:.4g}", static_cast<double>(milli) / 1000); }

// Of one model: of those asked for the one with the most free, of as many the first by name.
std::vector<const FreeGpu*> matching(const Demand& demand, const Candidate& host) {
    std::vector<const FreeGpu*> found;
    bool several = false;
    const FreeGpu* last = nullptr;  // Mostly all are of one model.
    bool matches = false;
    for (const FreeGpu& gpu : host.gpus) {
        if (!last || gpu.model != last->model) matches = model_matches(demand.gpu_type, gpu.model);
        last = &gpu;
        if (!matches) continue;
        found.push_back(&gpu);
        several = several || gpu.model != found.front()->model;
    }
    if (!several) return found;
    std::map<std::string_view, std::ptrdiff_t> free;
    for (const FreeGpu* gpu : found) ++free[gpu->model];
    const auto most = std::ranges::max_element(free, {}, [](const auto& row) { return row.second; });
    std::erase_if(found, [&](const FreeGpu* gpu) { return gpu->model != most->first; });
    return found;
}

}  // namespace

bool model_matches(std::string_view wanted, std::string_view model) {
    if (wanted.empty()) return true;
    const auto has = words(model);
    return std::ranges::all_of(words(wanted),
                               [&](const std::string& word) { return std::ranges::count(has, word) > 0; });
}

std::optional<Refusal> unfit(const Demand& demand, const Candidate& host) {
    const auto no = [&](std::string token, std::string sentence) {
        return Refusal{host.id, host.name, std::move(token), std::move(sentence)};
    };
    if (!demand.zone.empty() && demand.zone != host.zone)
        return no("zone", fmt::format("is in zone {}", host.zone));
    if (!demand.host.empty() && demand.host != host.id) return no("volume", "does not hold the volume");
    if (!host.unavailable.empty()) return no("unavailable", host.unavailable);
    const auto free = static_cast<int>(matching(demand, host).size());
    if (free < demand.gpu_count)
        return no("gpus", fmt::format("has {} of {} {} free", free, demand.gpu_count,
                                      !demand.gpu_type.empty() ? demand.gpu_type
                                      : demand.gpu_count == 1  ? "GPU"
                                                               : "GPUs"));
    if (host.cpu_milli < demand.cpu_milli)
        return no("cpu", fmt::format("has {} of {} {} free", cpus(host.cpu_milli), cpus(demand.cpu_milli),
                                     demand.cpu_milli == 1000 ? "CPU" : "CPUs"));
    if (host.memory_bytes < demand.memory_bytes)
        return no("memory", fmt::format("has {} of {} memory free", people(host.memory_bytes),
                                        people(demand.memory_bytes)));
    if (host.places < 1) return no("addresses", "has no free address");
    if (demand.volume_bytes > 0 && !host.volumes_refused.empty())
        return no("volumes", fmt::format("keeps no volumes: {}", host.volumes_refused));
    if (host.volume_bytes < demand.volume_bytes)
        return no("disk", fmt::format("has {} of {} disk free for volumes",
                                      people(std::max<std::int64_t>(host.volume_bytes, 0)),
                                      people(demand.volume_bytes)));
    return std::nullopt;
}

bool fits_beside(const Demand& demand, const Candidate& host) {
    if (!demand.zone.empty() && demand.zone != host.zone) return false;
    if (!demand.host.empty() && demand.host != host.id) return false;
    if (host.places < 1 || host.volume_bytes < demand.volume_bytes) return false;
    return demand.volume_bytes == 0 || host.volumes_refused.empty();
}

int how_often(const Demand& demand, const Candidate& host, int gpus) {
    if (!host.unavailable.empty() || !fits_beside(demand, host)) return 0;
    std::int64_t most = host.places;
    const auto bound = [&](std::int64_t free, std::int64_t each) {
        if (free < each) most = 0;
        if (each > 0) most = std::min(most, free / each);
    };
    bound(host.cpu_milli, demand.cpu_milli);
    bound(host.memory_bytes, demand.memory_bytes);
    bound(host.volume_bytes, demand.volume_bytes);
    bound(gpus, demand.gpu_count);
    return static_cast<int>(std::max<std::int64_t>(most, 0));
}

std::vector<std::string> pick_gpus(const Demand& demand, const Candidate& host) {
    auto free = matching(demand, host);
    const auto wanted = static_cast<std::size_t>(demand.gpu_count);
    std::map<int, std::vector<const FreeGpu*>> nodes;
    for (const FreeGpu* gpu : free) nodes[gpu->numa_node].push_back(gpu);
    const std::vector<const FreeGpu*>* best = nullptr;
    for (const auto& [node, gpus] : nodes)
        if (gpus.size() >= wanted && (!best || gpus.size() < best->size())) best = &gpus;
    if (best) free = *best;
    std::vector<std::string> chosen;
    chosen.reserve(wanted);
    for (std::size_t i = 0; i < wanted; ++i) chosen.push_back(free[i]->uuid);
    return chosen;
}

}  // namespace hostler
