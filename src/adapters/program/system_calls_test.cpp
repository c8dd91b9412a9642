#include "adapters/program/system_calls.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hostler::program {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t native = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t native = AUDIT_ARCH_AARCH64;
#endif

constexpr std::uint32_t allowed = SECCOMP_RET_ALLOW;
std::uint32_t refused(int error) { return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error); }

// What the kernel answers to a call, of the instructions that we use.
std::uint32_t answer(long call, std::uint64_t argument = 0, std::uint32_t architecture = native) {
    static const auto filter = system_call_filter();
    seccomp_data data{.nr = static_cast<int>(call), .arch = architecture, .args = {argument}};
    std::uint32_t value = 0;
    for (std::size_t at = 0; at < filter.size(); ++at) {
        const auto& one = filter[at];
        const auto jump = [&](bool yes) { at += yes ? one.jt : one.jf; };
        switch (one.code) {
            case BPF_LD | BPF_W | BPF_ABS:
                std::memcpy(&value, reinterpret_cast<const char*>(&data) + one.k, sizeof value);
                break;
            case BPF_JMP | BPF_JEQ | BPF_K: jump(value == one.k); break;
            case BPF_JMP | BPF_JGT | BPF_K: jump(value > one.k); break;
            case BPF_JMP | BPF_JSET | BPF_K: jump((value & one.k) != 0); break;
            case BPF_JMP | BPF_JA: at += one.k; break;
            case BPF_RET | BPF_K: return one.k;
            default: ADD_FAILURE() << "an instruction that is not known: " << one.code; return 0;
        }
    }
    ADD_FAILURE() << "it does not end";
    return 0;
}

TEST(SystemCalls, WhatProgramsNeedIsAllowed) {
    for (const long call :
         {SYS_read, SYS_openat, SYS_mmap, SYS_execve, SYS_futex, SYS_ptrace, SYS_prctl, SYS_seccomp})
        EXPECT_EQ(answer(call), allowed) << call;
    EXPECT_EQ(answer(SYS_clone, CLONE_VM | CLONE_THREAD | SIGCHLD), allowed);
    for (const int family : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK})
        EXPECT_EQ(answer(SYS_socket, static_cast<std::uint64_t>(family)), allowed);
    EXPECT_EQ(answer(SYS_personality, 0xffffffff), allowed);
}

TEST(SystemCalls, WaysOutAreRefused) {
    for (const long call : {SYS_mount, SYS_setns, SYS_bpf, SYS_keyctl, SYS_io_uring_setup, SYS_userfaultfd,
                            SYS_open_by_handle_at, SYS_pivot_root, SYS_perf_event_open})
        EXPECT_EQ(answer(call), refused(EPERM)) << call;
    for (const std::uint64_t flag :
         {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP}) {
        EXPECT_EQ(answer(SYS_clone, flag | SIGCHLD), refused(EPERM));
        EXPECT_EQ(answer(SYS_unshare, flag), refused(EPERM));
    }
    EXPECT_EQ(answer(SYS_unshare, CLONE_FILES), allowed);
    EXPECT_EQ(answer(SYS_clone3), refused(ENOSYS));
    EXPECT_EQ(answer(SYS_socket, AF_VSOCK), refused(EAFNOSUPPORT));
    EXPECT_EQ(answer(SYS_socket, AF_PACKET), refused(EAFNOSUPPORT));
    EXPECT_EQ(answer(SYS_personality, 0x0400000), refused(EPERM));
}

TEST(SystemCalls, WhatIsNotKnownDoesNotExist) {
    EXPECT_EQ(answer(463), refused(ENOSYS));
    EXPECT_EQ(answer(-1), refused(ENOSYS));
    EXPECT_EQ(answer(0x40000000 | SYS_read), refused(ENOSYS)) << "x32";
    EXPECT_EQ(answer(SYS_read, 0, AUDIT_ARCH_I386), refused(ENOSYS));
}

TEST(SystemCalls, TheKernelTakesTheFilter) {
    const pid_t child = ::fork();
    if (child == 0) {
        if (!filter_system_calls()) ::_exit(1);
        if (::unshare(CLONE_NEWUSER) == 0 || errno != EPERM) ::_exit(2);
        if (::syscall(SYS_clone3, nullptr, 0) != -1 || errno != ENOSYS) ::_exit(3);
        if (::socket(AF_VSOCK, SOCK_STREAM, 0) >= 0 || errno != EAFNOSUPPORT) ::_exit(4);
        ::_exit(::socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? 0 : 5);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

}  // namespace
}  // namespace hostler::program
