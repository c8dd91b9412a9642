// The kernel's tables of what was moved: interfaces, disks, control groups.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "domain/inventory/sample.h"

namespace hostler {

// Over all interfaces but loopback; absent: there is none.
struct NetworkTraffic {
    Metric received_bytes;
    Metric sent_bytes;
    Metric errors;  // Packets with errors and dropped ones, both ways.
    bool operator==(const NetworkTraffic&) const = default;
};
NetworkTraffic network_traffic(std::string_view net_dev);  // As /proc/net/dev has it.

// Whole disks by their names: partitions count within them, and what is built on them (device mapper, RAID,
// loops) a second time.
bool is_disk(std::string_view name);

struct DiskTraffic {
    Metric read_bytes;
    Metric written_bytes;
    bool operator==(const DiskTraffic&) const = default;
};
using DiskName = std::function<std::string(const std::string& number)>;  // "sda" of "8:0"; empty: unknown.
// Of a control group: io.stat of version 2, blkio.throttle.io_service_bytes_recursive of version 1. Version 1
// knows of no writer by the time that what was written leaves the page cache: written is absent there.
// Without a line nothing was moved; with lines of unknown devices alone it is not known.
DiskTraffic group_disks(std::string_view io_stat, const DiskName& name_of);
Metric group_disk_reads(std::string_view io_service_bytes, const DiskName& name_of);

}  // namespace hostler
