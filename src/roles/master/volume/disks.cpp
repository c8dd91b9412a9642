#include "roles/master/volume/disks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/quantity.h"

namespace hostler::master {

namespace {

const HostLive* heard(const Desk& desk, const std::string& host) {
    const auto live = desk.live.hosts.find(host);
    return live != desk.live.hosts.end() && live->second.connected && live->second.disks ? &live->second
                                                                                         : nullptr;
}

const DiskUse* find_use(const std::map<std::string, DiskUse>& uses, const std::string& id) {
    const auto found = uses.find(id);
    return found == uses.end() ? nullptr : &found->second;
}

// Rounded down to a tenth of its unit.
std::string rounded(std::int64_t bytes) {
    constexpr std::string_view units[] = {"B", "Ki", "Mi", "Gi", "Ti", "Pi"};
    std::size_t unit = 0;
    std::int64_t tenths = bytes * 10;
    while (tenths >= 10240 && unit + 1 < std::size(units)) tenths /= 1024, ++unit;
    if (tenths % 10 == 0 || unit == 0) return fmt::format("{}{}", tenths / 10, units[unit]);
    return fmt::format("{}.{}{}", tenths / 10, tenths % 10, units[unit]);
}

}  // namespace

DiskUses only_there(const Desk& desk, const std::string& host, DiskUses told) {
    std::erase_if(told.volumes, [&](const auto& one) {
        const Volume* volume = desk.estate.volumes.find(one.first);
        return !volume || volume->host != host;
    });
    std::erase_if(told.layers, [&](const auto& one) {
        const Instance* instance = desk.estate.instances.find(one.first);
        return !instance || instance->host != host || !has_place(instance->phase);
    });
    return told;
}

void note_disks(Desk& desk, const std::string& host, DiskUses told) {
    HostLive& live = desk.live.hosts[host];
    live.disks = only_there(desk, host, std::move(told));
    std::erase_if(live.disk_rows, [&](const auto& row) {
        const std::size_t slash = row.first.find('/');
        const auto& there = row.first.starts_with("volume/") ? live.disks->volumes : live.disks->layers;
        return !there.contains(row.first.substr(slash + 1));
    });
}

const DiskUse* use_of_disk(const Desk& desk, const Volume& volume) {
    const HostLive* host = heard(desk, volume.host);
    return host ? find_use(host->disks->volumes, volume.id) : nullptr;
}

const DiskUse* use_of_disk(const Desk& desk, const Instance& instance) {
    const HostLive* host = has_place(instance.phase) ? heard(desk, instance.host) : nullptr;
    return host ? find_use(host->disks->layers, instance.id) : nullptr;
}

std::optional<double> used_percent(const Metric& used, const Metric& total) {
    if (!used || !total || *total <= 0) return std::nullopt;
    return 100.0 * static_cast<double>(*used) / static_cast<double>(*total);
}

Fullness fullness_of(const DiskUse& use) {
    const double most = std::max(used_percent(use.used_bytes, use.total_bytes).value_or(0),
                                 used_percent(use.used_inodes, use.total_inodes).value_or(0));
    return most >= full_percent          ? Fullness::full
           : most >= nearly_full_percent ? Fullness::nearly
                                         : Fullness::roomy;
}

std::string use_text(const DiskUse& use) {
    return fmt::format("{} of {} and {} of {} inodes", rounded(use.used_bytes.value_or(0)),
                       rounded(use.total_bytes.value_or(0)), use.used_inodes.value_or(0),
                       use.total_inodes.value_or(0));
}

std::string fullness_sentence(const DiskUse& use) {
    const Fullness how = fullness_of(use);
    if (how == Fullness::roomy) return {};
    const double bytes = used_percent(use.used_bytes, use.total_bytes).value_or(0);
    const double inodes = used_percent(use.used_inodes, use.total_inodes).value_or(0);
    const std::string of = inodes > bytes ? fmt::format("{} of {} inodes", use.used_inodes.value_or(0),
                                                        use.total_inodes.value_or(0))
                                          : fmt::format("{} of {}", rounded(use.used_bytes.value_or(0)),
                                                        rounded(use.total_bytes.value_or(0)));
    return fmt::format("is {}full: {} in use", how == Fullness::full ? "" : "nearly ", of);
}

std::optional<FullDisk> full_disk(const Desk& desk, const Instance& instance) {
    std::optional<FullDisk> worst;
    const auto note = [&](const DiskUse* use, std::string_view token, const std::string& what,
                          std::string help) {
        if (!use) return;
        const Fullness how = fullness_of(*use);
        if (how == Fullness::roomy || (worst && worst->how >= how)) return;
        worst = {.how = how,
                 .token = how == Fullness::full ? std::string{token} : "",
                 .sentence = fmt::format("{} {}", what, fullness_sentence(*use)),
                 .help = std::move(help)};
    };
    if (!has_place(instance.phase)) return std::nullopt;
    for (const InstanceVolume& mount : instance.spec.volumes)
        if (const Volume* volume = desk.estate.volumes.find(mount.volume))
            note(use_of_disk(desk, *volume), "volume_full",
                 fmt::format("its volume {} at {}", volume->name, mount.path),
                 fmt::format(
                     "Delete files in {}, or make the volume larger: hostler volume resize {} --size {}",
                     mount.path, volume->name, to_string(Quantity::of_units(2 * volume->size_bytes))));
    note(use_of_disk(desk, instance), "disk_full", "its disk outside its volumes",
         "Delete files outside its volumes, or keep what is large in a volume; started again from its image "
         "it "
         "begins with an empty one.");
    return worst;
}

Result<> check_volume_fits(const Desk& desk, std::int64_t size_bytes, const std::string& zone,
                           const std::string& host) {
    std::int64_t largest = 0;
    if (!host.empty()) {
        const Host* row = desk.estate.hosts.find(host);
        if (row && (zone.empty() || row->zone == zone)) largest = whole_disk(*row);
    } else if (const auto* disk =
                   desk.estate.hosts.by().disk.last_below({zone, std::numeric_limits<std::int64_t>::max()});
               disk && disk->first == zone) {
        largest = disk->second;
    }
    if (largest == 0 || room_of(size_bytes) <= largest) return {};
    // What people would write, and what an image can have: whole gibibytes, or mebibytes where that is
    // little.
    constexpr std::int64_t little = std::int64_t{10} << 30;
    const std::int64_t fits = largest > little ? largest >> 30 << 30 : largest >> 20 << 20;
    const std::string where = !host.empty()   ? fmt::format("host {} can hold", host)
                              : !zone.empty() ? fmt::format("any host in zone {} can hold", zone)
                                              : "any host can hold";
    Error error{
        Code::invalid,
        fmt::format("a volume of {} is larger than {}: the largest that fits has {}",
                    to_string(Quantity::of_units(size_bytes)), where, to_string(Quantity::of_units(fits))),
        "volume_too_large"};
    error.fields.push_back({"size", fmt::format("must be at most {}", to_string(Quantity::of_units(fits)))});
    error.help = fmt::format("Ask for {} at most, or divide the data among several volumes.",
                             to_string(Quantity::of_units(fits)));
    return std::unexpected(std::move(error));
}

}  // namespace hostler::master
