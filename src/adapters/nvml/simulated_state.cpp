#include "adapters/nvml/simulated_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <iterator>

#include "domain/inventory/model.h"

namespace hostler {

namespace {

constexpr int gpus_max = 16;

// Not a PCI domain of any machine: made-up GPUs never fall together with real ones.
constexpr std::string_view pci_domain = "f000";
// Buses of an HGX board, two GPUs behind each PCIe switch.
constexpr int buses[gpus_max] = {0x1b, 0x43, 0x52, 0x61, 0x9d, 0xc3, 0xd1, 0xdf,
                                 0x1c, 0x44, 0x53, 0x62, 0x9e, 0xc4, 0xd2, 0xe0};

// FNV-1a with a finishing mix (splitmix64): the same everywhere and for ever.
std::uint64_t hash(std::string_view text, std::uint64_t seed) {
    std::uint64_t value = 0xcbf29ce484222325ULL ^ seed;
    for (const unsigned char c : text) value = (value ^ c) * 0x100000001b3ULL;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
}

std::string uuid_of(const std::string& hostname, int index) {
    const std::string name = fmt::format("{}/{}", hostname, index);
    const auto a = hash(name, 1);
    const auto b = hash(name, 2);
    return fmt::format("GPU-{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", a >> 32, a >> 16 & 0xffff,
                       0x4000 | (a & 0xfff), 0x8000 | (b >> 48 & 0x3fff), b & 0xffffffffffff);
}

struct Generation {
    std::string_view architecture;
    int number;  // nvmlDeviceArchitecture_t
    int pcie;
    int graphics_mhz;
    int memory_mhz;
};
constexpr Generation generations[] = {
    {"pascal", 4, 3, 1480, 715},      {"volta", 5, 3, 1530, 877}, {"turing", 6, 3, 1590, 5001},
    {"ampere", 7, 4, 1410, 1593},     {"ada", 8, 4, 2520, 9001},  {"hopper", 9, 5, 1980, 2619},
    {"blackwell", 10, 5, 1965, 3996},
};

std::string gpu_section(const SimulatedHost& host, const GpuModel& model, const Generation& generation,
                        int index) {
    std::string text = fmt::format("\n[gpu {}]\n", index);
    const auto line = [&](std::string_view key, const auto& value) {
        fmt::format_to(std::back_inserter(text), "{} = {}\n", key, value);
    };
    const int half = std::max(4, host.gpus / 2);
    line("uuid", uuid_of(host.hostname, index));
    line("name", model.product);
    line("serial", fmt::format("{:013}", hash(host.hostname, 3 + static_cast<std::uint64_t>(index)) %
                                             10'000'000'000'000));
    line("minor", index);
    line("pci", fmt::format("{}:{:02x}:00.0", pci_domain, buses[index]));
    line("pci_id", model.pci_ids.substr(0, model.pci_ids.find(' ')));
    line("pcie_switch", index / 2);
    line("numa", index / half);
    line("architecture", generation.number);
    line("capability", model.capability);
    if (model.cores > 0) line("cores", model.cores);
    line("vbios", "96.00.89.00.01");
    line("memory_mib", model.memory_gib * 1024);
    line("memory_reserved_mib", 529);
    line("memory_used_mib", 0);
    if (model.power_w > 0) {
        line("power_limit_mw", model.power_w * 1000);
        line("power_limit_min_mw", model.power_w * 1000 * 2 / 7);
        line("power_limit_max_mw", model.power_w * 1000);
        line("power_mw", fmt::format("wave {} {} 120", model.power_w * 98, model.power_w * 104));
    }
    line("energy_mj", 1'000'000);
    line("clock_graphics_max_mhz", generation.graphics_mhz);
    line("clock_memory_max_mhz", generation.memory_mhz);
    line("clock_graphics_mhz", 345);
    line("clock_memory_mhz", generation.memory_mhz);
    line("clock_video_mhz", 765);
    line("pcie_generation", generation.pcie);
    line("pcie_generation_max", generation.pcie);
    line("pcie_width", 16);
    line("pcie_width_max", 16);
    line("pcie_replays", 0);
    if (model.form == GpuForm::sxm && model.links > 0 && host.gpus > 1) line("nvlinks", model.links);
    if (model.form == GpuForm::pcie && model.family.starts_with("RTX")) line("fan", 30);
    line("mig", model.architecture == "hopper" || model.family == "A100" ? "disabled" : "unsupported");
    line("utilisation", 0);
    line("memory_utilisation", 0);
    constexpr int hopper = 9;
    if (generation.number >= hopper)
        for (const char* part : {"graphics_active", "sm_active", "tensor_active", "memory_active"})
            line(part, 0);
    line("temperature", "wave 31 35 300");
    line("memory_temperature", "wave 38 42 300");
    line("temperature_slowdown", 87);
    line("temperature_shutdown", 92);
    line("performance_state", 0);
    line("throttle", 1);
    line("ecc_corrected", 0);
    line("ecc_uncorrected", 0);
    line("rows_corrected", 0);
    line("rows_uncorrected", 0);
    return text;
}

// Lines of one section, from the one after its head to the one before the next head.
struct Place {
    std::size_t begin, end;
};

Result<Place> section(std::string_view state, int gpu) {
    const std::string head = gpu < 0 ? "[system]\n" : fmt::format("[gpu {}]\n", gpu);
    const auto at = state.find(head);
    if (at == std::string_view::npos) {
        return fail(Code::not_found,
                    fmt::format("the state has no section {}", head.substr(0, head.size() - 1)));
    }
    const auto begin = at + head.size();
    return Place{begin, std::min(state.find("\n[", begin - 1), state.size())};
}

}  // namespace

Result<std::string> simulated_state(const SimulatedHost& host) {
    const GpuModel* model = find_gpu_model(host.model);
    if (!model || model->vendor != GpuVendor::nvidia) {
        return fail(Code::invalid,
                    fmt::format("cannot simulate \"{}\": name an NVIDIA model, as \"H100 SXM5 80GB\", "
                                "\"A100 PCIe 40GB\" or \"L40S\"",
                                host.model));
    }
    if (host.gpus < 0 || host.gpus > gpus_max) {
        return fail(Code::invalid,
                    fmt::format("cannot simulate {} GPUs: a host has 0 to {}", host.gpus, gpus_max));
    }
    const auto* generation = std::ranges::find(generations, model->architecture, &Generation::architecture);
    HOSTLER_ASSERT(generation != std::end(generations));
    std::string text =
        "# The GPUs that Hostler's simulated NVML makes up. May be edited while it is in use.\n"
        "[system]\ndriver = 570.86.15\nnvml = 12.570.86.15\ncuda = 12.8\n";
    for (int index = 0; index < host.gpus; ++index) text += gpu_section(host, *model, *generation, index);
    return text;
}

Result<std::string> with_setting(std::string_view state, int gpu, std::string_view key,
                                 std::string_view value) {
    const auto [begin, end] = TRY(section(state, gpu));
    std::string kept;
    for (std::string_view rest = state.substr(begin, end - begin); !rest.empty();) {
        const auto size = std::min(rest.find('\n'), rest.size() - 1) + 1;
        const std::string_view line = rest.substr(0, size);
        const std::string_view name = line.substr(0, line.find_first_of(" ="));
        if (name != key) kept += line;
        rest.remove_prefix(size);
    }
    if (!kept.empty() && kept.back() != '\n') kept += '\n';
    if (!value.empty()) kept += fmt::format("{} = {}\n", key, value);
    return fmt::format("{}{}{}", state.substr(0, begin), kept, state.substr(end));
}

Result<std::string> with_line(std::string_view state, int gpu, std::string_view key, std::string_view value) {
    const auto [begin, end] = TRY(section(state, gpu));
    return fmt::format("{}{} = {}\n{}", state.substr(0, begin), key, value, state.substr(begin));
}

Result<> write_simulated_state(const std::string& path, std::string_view state) {
    const auto failed = [&](const char* what) {
        return fail(Code::unavailable, fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
    };
    const std::string beside = path + ".new";
    const int file = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return failed("write");
    std::size_t written = 0;
    while (written < state.size()) {
        const auto n = write(file, state.data() + written, state.size() - written);
        if (n <= 0) break;
        written += static_cast<std::size_t>(n);
    }
    const bool whole = written == state.size();
    if (close(file) != 0 || !whole) return failed("write");
    if (rename(beside.c_str(), path.c_str()) != 0) return failed("replace");
    return {};
}

}  // namespace hostler
