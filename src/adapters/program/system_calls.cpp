#include "adapters/program/system_calls.h"

#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace hostler::program {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
#error "no filter of system calls for this architecture"
#endif

// mseal(2), Linux 6.10. The filter knows all calls up to it.
constexpr std::uint32_t call_last = 462;
// Newer than the headers that this is built with.
constexpr std::uint32_t call_statmount = 457, call_listmount = 458, call_lsm_set_self_attr = 460;

// The same that containers are refused (adapters/docker/seccomp.cpp), for the same reasons.
constexpr std::uint32_t refused[] = {
    SYS_acct,
    SYS_add_key,
    SYS_bpf,
    SYS_clock_settime,
    SYS_delete_module,
    SYS_fanotify_init,
    SYS_finit_module,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fsopen,
    SYS_fspick,
    SYS_init_module,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_io_uring_setup,
    SYS_kexec_file_load,
    SYS_kexec_load,
    SYS_keyctl,
    call_listmount,
    SYS_lookup_dcookie,
    call_lsm_set_self_attr,
    SYS_mount,
    SYS_mount_setattr,
    SYS_move_mount,
    SYS_nfsservctl,
    SYS_open_by_handle_at,
    SYS_open_tree,
    SYS_perf_event_open,
    SYS_pivot_root,
    SYS_quotactl,
    SYS_quotactl_fd,
    SYS_reboot,
    SYS_request_key,
    SYS_setdomainname,
    SYS_sethostname,
    SYS_setns,
    SYS_settimeofday,
    call_statmount,
    SYS_swapoff,
    SYS_swapon,
    SYS_syslog,
    SYS_umount2,
    SYS_userfaultfd,
    SYS_vhangup,
#if defined(__x86_64__)
    SYS_create_module,
    SYS_get_kernel_syms,
    SYS_ioperm,
    SYS_iopl,
    SYS_modify_ldt,
    SYS_query_module,
    SYS__sysctl,
    SYS_sysfs,
    SYS_uselib,
    SYS_ustat,
#endif
};

// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; unshare() also knows NEWTIME, which is
// part of the signal's number in clone().
constexpr std::uint32_t new_namespaces = 0x7e020000, new_time = 0x80;
constexpr std::uint32_t families[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
constexpr std::uint32_t personalities[] = {0, 0x0008, 0x20000, 0x20008, 0x40000, 0xffffffff};

sock_filter statement(std::uint16_t code, std::uint32_t value) { return {code, 0, 0, value}; }
sock_filter load(std::size_t offset) {
    return statement(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}
sock_filter leave(std::uint32_t action) { return statement(BPF_RET | BPF_K, action); }
sock_filter unless(std::uint16_t comparison, std::uint32_t value, std::uint8_t skip) {
    return {static_cast<std::uint16_t>(BPF_JMP | comparison | BPF_K), 0, skip, value};
}
sock_filter refuse(int error) {
    return leave(SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(error) & SECCOMP_RET_DATA));
}

// The low half of the first argument: no call here looks at the other.
constexpr std::size_t first_argument = offsetof(seccomp_data, args);

void refuse_flags(std::vector<sock_filter>& filter, std::uint32_t call, std::uint32_t flags) {
    filter.push_back(unless(BPF_JEQ, call, 4));
    filter.push_back(load(first_argument));
    filter.push_back(unless(BPF_JSET, flags, 1));
    filter.push_back(refuse(EPERM));
    filter.push_back(leave(SECCOMP_RET_ALLOW));
}

void allow_first(std::vector<sock_filter>& filter, std::uint32_t call, std::span<const std::uint32_t> values,
                 int error) {
    filter.push_back(unless(BPF_JEQ, call, static_cast<std::uint8_t>(2 * values.size() + 2)));
    filter.push_back(load(first_argument));
    for (const auto value : values) {
        filter.push_back(unless(BPF_JEQ, value, 1));
        filter.push_back(leave(SECCOMP_RET_ALLOW));
    }
    filter.push_back(refuse(error));
}

}  // namespace

std::vector<sock_filter> system_call_filter() {
    std::vector<sock_filter> filter{load(offsetof(seccomp_data, arch)), unless(BPF_JEQ, architecture, 1),
                                    statement(BPF_JMP | BPF_JA, 1), refuse(ENOSYS),
                                    load(offsetof(seccomp_data, nr)),
                                    // Also those of x32, whose numbers have a high bit.
                                    unless(BPF_JGT, call_last, 1), refuse(ENOSYS)};
    for (const auto call : refused) {
        filter.push_back(unless(BPF_JEQ, call, 1));
        filter.push_back(refuse(EPERM));
    }
    // The flags of clone3() lie in memory, where no filter looks; told that it does not exist, programs use
    // clone().
    filter.push_back(unless(BPF_JEQ, SYS_clone3, 1));
    filter.push_back(refuse(ENOSYS));
    refuse_flags(filter, SYS_clone, new_namespaces);
    refuse_flags(filter, SYS_unshare, new_namespaces | new_time);
    // AF_VSOCK reaches the hypervisor, and rare families have the kernel load old code.
    allow_first(filter, SYS_socket, families, EAFNOSUPPORT);
    allow_first(filter, SYS_socketpair, families, EAFNOSUPPORT);
    allow_first(filter, SYS_personality, personalities, EPERM);
    filter.push_back(leave(SECCOMP_RET_ALLOW));
    return filter;
}

Result<> filter_system_calls() {
    auto filter = system_call_filter();
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
        return {};
    return fail(Code::unavailable,
                fmt::format("the kernel takes no filter of system calls: {}", std::strerror(errno)));
}

}  // namespace hostler::program
