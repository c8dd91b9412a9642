#include "adapters/sysfs/tables.h"

#include <sstream>
#include <vector>

#include "core/kernel_files.h"

namespace hostler {

namespace {

template <class Each>
void each_line(std::string_view text, const Each& each) {
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        each(std::string{text.substr(0, end)});
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

// Lines of devices: what each says of disks is added by `add`, which says nothing of other devices.
template <class Add>
bool each_disk(std::string_view text, const DiskName& name_of, const Add& add) {
    bool any = false, known = false;
    each_line(text, [&](const std::string& line) {
        std::istringstream words{line};
        std::string number;
        if (!(words >> number) || number.find(':') == std::string::npos) return;
        any = true;
        const std::string name = name_of(number);
        known = known || !name.empty();
        if (is_disk(name)) add(words);
    });
    return known || !any;
}

}  // namespace

NetworkTraffic network_traffic(std::string_view net_dev) {
    NetworkTraffic made;
    each_line(net_dev, [&](const std::string& line) {
        const auto colon = line.find(':');
        if (colon == std::string::npos) return;  // The two heads of the table.
        const auto name = line.substr(0, colon);
        if (name.ends_with(" lo") || name == "lo") return;
        std::istringstream columns{line.substr(colon + 1)};
        std::vector<std::int64_t> values;
        for (std::int64_t value = 0; values.size() < 12 && columns >> value;) values.push_back(value);
        if (values.size() < 9) return;
        made.received_bytes = made.received_bytes.value_or(0) + values[0];
        made.sent_bytes = made.sent_bytes.value_or(0) + values[8];
        if (values.size() < 12) return;
        made.errors = made.errors.value_or(0) + values[2] + values[3] + values[10] + values[11];
    });
    return made;
}

bool is_disk(std::string_view name) {
    if (name.starts_with("nvme")) return name.find('p', 4) == name.npos && name.find('n', 4) != name.npos;
    if (name.starts_with("mmcblk")) return name.find('p', 6) == name.npos;
    for (const std::string_view kind : {"sd", "vd", "hd", "xvd"})
        if (name.starts_with(kind))
            return name.size() > kind.size() && name.find_first_of("0123456789") == name.npos;
    return false;
}

DiskTraffic group_disks(std::string_view io_stat, const DiskName& name_of) {
    std::int64_t read = 0, written = 0;
    const bool known = each_disk(io_stat, name_of, [&](std::istringstream& words) {
        for (std::string word; words >> word;) {
            const std::string_view text{word};
            if (text.starts_with("rbytes=")) read += parse_number(text.substr(7)).value_or(0);
            if (text.starts_with("wbytes=")) written += parse_number(text.substr(7)).value_or(0);
        }
    });
    return known ? DiskTraffic{read, written} : DiskTraffic{};
}

Metric group_disk_reads(std::string_view io_service_bytes, const DiskName& name_of) {
    std::int64_t read = 0;
    const bool known = each_disk(io_service_bytes, name_of, [&](std::istringstream& words) {
        std::string what;
        std::int64_t bytes = 0;
        if (words >> what >> bytes && what == "Read") read += bytes;
    });
    return known ? Metric{read} : Metric{};
}

}  // namespace hostler
