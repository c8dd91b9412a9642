#include "core/drm_clients.h"

#include <algorithm>
#include <cmath>

namespace hostler {

namespace {

constexpr std::size_t file_max = 16'384;

std::string_view next_line(std::string_view& text) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

// What stands behind `prefix` in `key`; nullopt: something else does.
std::optional<std::string_view> behind(std::string_view key, std::string_view prefix) {
    if (!key.starts_with(prefix)) return std::nullopt;
    return key.substr(prefix.size());
}

// amdgpu and xe: "vram", "vram0"; i915: "local0". The others are the machine's memory.
bool is_of_gpu(std::string_view region) { return region.starts_with("vram") || region.starts_with("local"); }

// "1024 KiB"; without a unit: bytes.
std::int64_t bytes_of(std::string_view value) {
    const std::int64_t number = std::max<std::int64_t>(0, parse_number(value).value_or(0));
    if (value.ends_with("KiB")) return number << 10;
    if (value.ends_with("MiB")) return number << 20;
    return number;
}

// Sums of the regions on the GPU, by the key that told them.
struct Memory {
    std::optional<std::int64_t> resident, of_old, total;
    void add(std::string_view key, std::string_view value) {
        const auto put = [&](std::optional<std::int64_t>& to, std::string_view prefix) {
            const auto region = behind(key, prefix);
            if (region && is_of_gpu(*region)) to = to.value_or(0) + bytes_of(value);
        };
        put(resident, "drm-resident-");
        put(of_old, "drm-memory-");  // What older kernels call it.
        put(total, "drm-total-");
    }
};

void add_engine(DrmClient& client, std::string_view key, std::string_view value) {
    const std::int64_t number = parse_number(value).value_or(0);
    const auto engine = [&](std::string_view name) -> DrmClient::Engine& {
        return client.engines[std::string{name}];
    };
    // The longer names first: each is also the beginning of another.
    if (const auto name = behind(key, "drm-engine-capacity-"))
        engine(*name).capacity = std::max<std::int64_t>(1, number);
    else if (const auto busy = behind(key, "drm-engine-"))
        engine(*busy).busy = number;
    else if (const auto total = behind(key, "drm-total-cycles-"))
        engine(*total).total = number;
    else if (const auto cycles = behind(key, "drm-cycles-"))
        engine(*cycles).busy = number;
}

// The share of the time, 0 … 1, in which the client kept an engine busy. Counters may go back a little.
double share(const DrmClient::Engine& now, const DrmClient::Engine& before, Duration passed) {
    const auto busy = static_cast<double>(std::max<std::int64_t>(0, now.busy - before.busy));
    const auto time = now.total && before.total ? static_cast<double>(*now.total - *before.total)
                                                : static_cast<double>(passed.count());
    if (time <= 0) return 0;
    return std::min(1.0, busy / time / static_cast<double>(now.capacity));
}

}  // namespace

std::optional<DrmClient> parse_drm_client(std::string_view text) {
    DrmClient client;
    Memory memory;
    while (!text.empty()) {
        const auto line = next_line(text);
        const auto colon = line.find(':');
        if (colon == line.npos || !line.starts_with("drm-")) continue;
        const auto key = line.substr(0, colon);
        auto value = line.substr(colon + 1);
        value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
        while (!value.empty() && (value.back() == ' ' || value.back() == '\r')) value.remove_suffix(1);
        if (key == "drm-pdev")
            client.pci_address = value;
        else if (key == "drm-client-id")
            client.id = value;
        memory.add(key, value);
        add_engine(client, key, value);
    }
    if (client.pci_address.empty() || client.id.empty()) return std::nullopt;
    client.memory_bytes = memory.resident ? memory.resident : memory.of_old ? memory.of_old : memory.total;
    return client;
}

void DrmClients::search() {
    descriptors_.clear();
    for (const std::string& name : list_folder(proc_, processes_max)) {
        if (name.find_first_not_of("0123456789") != name.npos) continue;
        const std::string folder = proc_ + "/" + name;
        for (const std::string& fd : list_folder(folder + "/fd", descriptors_max)) {
            const std::string node = link_name(folder + "/fd/" + fd);
            if (!node.starts_with("renderD") && !node.starts_with("card")) continue;
            if (descriptors_.size() >= descriptors_max) return;
            descriptors_.push_back({parse_number(name).value_or(0), folder + "/fdinfo/" + fd});
        }
    }
}

// A descriptor that several processes have counts for the first of them.
std::map<DrmClients::ClientKey, DrmClients::Seen> DrmClients::read() {
    std::map<ClientKey, Seen> seen;
    std::erase_if(descriptors_, [&](const Descriptor& one) {
        auto client = parse_drm_client(read_text(one.file, file_max).value_or(""));
        if (!client) return true;
        ClientKey key{client->pci_address, client->id};
        seen.try_emplace(std::move(key), Seen{std::move(*client), one.pid});
        return false;
    });
    return seen;
}

std::vector<DrmUse> DrmClients::look(Instant now) {
    if (!searched_ || now - *searched_ >= search_every) {
        search();
        searched_ = now;
    }
    struct Sum {
        std::optional<std::int64_t> memory_bytes;
        std::map<std::string, double> shares;  // By engine.
        bool known = false;                    // One of its descriptors was there at the look before.
    };
    auto seen = read();
    std::map<std::pair<std::string, std::int64_t>, Sum> sums;
    for (const auto& [key, one] : seen) {
        Sum& sum = sums[{one.client.pci_address, one.pid}];
        if (one.client.memory_bytes)
            sum.memory_bytes = sum.memory_bytes.value_or(0) + *one.client.memory_bytes;
        const auto before = before_.find(key);
        if (before == before_.end()) continue;
        sum.known = true;
        for (const auto& [name, engine] : one.client.engines)
            if (const auto then = before->second.client.engines.find(name);
                then != before->second.client.engines.end())
                sum.shares[name] += share(engine, then->second, now - looked_);
    }
    before_ = std::move(seen);
    looked_ = now;
    std::vector<DrmUse> uses;
    for (const auto& [whose, sum] : sums) {
        DrmUse use{.pci_address = whose.first, .pid = whose.second, .memory_bytes = sum.memory_bytes};
        double most = 0;
        for (const auto& [name, part] : sum.shares) most = std::max(most, part);
        if (sum.known && !sum.shares.empty())
            use.utilisation_percent = std::lround(100 * std::min(1.0, most));
        if (use.memory_bytes.value_or(0) > 0 || use.utilisation_percent.value_or(0) > 0)
            uses.push_back(std::move(use));
    }
    return uses;
}

}  // namespace hostler
