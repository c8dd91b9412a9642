#include "domain/inventory/merge.h"

#include <algorithm>
#include <boost/mp11/algorithm.hpp>
#include <map>
#include <optional>
#include <type_traits>

namespace hostler {

namespace {

std::optional<unsigned> hex(std::string_view text, std::size_t digits_max) {
    if (text.empty() || text.size() > digits_max) return std::nullopt;
    unsigned value = 0;
    for (const char c : text) {
        const char low = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
        if (low >= '0' && low <= '9') {
            value = value * 16 + static_cast<unsigned>(low - '0');
        } else if (low >= 'a' && low <= 'f') {
            value = value * 16 + static_cast<unsigned>(low - 'a' + 10);
        } else {
            return std::nullopt;
        }
    }
    return value;
}

std::string padded(unsigned value, std::size_t digits) {
    std::string text;
    for (; value != 0; value /= 16) text.insert(text.begin(), "0123456789abcdef"[value % 16]);
    return text.size() < digits ? std::string(digits - text.size(), '0') + text : text;
}

template <class Do>
void for_each_member(Do&& act) {
    boost::mp11::mp_for_each<boost::describe::describe_members<GpuFacts, boost::describe::mod_public>>(
        std::forward<Do>(act));
}

// Takes from `from` what `into` does not know yet.
void complete(GpuFacts& into, const GpuFacts& from) {
    const GpuFacts nothing;
    for_each_member([&](auto member) {
        if (into.*member.pointer == nothing.*member.pointer) into.*member.pointer = from.*member.pointer;
    });
}

bool made_up_uuid(const GpuFacts& gpu) { return gpu.uuid == uuid_of_pci(gpu.pci_address); }

class Merge {
public:
    void add(const GpuInventory& from) {
        for (const GpuFacts& gpu : from.gpus) add(gpu, from.source);
    }

    void add_links(const GpuInventory& from) {
        for (GpuLink link : from.topology) {
            link.a = name_now(link.a);
            link.b = name_now(link.b);
            if (link.b < link.a) std::swap(link.a, link.b);
            if (link.a == link.b || !known(link.a) || !known(link.b)) continue;
            auto [place, fresh] = links_.try_emplace({link.a, link.b}, link);
            if (!fresh && link.kind < place->second.kind) place->second = link;
        }
    }

    void finish(HostFacts& host) {
        host.gpus = std::move(gpus_);
        for (auto& gpu : host.gpus) {
            for (auto& link : gpu.nvlinks) {
                const auto peer = std::ranges::find(host.gpus, link.remote_pci, &GpuFacts::pci_address);
                if (link.remote_uuid.empty() && !link.remote_pci.empty() && peer != host.gpus.end()) {
                    link.remote_uuid = peer->uuid;
                }
            }
        }
        std::ranges::sort(host.gpus, {}, [](const GpuFacts& g) { return std::pair(g.pci_address, g.uuid); });
        host.topology.clear();
        for (auto& [pair, link] : links_) host.topology.push_back(std::move(link));
    }

private:
    void add(const GpuFacts& gpu, const std::string& source) {
        auto same = std::ranges::find_if(gpus_, [&](const GpuFacts& other) {
            return gpu.pci_address.empty() || other.pci_address.empty()
                       ? other.uuid == gpu.uuid
                       : other.pci_address == gpu.pci_address;
        });
        if (same == gpus_.end()) {
            same = gpus_.insert(gpus_.end(), gpu);
            same->sources.clear();
        } else {
            const bool better = made_up_uuid(*same) && !made_up_uuid(gpu);
            if (same->uuid != gpu.uuid)
                renamed_[better ? same->uuid : gpu.uuid] = better ? gpu.uuid : same->uuid;
            if (better) same->uuid = gpu.uuid;
            std::vector<std::string> sources = std::exchange(same->sources, {});
            complete(*same, gpu);
            same->sources = std::move(sources);
        }
        same->sources.push_back(source);
    }

    std::string name_now(const std::string& uuid) const {
        const auto found = renamed_.find(uuid);
        return found == renamed_.end() ? uuid : found->second;
    }

    bool known(const std::string& uuid) const {
        return std::ranges::find(gpus_, uuid, &GpuFacts::uuid) != gpus_.end();
    }

    std::vector<GpuFacts> gpus_;
    std::map<std::string, std::string> renamed_;
    std::map<std::pair<std::string, std::string>, GpuLink> links_;
};

}  // namespace

std::string normal_pci_address(std::string_view text) {
    std::vector<std::string_view> parts;
    std::string_view rest = text;
    for (std::size_t at; (at = rest.find(':')) != std::string_view::npos; rest.remove_prefix(at + 1)) {
        parts.push_back(rest.substr(0, at));
    }
    if (parts.size() != 1 && parts.size() != 2) return {};
    const auto dot = rest.find('.');
    const auto domain = parts.size() == 2 ? hex(parts.front(), 8) : 0;
    const auto bus = hex(parts.back(), 2);
    const auto device = hex(rest.substr(0, dot), 2);
    const auto function = dot == std::string_view::npos ? 0 : hex(rest.substr(dot + 1), 1);
    if (!domain || !bus || !device || *device > 31 || !function || *function > 7) return {};
    return padded(*domain, 4) + ":" + padded(*bus, 2) + ":" + padded(*device, 2) + "." + padded(*function, 1);
}

std::string uuid_of_pci(std::string_view pci_address) { return "pci-" + std::string{pci_address}; }

HostFacts merge_inventories(HostFacts host, const std::vector<GpuInventory>& seen) {
    Merge merge;
    for (const GpuInventory& from : seen) {
        merge.add(from);
        host.simulated = host.simulated || (from.simulated && !from.gpus.empty());
        if (host.driver_version.empty()) host.driver_version = from.driver_version;
        if (host.cuda_version.empty()) host.cuda_version = from.cuda_version;
        for (const auto& problem : from.problems) host.problems.push_back(from.source + ": " + problem);
    }
    for (const GpuInventory& from : seen) merge.add_links(from);
    merge.finish(host);
    return host;
}

std::vector<GpuChange> compare_gpus(const std::vector<GpuFacts>& before, const std::vector<GpuFacts>& after) {
    std::map<std::string, std::pair<const GpuFacts*, const GpuFacts*>> pairs;
    for (const auto& gpu : before) pairs[gpu.uuid].first = &gpu;
    for (const auto& gpu : after) pairs[gpu.uuid].second = &gpu;
    std::vector<GpuChange> changes;
    for (const auto& [uuid, pair] : pairs) {
        const auto [was, is] = pair;
        if (!is) {
            changes.push_back({GpuChangeKind::gone, uuid, {}});
        } else if (!was) {
            changes.push_back({GpuChangeKind::appeared, uuid, {}});
        } else {
            GpuChange change{GpuChangeKind::changed, uuid, {}};
            for_each_member([&](auto member) {
                const std::string_view name = member.name;
                if (name == "pcie_generation" || name == "sources") return;
                if (was->*member.pointer != is->*member.pointer) change.fields.emplace_back(name);
            });
            if (!change.fields.empty()) changes.push_back(std::move(change));
        }
    }
    return changes;
}

}  // namespace hostler
