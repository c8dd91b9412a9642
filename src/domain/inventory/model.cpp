#include "domain/inventory/model.h"

#include <algorithm>
#include <map>

namespace hostler {

namespace {

using enum GpuVendor;
using enum GpuForm;

// clang-format off
constexpr GpuModel models[] = {
    {"H100 SXM5 80GB", "H100", "NVIDIA H100 80GB HBM3", nvidia, "hopper", sxm, 80, 16896, "9.0", 700, 18, "10de:2330"},
    {"H100 PCIe 80GB", "H100", "NVIDIA H100 PCIe", nvidia, "hopper", pcie, 80, 14592, "9.0", 350, 0, "10de:2331"},
    {"H100 NVL 94GB", "H100", "NVIDIA H100 NVL", nvidia, "hopper", pcie, 94, 16896, "9.0", 400, 0, "10de:2321"},
    {"H200 SXM 141GB", "H200", "NVIDIA H200", nvidia, "hopper", sxm, 141, 16896, "9.0", 700, 18, "10de:2335"},
    {"H200 NVL 141GB", "H200", "NVIDIA H200 NVL", nvidia, "hopper", pcie, 141, 16896, "9.0", 600, 0, "10de:233b"},
    {"H800 SXM5 80GB", "H800", "NVIDIA H800", nvidia, "hopper", sxm, 80, 16896, "9.0", 700, 8, "10de:2324"},
    {"H800 PCIe 80GB", "H800", "NVIDIA H800 PCIe", nvidia, "hopper", pcie, 80, 14592, "9.0", 350, 0, "10de:2322"},
    {"H20 96GB", "H20", "NVIDIA H20", nvidia, "hopper", sxm, 96, 9984, "9.0", 400, 18, "10de:2329"},
    {"B200 180GB", "B200", "NVIDIA B200", nvidia, "blackwell", sxm, 180, 18944, "10.0", 1000, 18, "10de:2901"},
    {"GB200 186GB", "GB200", "NVIDIA GB200", nvidia, "blackwell", sxm, 186, 18944, "10.0", 1200, 18, "10de:2941"},
    {"B300 288GB", "B300", "NVIDIA B300 SXM6 AC", nvidia, "blackwell", sxm, 288, 0, "10.3", 1100, 18, "10de:3182"},
    {"GB300 288GB", "GB300", "NVIDIA GB300", nvidia, "blackwell", sxm, 288, 0, "10.3", 1400, 18, "10de:31c2"},
    {"GB10 128GB", "GB10", "NVIDIA GB10", nvidia, "blackwell", soc, 128, 6144, "12.1", 140, 0, ""},
    {"A100 SXM4 80GB", "A100", "NVIDIA A100-SXM4-80GB", nvidia, "ampere", sxm, 80, 6912, "8.0", 400, 12, "10de:20b2"},
    {"A100 SXM4 40GB", "A100", "NVIDIA A100-SXM4-40GB", nvidia, "ampere", sxm, 40, 6912, "8.0", 400, 12, "10de:20b0"},
    {"A100 PCIe 80GB", "A100", "NVIDIA A100 80GB PCIe", nvidia, "ampere", pcie, 80, 6912, "8.0", 300, 0, "10de:20b5"},
    {"A100 PCIe 40GB", "A100", "NVIDIA A100-PCIE-40GB", nvidia, "ampere", pcie, 40, 6912, "8.0", 250, 0, "10de:20f1"},
    {"A800 SXM4 80GB", "A800", "NVIDIA A800-SXM4-80GB", nvidia, "ampere", sxm, 80, 6912, "8.0", 400, 8, "10de:20f3"},
    {"A800 PCIe 80GB", "A800", "NVIDIA A800 80GB PCIe", nvidia, "ampere", pcie, 80, 6912, "8.0", 300, 0, "10de:20f5"},
    {"A30 24GB", "A30", "NVIDIA A30", nvidia, "ampere", pcie, 24, 3584, "8.0", 165, 0, "10de:20b7"},
    {"A40 48GB", "A40", "NVIDIA A40", nvidia, "ampere", pcie, 48, 10752, "8.6", 300, 0, "10de:2235"},
    {"A10 24GB", "A10", "NVIDIA A10", nvidia, "ampere", pcie, 24, 9216, "8.6", 150, 0, "10de:2236"},
    {"A16 16GB", "A16", "NVIDIA A16", nvidia, "ampere", pcie, 16, 1280, "8.6", 0, 0, ""},  // Shares 10de:25b6 with the A2.
    {"A2 16GB", "A2", "NVIDIA A2", nvidia, "ampere", pcie, 16, 1280, "8.6", 60, 0, "10de:25b6"},
    {"T4 16GB", "T4", "Tesla T4", nvidia, "turing", pcie, 16, 2560, "7.5", 70, 0, "10de:1eb8"},
    {"L4 24GB", "L4", "NVIDIA L4", nvidia, "ada", pcie, 24, 7424, "8.9", 72, 0, "10de:27b8"},
    {"L40 48GB", "L40", "NVIDIA L40", nvidia, "ada", pcie, 48, 18176, "8.9", 300, 0, "10de:26b5"},
    {"L40S 48GB", "L40S", "NVIDIA L40S", nvidia, "ada", pcie, 48, 18176, "8.9", 350, 0, "10de:26b9"},
    {"V100 SXM2 32GB", "V100", "Tesla V100-SXM2-32GB", nvidia, "volta", sxm, 32, 5120, "7.0", 300, 6, "10de:1db5"},
    {"V100 SXM2 16GB", "V100", "Tesla V100-SXM2-16GB", nvidia, "volta", sxm, 16, 5120, "7.0", 300, 6, "10de:1db1"},
    {"V100 PCIe 32GB", "V100", "Tesla V100-PCIE-32GB", nvidia, "volta", pcie, 32, 5120, "7.0", 250, 0, "10de:1db6"},
    {"V100 PCIe 16GB", "V100", "Tesla V100-PCIE-16GB", nvidia, "volta", pcie, 16, 5120, "7.0", 250, 0, "10de:1db4"},
    {"P100 SXM2 16GB", "P100", "Tesla P100-SXM2-16GB", nvidia, "pascal", sxm, 16, 3584, "6.0", 300, 4, "10de:15f9"},
    {"P100 PCIe 16GB", "P100", "Tesla P100-PCIE-16GB", nvidia, "pascal", pcie, 16, 3584, "6.0", 250, 0, "10de:15f8"},
    {"RTX 6000 Ada 48GB", "RTX 6000 Ada", "NVIDIA RTX 6000 Ada Generation", nvidia, "ada", pcie, 48, 18176, "8.9", 300, 0, "10de:26b1"},
    {"RTX PRO 6000 Blackwell Server 96GB", "RTX PRO 6000", "NVIDIA RTX PRO 6000 Blackwell Server Edition", nvidia, "blackwell", pcie, 96, 24064, "12.0", 600, 0, "10de:2bb5"},
    {"RTX PRO 6000 Blackwell Workstation 96GB", "RTX PRO 6000", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", nvidia, "blackwell", pcie, 96, 24064, "12.0", 600, 0, "10de:2bb1"},
    {"GeForce RTX 5090 32GB", "RTX 5090", "NVIDIA GeForce RTX 5090", nvidia, "blackwell", pcie, 32, 21760, "12.0", 575, 0, "10de:2b85"},
    {"GeForce RTX 4090 24GB", "RTX 4090", "NVIDIA GeForce RTX 4090", nvidia, "ada", pcie, 24, 16384, "8.9", 450, 0, "10de:2684"},
    {"GeForce RTX 4080 16GB", "RTX 4080", "NVIDIA GeForce RTX 4080", nvidia, "ada", pcie, 16, 9728, "8.9", 320, 0, "10de:2704"},
    {"GeForce RTX 3090 24GB", "RTX 3090", "NVIDIA GeForce RTX 3090", nvidia, "ampere", pcie, 24, 10496, "8.6", 350, 0, "10de:2204"},
    {"GeForce RTX 3080 10GB", "RTX 3080", "NVIDIA GeForce RTX 3080", nvidia, "ampere", pcie, 10, 8704, "8.6", 320, 0, "10de:2206"},
    {"GeForce RTX 2080 Ti 11GB", "RTX 2080 Ti", "NVIDIA GeForce RTX 2080 Ti", nvidia, "turing", pcie, 11, 4352, "7.5", 250, 0, "10de:1e04 10de:1e07"},
    {"RTX A6000 48GB", "RTX A6000", "NVIDIA RTX A6000", nvidia, "ampere", pcie, 48, 10752, "8.6", 300, 0, "10de:2230"},
    {"RTX A5000 24GB", "RTX A5000", "NVIDIA RTX A5000", nvidia, "ampere", pcie, 24, 8192, "8.6", 230, 0, "10de:2231"},
    {"RTX A4000 16GB", "RTX A4000", "NVIDIA RTX A4000", nvidia, "ampere", pcie, 16, 6144, "8.6", 140, 0, "10de:24b0"},
    {"Instinct MI210 64GB", "MI210", "AMD Instinct MI210", amd, "gfx90a", pcie, 64, 6656, "", 300, 0, "1002:740f"},
    {"Instinct MI250 64GB", "MI250", "AMD Instinct MI250", amd, "gfx90a", oam, 64, 6656, "", 560, 0, "1002:740c"},
    {"Instinct MI250X 64GB", "MI250X", "AMD Instinct MI250X", amd, "gfx90a", oam, 64, 7040, "", 560, 0, "1002:7408"},
    {"Instinct MI300A 128GB", "MI300A", "AMD Instinct MI300A", amd, "gfx942", oam, 128, 14592, "", 550, 0, "1002:74a0"},
    {"Instinct MI300X 192GB", "MI300X", "AMD Instinct MI300X", amd, "gfx942", oam, 192, 19456, "", 750, 7, "1002:74a1"},
    {"Instinct MI325X 256GB", "MI325X", "AMD Instinct MI325X", amd, "gfx942", oam, 256, 19456, "", 1000, 7, "1002:74a5"},
    {"Instinct MI350X 288GB", "MI350X", "AMD Instinct MI350X", amd, "gfx950", oam, 288, 16384, "", 1000, 7, "1002:75a0"},
    {"Instinct MI355X 288GB", "MI355X", "AMD Instinct MI355X", amd, "gfx950", oam, 288, 16384, "", 1400, 7, "1002:75a3"},
    {"Radeon RX 7900 XTX 24GB", "RX 7900 XTX", "AMD Radeon RX 7900 XTX", amd, "gfx1100", pcie, 24, 6144, "", 355, 0, "1002:744c"},
    {"Data Center GPU Max 1550 128GB", "Max 1550", "Intel Data Center GPU Max 1550", intel, "xe-hpc", oam, 128, 0, "", 600, 0, "8086:0bd5 8086:0bd6"},
    {"Data Center GPU Max 1100 48GB", "Max 1100", "Intel Data Center GPU Max 1100", intel, "xe-hpc", pcie, 48, 0, "", 300, 0, "8086:0bd9 8086:0bda 8086:0bdb"},
    {"Data Center GPU Flex 170 16GB", "Flex 170", "Intel Data Center GPU Flex 170", intel, "xe-hpg", pcie, 16, 0, "", 150, 0, "8086:56c0"},
    {"Arc B580 12GB", "Arc B580", "Intel Arc B580", intel, "xe2", pcie, 12, 0, "", 190, 0, "8086:e20b"},
    {"Arc A770 16GB", "Arc A770", "Intel Arc A770", intel, "xe-hpg", pcie, 16, 0, "", 225, 0, "8086:56a0"},
    {"Gaudi2 96GB", "Gaudi2", "Gaudi2", intel, "gaudi2", oam, 96, 0, "", 600, 0, "1da3:1020"},
    {"Gaudi3 128GB", "Gaudi3", "Gaudi3", intel, "gaudi3", oam, 128, 0, "", 900, 0, "1da3:1060 1da3:1063"},
};
// clang-format on

constexpr std::int64_t gib = std::int64_t{1} << 30;

// Letters and digits only, small.
std::string bare(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) out += c;
        if (c >= 'A' && c <= 'Z') out += static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

bool lists(std::string_view ids, std::string_view id) {
    while (!ids.empty()) {
        const auto end = std::min(ids.find(' '), ids.size());
        if (ids.substr(0, end) == id) return true;
        ids.remove_prefix(std::min(end + 1, ids.size()));
    }
    return false;
}

// A model's own name counts before a driver's, and both before a family's; of equals the first row.
std::map<std::string, const GpuModel*, std::less<>> models_by_name() {
    std::map<std::string, const GpuModel*, std::less<>> known;
    for (const auto member : {&GpuModel::name, &GpuModel::product, &GpuModel::family})
        for (const GpuModel& row : models) known.try_emplace(bare(row.*member), &row);
    known.erase("");
    return known;
}

}  // namespace

std::span<const GpuModel> gpu_models() { return models; }

const GpuModel* find_gpu_model(std::string_view name) {
    static const auto known = models_by_name();
    const auto found = known.find(bare(name));
    return found == known.end() ? nullptr : found->second;
}

const GpuModel* recognise_gpu(std::string_view product, std::string_view pci_id, std::int64_t memory_bytes) {
    const std::string said = bare(product);
    for (const GpuModel& row : models) {
        if (!said.empty() && bare(row.product) == said) return &row;
    }
    for (const GpuModel& row : models) {
        const std::int64_t expected = row.memory_gib * gib;
        const bool fits = memory_bytes == 0 || std::abs(memory_bytes - expected) <= expected / 8;
        if (lists(row.pci_ids, pci_id) && fits) return &row;
    }
    return nullptr;
}

std::string gpu_model_name(std::string_view product, std::string_view pci_id, std::int64_t memory_bytes) {
    if (const auto* known = recognise_gpu(product, pci_id, memory_bytes)) return std::string{known->name};
    std::string name{product};
    for (const std::string_view maker : {"NVIDIA ", "AMD ", "Intel "}) {
        if (name.starts_with(maker)) name.erase(0, maker.size());
    }
    if (name.empty()) name = "GPU " + std::string{pci_id};
    if (memory_bytes >= gib / 2 && name.find("GB") == std::string::npos) {
        name += " " + std::to_string((memory_bytes + gib / 2) / gib) + "GB";
    }
    return name;
}

}  // namespace hostler
