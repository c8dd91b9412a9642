#include "adapters/program/device_filter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hostler::program {

namespace {

constexpr std::uint8_t answer = 0, context = 1, type = 2, major_number = 4, minor_number = 5;  // Registers.

bpf_insn load(std::uint8_t into, std::size_t offset) {
    return {.code = BPF_LDX | BPF_MEM | BPF_W,
            .dst_reg = into,
            .src_reg = context,
            .off = static_cast<std::int16_t>(offset)};
}
bpf_insn set(std::uint8_t reg, std::int32_t value) {
    return {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = reg, .imm = value};
}
bpf_insn leave() { return {.code = BPF_JMP | BPF_EXIT}; }
bpf_insn unless(std::uint8_t reg, std::int64_t value, std::int16_t skip) {
    return {.code = BPF_JMP32 | BPF_JNE | BPF_K,
            .dst_reg = reg,
            .off = skip,
            .imm = static_cast<std::int32_t>(value)};
}

int bpf(int command, bpf_attr& attributes) {
    return static_cast<int>(::syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

}  // namespace

std::vector<bpf_insn> device_filter(std::span<const GroupDevice> devices) {
    std::vector<bpf_insn> program{load(type, offsetof(bpf_cgroup_dev_ctx, access_type)),
                                  load(major_number, offsetof(bpf_cgroup_dev_ctx, major)),
                                  load(minor_number, offsetof(bpf_cgroup_dev_ctx, minor)),
                                  {.code = BPF_ALU | BPF_AND | BPF_K, .dst_reg = type, .imm = 0xffff}};
    for (const auto& device : devices) {
        const bool any = device.minor < 0;
        const std::int16_t rest = any ? 2 : 3;  // The instructions up to the next device, without this test.
        program.push_back(unless(type, device.block ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR,
                                 static_cast<std::int16_t>(rest + 1)));
        program.push_back(unless(major_number, device.major, rest));
        if (!any) program.push_back(unless(minor_number, device.minor, 2));
        program.push_back(set(answer, 1));
        program.push_back(leave());
    }
    program.push_back(set(answer, 0));
    program.push_back(leave());
    return program;
}

Result<> filter_devices(const std::string& folder, std::span<const GroupDevice> devices) {
    const auto program = device_filter(devices);
    constexpr const char* license = "Apache-2.0";
    bpf_attr load_it{};
    load_it.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
    load_it.insns = reinterpret_cast<std::uint64_t>(program.data());
    load_it.insn_cnt = static_cast<std::uint32_t>(program.size());
    load_it.license = reinterpret_cast<std::uint64_t>(license);
    const int loaded = bpf(BPF_PROG_LOAD, load_it);
    if (loaded < 0)
        return fail(Code::unavailable,
                    fmt::format("the kernel takes no filter of devices: {}", std::strerror(errno)));
    const int group = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bpf_attr attach{};
    attach.target_fd = static_cast<std::uint32_t>(group);
    attach.attach_bpf_fd = static_cast<std::uint32_t>(loaded);
    attach.attach_type = BPF_CGROUP_DEVICE;
    const bool attached = group >= 0 && bpf(BPF_PROG_ATTACH, attach) == 0;
    const int error = errno;
    ::close(loaded);
    if (group >= 0) ::close(group);
    if (attached) return {};
    return fail(Code::unavailable,
                fmt::format("control group {} takes no filter of devices: {}", folder, std::strerror(error)));
}

}  // namespace hostler::program
