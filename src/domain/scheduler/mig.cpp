#include "domain/scheduler/mig.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/result.h"
#include "domain/inventory/model.h"

namespace hostler {

namespace {

// Name, starts, size, most, decoders, flow. What the guide leaves open is 0, and starts of Blackwell's data
// center GPUs are taken to be those of Hopper's.
// clang-format off
// A100 40GB / A800 40GB.
constexpr MigProfile a100_40[] = {
    {"1g.5gb", 0x7F, 1, 7, 0, 0},
    {"1g.5gb+me", 0x7F, 1, 1, 1, 1},
    {"1g.10gb", 0x55, 2, 4, 1, 0},
    {"2g.10gb", 0x15, 2, 3, 1, 0},
    {"3g.20gb", 0x11, 4, 2, 2, 0},
    {"4g.20gb", 0x1, 4, 1, 2, 0},
    {"7g.40gb", 0x1, 8, 1, 5, 1},
};
// A100 80GB / A800 80GB.
constexpr MigProfile a100_80[] = {
    {"1g.10gb", 0x7F, 1, 7, 0, 0},
    {"1g.10gb+me", 0x7F, 1, 1, 1, 1},
    {"1g.20gb", 0x55, 2, 4, 1, 0},
    {"2g.20gb", 0x15, 2, 3, 1, 0},
    {"3g.40gb", 0x11, 4, 2, 2, 0},
    {"4g.40gb", 0x1, 4, 1, 2, 0},
    {"7g.80gb", 0x1, 8, 1, 5, 1},
};
// H100 80GB / H800 80GB.
constexpr MigProfile h100_80[] = {
    {"1g.10gb", 0x7F, 1, 7, 1, 0},
    {"1g.10gb+me", 0x7F, 1, 1, 1, 1},
    {"1g.20gb", 0x55, 2, 4, 1, 0},
    {"2g.20gb", 0x15, 2, 3, 2, 0},
    {"3g.40gb", 0x11, 4, 2, 3, 0},
    {"4g.40gb", 0x1, 4, 1, 4, 0},
    {"7g.80gb", 0x1, 8, 1, 7, 1},
};
// H100 94GB NVL / H800 NVL.
constexpr MigProfile h100_94[] = {
    {"1g.12gb", 0x7F, 1, 7, 1, 0},
    {"1g.12gb+me", 0x7F, 1, 1, 1, 1},
    {"1g.24gb", 0x55, 2, 4, 1, 0},
    {"2g.24gb", 0x15, 2, 3, 2, 0},
    {"3g.47gb", 0x11, 4, 2, 3, 0},
    {"4g.47gb", 0x1, 4, 1, 4, 0},
    {"7g.94gb", 0x1, 8, 1, 7, 1},
};
// H100 96GB (GH200) / H20.
constexpr MigProfile h100_96[] = {
    {"1g.12gb", 0x7F, 1, 7, 1, 0},
    {"1g.12gb+me", 0x7F, 1, 1, 1, 1},
    {"1g.24gb", 0x55, 2, 4, 1, 0},
    {"2g.24gb", 0x15, 2, 3, 2, 0},
    {"3g.48gb", 0x11, 4, 2, 3, 0},
    {"4g.48gb", 0x1, 4, 1, 4, 0},
    {"7g.96gb", 0x1, 8, 1, 7, 1},
};
// H200 141GB (SXM/NVL).
constexpr MigProfile h200[] = {
    {"1g.18gb", 0x7F, 1, 7, 1, 0},
    {"1g.18gb+me", 0x7F, 1, 1, 1, 1},
    {"1g.35gb", 0x55, 2, 4, 1, 0},
    {"2g.35gb", 0x15, 2, 3, 2, 0},
    {"3g.71gb", 0x11, 4, 2, 3, 0},
    {"4g.71gb", 0x1, 4, 1, 4, 0},
    {"7g.141gb", 0x1, 8, 1, 7, 1},
};
// B200 180GB.
constexpr MigProfile b200[] = {
    {"1g.23gb", 0x7F, 1, 7, 0, 0},
    {"1g.23gb+me", 0x7F, 1, 1, 0, 1},
    {"1g.45gb", 0x55, 2, 4, 0, 0},
    {"2g.45gb", 0x15, 2, 3, 0, 0},
    {"3g.90gb", 0x11, 4, 2, 0, 0},
    {"4g.90gb", 0x1, 4, 1, 0, 0},
    {"7g.180gb", 0x1, 8, 1, 0, 1},
};
// GB200 186GB.
constexpr MigProfile gb200[] = {
    {"1g.23gb", 0x7F, 1, 7, 0, 0},
    {"1g.23gb+me", 0x7F, 1, 1, 0, 1},
    {"1g.47gb", 0x55, 2, 4, 0, 0},
    {"2g.47gb", 0x15, 2, 3, 0, 0},
    {"3g.93gb", 0x11, 4, 2, 0, 0},
    {"4g.93gb", 0x1, 4, 1, 0, 0},
    {"7g.186gb", 0x1, 8, 1, 0, 1},
};
// B300 (HGX) ~269GB.
constexpr MigProfile b300[] = {
    {"1g.34gb", 0x7F, 1, 7, 0, 0},
    {"1g.34gb+me", 0x7F, 1, 1, 0, 1},
    {"1g.67gb", 0x55, 2, 4, 0, 0},
    {"2g.67gb", 0x15, 2, 3, 0, 0},
    {"3g.135gb", 0x11, 4, 2, 0, 0},
    {"4g.135gb", 0x1, 4, 1, 0, 0},
    {"7g.269gb", 0x1, 8, 1, 0, 1},
};
// GB300 ~278GB.
constexpr MigProfile gb300[] = {
    {"1g.35gb", 0x7F, 1, 7, 0, 0},
    {"1g.35gb+me", 0x7F, 1, 1, 0, 1},
    {"1g.70gb", 0x55, 2, 4, 0, 0},
    {"2g.70gb", 0x15, 2, 3, 0, 0},
    {"3g.139gb", 0x11, 4, 2, 0, 0},
    {"4g.139gb", 0x1, 4, 1, 0, 0},
    {"7g.278gb", 0x1, 8, 1, 0, 1},
};
// A30 24GB.
constexpr MigProfile a30[] = {
    {"1g.6gb", 0xF, 1, 4, 0, 0},
    {"1g.6gb+me", 0xF, 1, 1, 1, 1},
    {"2g.12gb", 0x5, 2, 2, 2, 0},
    {"2g.12gb+me", 0x5, 2, 1, 2, 1},
    {"4g.24gb", 0x1, 4, 1, 4, 1},
};
// RTX PRO 6000 Blackwell 96GB.
constexpr MigProfile rtx_pro_6000[] = {
    {"1g.24gb", 0x249, 3, 4, 1, 0},
    {"1g.24gb+me", 0x249, 3, 1, 1, 1},
    {"1g.24gb+gfx", 0x249, 3, 4, 1, 0},
    {"1g.24gb+me.all", 0x249, 3, 1, 4, 1},
    {"1g.24gb-me", 0x249, 3, 4, 0, 0},
    {"2g.48gb", 0x41, 6, 2, 2, 0},
    {"2g.48gb+gfx", 0x41, 6, 2, 2, 0},
    {"2g.48gb+me.all", 0x41, 6, 1, 4, 1},
    {"2g.48gb-me", 0x41, 6, 2, 0, 0},
    {"4g.96gb", 0x1, 12, 1, 4, 1},
    {"4g.96gb+gfx", 0x1, 12, 1, 4, 1},
};
constexpr MigFamily families[] = {
    {"10de:20b0 20b1 20f1 20f6 20bd", 8, 5, a100_40},
    {"10de:20b2 20b5 20f3 20f5", 8, 5, a100_80},
    {"10de:2330 2331 2322 2324", 8, 7, h100_80},
    {"10de:2321 233a 2339", 8, 7, h100_94},
    {"10de:2342 2338 2329", 8, 7, h100_96},
    {"10de:2335 233b", 8, 7, h200},
    {"10de:2901", 8, 0, b200},
    {"10de:2941", 8, 0, gb200},
    {"10de:3182", 8, 0, b300},
    {"10de:31c2", 8, 0, gb300},
    {"10de:20b7", 4, 4, a30},
    {"10de:2bb5 2bb1 2bb4", 12, 4, rtx_pro_6000},
};
// clang-format on

const std::vector<std::string_view>& names() {
    static const auto sorted = [] {
        std::vector<std::string_view> found;
        for (const MigFamily& family : families)
            for (const MigProfile& profile : family.profiles) found.push_back(profile.name);
        std::ranges::sort(found);
        found.erase(std::ranges::unique(found).begin(), found.end());
        return found;
    }();
    return sorted;
}

std::uint16_t slices_of(const MigProfile& profile, int start) {
    return static_cast<std::uint16_t>(((1U << profile.size) - 1) << start);
}

// Places that slices of all kinds still have there, each by its size.
int places(const MigFamily& family, const MigGpu& gpu) {
    int sum = 0;
    for (const MigProfile& profile : family.profiles)
        for (int start = 0; start < family.slices; ++start)
            if (fits_at(family, profile, gpu, start)) sum += profile.size;
    return sum;
}

}  // namespace

std::span<const MigFamily> mig_families() { return families; }

const MigFamily* mig_family(std::string_view model) {
    const GpuModel* known = find_gpu_model(model);
    if (!known) return nullptr;
    std::string_view ids = known->pci_ids;
    while (!ids.empty()) {
        const std::string_view id = ids.substr(0, ids.find(' '));
        ids.remove_prefix(std::min(ids.size(), id.size() + 1));
        const std::string_view device = id.substr(id.find(':') + 1);
        for (const MigFamily& family : families)
            if (id.starts_with("10de:") && family.pci_ids.contains(device)) return &family;
    }
    return nullptr;
}

std::int16_t mig_profile_number(std::string_view name) {
    const auto at = std::ranges::lower_bound(names(), name);
    if (at == names().end() || *at != name) return 0;
    return static_cast<std::int16_t>(at - names().begin() + 1);
}

std::string_view mig_profile_name(std::int16_t number) {
    HOSTLER_ASSERT(number > 0 && static_cast<std::size_t>(number) <= names().size());
    return names()[static_cast<std::size_t>(number) - 1];
}

const MigProfile* find_profile(const MigFamily& family, std::int16_t number) {
    const std::string_view name = mig_profile_name(number);
    const auto found = std::ranges::find(family.profiles, name, &MigProfile::name);
    return found == family.profiles.end() ? nullptr : &*found;
}

bool fits_at(const MigFamily& family, const MigProfile& profile, const MigGpu& gpu, int start) {
    if (!(profile.starts >> start & 1) || (gpu.slices & slices_of(profile, start))) return false;
    if (family.decoders > 0 && gpu.decoders + profile.decoders > family.decoders) return false;
    return gpu.flow + profile.flow <= 1;
}

int best_start(const MigFamily& family, const MigProfile& profile, const MigGpu& gpu) {
    int best = -1, most = -1;
    for (int start = 0; start < family.slices; ++start) {
        if (!fits_at(family, profile, gpu, start)) continue;
        MigGpu after = gpu;
        cut(after, profile, start);
        if (const int left = places(family, after); left > most) best = start, most = left;
    }
    return best;
}

void cut(MigGpu& gpu, const MigProfile& profile, int start) {
    HOSTLER_ASSERT((gpu.slices & slices_of(profile, start)) == 0);
    gpu.slices |= slices_of(profile, start);
    gpu.decoders = static_cast<std::uint8_t>(gpu.decoders + profile.decoders);
    gpu.flow = static_cast<std::uint8_t>(gpu.flow + profile.flow);
    ++gpu.count;
}

void mend(MigGpu& gpu, const MigProfile& profile, int start) {
    HOSTLER_ASSERT((gpu.slices & slices_of(profile, start)) == slices_of(profile, start) && gpu.count > 0);
    gpu.slices = static_cast<std::uint16_t>(gpu.slices & ~slices_of(profile, start));
    gpu.decoders = static_cast<std::uint8_t>(gpu.decoders - profile.decoders);
    gpu.flow = static_cast<std::uint8_t>(gpu.flow - profile.flow);
    --gpu.count;
}

}  // namespace hostler
