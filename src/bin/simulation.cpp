#include "bin/simulation.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "adapters/nvml/simulated_state.h"
#include "bin/process.h"
#include "core/quantity.h"

namespace hostler::bin {

namespace fs = std::filesystem;
namespace json = boost::json;

namespace {

// "GPU-…" of each GPU in a state file, in order.
std::vector<std::string> uuids_of(std::string_view state) {
    std::vector<std::string> uuids;
    for (std::size_t at = state.find("GPU-"); at != state.npos; at = state.find("GPU-", at + 4)) {
        const std::string uuid{state.substr(at, state.find_first_not_of("GPU-0123456789abcdef", at) - at)};
        if (std::ranges::count(uuids, uuid) == 0) uuids.push_back(uuid);
    }
    return uuids;
}

// Devices of this machine that stand for GPUs. As of a real one, a container opens only those that it is
// given; and whoever opens them has nothing of it: for all that they do they ask for more than a container
// has.
std::vector<std::string> stand_ins() {
    std::vector<std::string> found;
    const auto add = [&](const std::string& path) {
        struct stat status{};
        const int fd = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd < 0) return;
        if (::fstat(fd, &status) == 0 && S_ISCHR(status.st_mode)) found.push_back(path);
        ::close(fd);
    };
    for (const char* path :
         {"/dev/fuse", "/dev/autofs", "/dev/vsock", "/dev/btrfs-control", "/dev/mapper/control"})
        add(path);
    // The kernel lets everyone ask a processor what it is.
    constexpr int processors_max = 16;
    for (int i = 0; i < processors_max; ++i) add(fmt::format("/dev/cpu/{}/cpuid", i));
    return found;
}

// Device nodes that look like NVIDIA's: a container opens its own, and nothing computes on them. Neighbours
// differ, as far as there are devices for it.
std::string cdi_of(const std::vector<std::string>& uuids, const std::vector<std::string>& hosts) {
    const auto node = [&](const std::string& path, std::size_t number) {
        return json::object{
            {"path", path}, {"hostPath", hosts[number % hosts.size()]}, {"permissions", "rw"}};
    };
    const auto gpu_node = [&](std::size_t i) {
        const std::size_t others = std::max<std::size_t>(hosts.size() - 1, 1);
        return node(fmt::format("/dev/nvidia{}", i), 1 + i % others);
    };
    json::array devices;
    for (std::size_t i = 0; i < uuids.size(); ++i)
        devices.push_back(json::object{
            {"name", uuids[i]}, {"containerEdits", json::object{{"deviceNodes", json::array{gpu_node(i)}}}}});
    const json::object spec{
        {"cdiVersion", "0.5.0"},
        {"kind", "nvidia.com/gpu"},
        {"devices", devices},
        {"containerEdits",
         json::object{{"deviceNodes", json::array{node("/dev/nvidiactl", 0)}},
                      {"env", json::array{"NVIDIA_VISIBLE_DEVICES=void", "HOSTLER_GPUS_SIMULATED=1"}}}}};
    return json::serialize(spec);
}

Result<> make_proc(const SimulatedEstate& estate, const std::string& name, const fs::path& proc) {
    const int cpus = estate.cpus > 0 ? estate.cpus : std::max(16, 16 * estate.gpus);
    const std::int64_t memory =
        estate.memory_bytes > 0 ? estate.memory_bytes : std::max<std::int64_t>(64, 128ll * estate.gpus) << 30;
    fs::create_directories(proc / "sys/kernel/random");
    std::string cpuinfo;
    for (int i = 0; i < cpus; ++i)
        cpuinfo += fmt::format("processor\t: {}\nmodel name\t: Simulated CPU\n\n", i);
    TRY(write_file(proc / "cpuinfo", cpuinfo));
    TRY(write_file(
        proc / "meminfo",
        fmt::format(
            "MemTotal: {0} kB\nMemFree: {0} kB\nMemAvailable: {0} kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
            memory >> 10)));
    TRY(write_file(proc / "sys/kernel/hostname", name + "\n"));
    for (const char* same :
         {"sys/kernel/osrelease", "sys/kernel/random/boot_id", "stat", "loadavg", "uptime", "net"}) {
        std::error_code ignored;
        fs::remove(proc / same, ignored);
        fs::create_symlink(fs::path{"/proc"} / same, proc / same, ignored);
    }
    return {};
}

// A serial number and a UUID that follow from its name; interfaces are this machine's.
Result<> make_sys(const std::string& name, const fs::path& sys) {
    fs::create_directories(sys / "class/dmi/id");
    std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a.
    for (const char c : name) hash = (hash ^ static_cast<std::uint8_t>(c)) * 1099511628211ULL;
    TRY(write_file(sys / "class/dmi/id/product_serial", fmt::format("SIM{:010}\n", hash % 10'000'000'000)));
    TRY(write_file(sys / "class/dmi/id/product_uuid",
                   fmt::format("{:08x}-0000-4000-8000-{:012x}\n", hash >> 32, hash & 0xffff'ffff'ffff)));
    std::error_code ignored;
    fs::create_symlink("/sys/class/net", sys / "class/net", ignored);
    return {};
}

}  // namespace

Result<SimulatedEstate> parse_simulated_estate(std::string_view text) {
    SimulatedEstate estate;
    Error wrong{Code::invalid, "--simulate is wrong", "invalid"};
    const auto number = [&](const std::string& key, std::string_view value, int min, int max, int& into) {
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), into);
        if (error != std::errc{} || end != value.data() + value.size() || into < min || into > max)
            wrong.fields.push_back({key, fmt::format("must be a number from {} to {}", min, max)});
    };
    while (!text.empty()) {
        std::string_view part = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), part.size() + 1));
        const auto equals = part.find('=');
        const std::string key{part.substr(0, equals)};
        std::string_view value = equals == part.npos ? "" : part.substr(equals + 1);
        if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
            value = value.substr(1, value.size() - 2);
        if (key == "hosts")
            number(key, value, 1, 16, estate.hosts);
        else if (key == "gpus")
            number(key, value, 0, 16, estate.gpus);
        else if (key == "cpus")
            number(key, value, 1, 1024, estate.cpus);
        else if (key == "model")
            estate.model = value;
        else if (key == "memory") {
            if (const auto bytes = parse_quantity(value); bytes && bytes->units() > 0)
                estate.memory_bytes = bytes->units();
            else
                wrong.fields.push_back({key, "must be a quantity, as 512Gi"});
        } else
            wrong.fields.push_back({key, "is unknown; there are hosts, gpus, model, cpus and memory"});
    }
    if (const auto made = simulated_state({"any", estate.gpus, estate.model}); !made)
        wrong.fields.push_back({"model", made.error().message});
    if (wrong.fields.empty()) return estate;
    for (const FieldError& field : wrong.fields)
        wrong.message += fmt::format("; {} {}", field.path, field.message);
    return std::unexpected(std::move(wrong));
}

Result<SimulatedFiles> make_simulated_host(const SimulatedEstate& estate, const std::string& name,
                                           const fs::path& folder, const fs::path& library) {
    fs::create_directories(folder / "cdi");
    SimulatedFiles files;
    files.state = folder / "nvml.state";
    // A state that somebody has edited to play with stays as it is.
    if (!fs::exists(files.state)) {
        const std::string state = TRY(simulated_state({name, estate.gpus, estate.model}));
        TRY(write_simulated_state(files.state, state));
    }
    std::vector<std::string> devices = stand_ins();
    files.open_to_all = devices.empty();
    if (devices.empty()) devices.emplace_back("/dev/null");
    TRY(write_file(folder / "cdi/simulated.json", cdi_of(uuids_of(read_file(files.state)), devices)));
    TRY(make_proc(estate, name, folder / "proc"));
    TRY(make_sys(name, folder / "sys"));
    files.arguments = {"--nvml-lib",  library,         "--cdi-dir",    folder / "cdi",
                       "--proc-root", folder / "proc", "--sysfs-root", folder / "sys"};
    return files;
}

}  // namespace hostler::bin
