// How full volumes and the layers of instances are, as their hosts say, and how large a volume can be.
#pragma once

#include <optional>
#include <string>

#include "roles/master/state/desk.h"

namespace hostler::master {

// Those of `told` that lie on this host: it is not believed of others.
DiskUses only_there(const Desk& desk, const std::string& host, DiskUses told);
void note_disks(Desk& desk, const std::string& host, DiskUses told);

// nullptr: it is not known now.
const DiskUse* use_of_disk(const Desk& desk, const Volume& volume);
const DiskUse* use_of_disk(const Desk& desk, const Instance& instance);

// In percent of the total; nullopt: not known.
std::optional<double> used_percent(const Metric& used, const Metric& total);
// By bytes or inodes, whichever is nearer to its end.
enum class Fullness { roomy, nearly, full };
inline constexpr double nearly_full_percent = 90, full_percent = 99;
Fullness fullness_of(const DiskUse& use);
// "is nearly full: 1.9Gi of 2Gi in use"; empty: it is roomy.
std::string fullness_sentence(const DiskUse& use);
// "1.9Gi of 2Gi and 120 of 524288 inodes"
std::string use_text(const DiskUse& use);

// The fullest of the volumes and the layer of an instance, if it is full or nearly so.
struct FullDisk {
    Fullness how = Fullness::roomy;
    std::string token;     // "volume_full", "disk_full"; empty: it is not full yet.
    std::string sentence;  // "its volume models at /data is full: 9.8Gi of 9.8Gi in use"
    std::string help;
};
std::optional<FullDisk> full_disk(const Desk& desk, const Instance& instance);

// Whether some host in the zone (empty: in any) could hold a volume of this size if it held nothing else;
// `host`: this one. While no host has said how large its disk is, all pass. Errors: invalid
// (volume_too_large).
Result<> check_volume_fits(const Desk& desk, std::int64_t size_bytes, const std::string& zone,
                           const std::string& host = {});

}  // namespace hostler::master
