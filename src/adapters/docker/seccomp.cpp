#include "adapters/docker/seccomp.h"

#include <boost/json.hpp>
#include <cstdint>
#include <string_view>

namespace hostler::docker {

namespace {

namespace json = boost::json;

// What programs need, by subject. A call that only one architecture has is left out by the engine elsewhere.
constexpr std::string_view allowed[] = {
    // Files.
    "access chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2 "
    "fadvise64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr "
    "flistxattr "
    "flock fremovexattr fsetxattr fstat fstatfs fsync ftruncate futimesat getcwd getdents getdents64 "
    "getxattr "
    "ioctl lchown lgetxattr link linkat listxattr llistxattr lremovexattr lseek lsetxattr lstat mkdir "
    "mkdirat "
    "mknod mknodat newfstatat open openat openat2 pread64 preadv preadv2 pwrite64 pwritev pwritev2 read "
    "readahead readlink readlinkat readv removexattr rename renameat renameat2 rmdir sendfile setxattr "
    "splice "
    "stat statfs statx symlink symlinkat sync sync_file_range syncfs tee truncate umask unlink unlinkat "
    "utime "
    "utimensat utimes vmsplice write writev cachestat",
    "fanotify_mark inotify_add_watch inotify_init inotify_init1 inotify_rm_watch name_to_handle_at",
    "landlock_add_rule landlock_create_ruleset landlock_restrict_self chroot",
    // Waiting.
    "epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 pause poll "
    "ppoll "
    "pselect6 select signalfd signalfd4 timerfd_create timerfd_gettime timerfd_settime io_cancel io_destroy "
    "io_getevents io_pgetevents io_setup io_submit",
    // Memory.
    "brk get_mempolicy madvise mbind membarrier memfd_create memfd_secret mincore mlock mlock2 mlockall mmap "
    "mprotect mremap msync munlock munlockall munmap map_shadow_stack migrate_pages move_pages pkey_alloc "
    "pkey_free pkey_mprotect process_madvise process_mrelease remap_file_pages set_mempolicy "
    "set_mempolicy_home_node mseal",
    // Processes, threads and their users.
    "alarm capget capset execve execveat exit exit_group fork futex futex_requeue futex_wait futex_waitv "
    "futex_wake get_robust_list get_thread_area getcpu getegid geteuid getgid getgroups getitimer getpgid "
    "getpgrp getpid getppid getpriority getresgid getresuid getrlimit getrusage getsid gettid getuid "
    "ioprio_get ioprio_set kcmp kill pidfd_getfd pidfd_open pidfd_send_signal prctl prlimit64 "
    "process_vm_readv process_vm_writev ptrace restart_syscall rseq rt_sigaction rt_sigpending "
    "rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo "
    "sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr sched_getparam "
    "sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setattr sched_setparam "
    "sched_setscheduler sched_yield seccomp set_robust_list set_thread_area set_tid_address setfsgid "
    "setfsuid "
    "setgid setgroups setitimer setpgid setpriority setregid setresgid setresuid setreuid setrlimit setsid "
    "setuid sigaltstack tgkill times tkill uname vfork wait4 waitid",
    "arch_prctl",
    // Between processes.
    "mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink msgctl msgget msgrcv msgsnd pipe "
    "pipe2 semctl semget semop semtimedop shmat shmctl shmdt shmget",
    // Sockets that are there.
    "accept accept4 bind connect getpeername getsockname getsockopt listen recvfrom recvmmsg recvmsg "
    "sendmmsg "
    "sendmsg sendto setsockopt shutdown",
    // Time and the machine.
    "adjtimex clock_adjtime clock_getres clock_gettime clock_nanosleep getrandom gettimeofday nanosleep "
    "sysinfo time timer_create timer_delete timer_getoverrun timer_gettime timer_settime",
};

// EPERM, as from a kernel without the privilege, so that programs say what they always say then. Beside
// what only an administrator may do anyway: keys (no namespace keeps them apart), asynchronous calls that no
// filter sees (io_uring), and what has been used most to break out of containers.
constexpr std::string_view refused =
    "acct add_key bpf clock_settime create_module delete_module fanotify_init finit_module fsconfig fsmount "
    "fsopen fspick get_kernel_syms init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl "
    "kexec_file_load kexec_load keyctl listmount lookup_dcookie lsm_set_self_attr modify_ldt mount "
    "mount_setattr move_mount nfsservctl open_by_handle_at open_tree perf_event_open pivot_root "
    "query_module quotactl quotactl_fd reboot request_key setdomainname sethostname setns settimeofday "
    "statmount swapoff swapon sysfs syslog umount umount2 uselib userfaultfd ustat vhangup vm86 vm86old";

constexpr int eperm = 1;
constexpr int enosys = 38;
// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; unshare() also knows NEWTIME, which is
// part of the signal's number in clone().
constexpr std::int64_t new_namespaces = 0x7e020000;
constexpr std::int64_t new_time = 0x80;
constexpr std::int64_t families[] = {1, 2, 10, 16};  // AF_UNIX, AF_INET, AF_INET6, AF_NETLINK.
constexpr std::int64_t personalities[] = {0, 0x0008, 0x20000, 0x20008, 0x40000, 0xffffffff};

json::array words(std::string_view text) {
    json::array all;
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        if (end > 0) all.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return all;
}

json::object rule(json::array names, const char* action, json::array arguments = {}) {
    return {{"names", std::move(names)}, {"action", action}, {"args", std::move(arguments)}};
}

json::object refusal(json::array names, int error, json::array arguments = {}) {
    auto made = rule(std::move(names), "SCMP_ACT_ERRNO", std::move(arguments));
    made["errnoRet"] = error;
    return made;
}

json::array first_argument(const char* comparison, std::int64_t value, std::int64_t second = 0) {
    return {json::object{{"index", 0}, {"value", value}, {"valueTwo", second}, {"op", comparison}}};
}

}  // namespace

std::string seccomp_profile() {
    json::array rules;
    for (const auto subject : allowed) rules.push_back(rule(words(subject), "SCMP_ACT_ALLOW"));
    rules.push_back(refusal(words(refused), eperm));
    // Flags that ask for no namespace. Those of clone3() lie in memory, where no filter looks; told that it
    // does not exist, programs use clone().
    const auto no_namespace = [&](const char* call, std::int64_t mask) {
        rules.push_back(rule({call}, "SCMP_ACT_ALLOW", first_argument("SCMP_CMP_MASKED_EQ", mask, 0)));
        for (std::int64_t bit = 1; bit <= mask; bit <<= 1)
            if (mask & bit)
                rules.push_back(refusal({call}, eperm, first_argument("SCMP_CMP_MASKED_EQ", bit, bit)));
    };
    no_namespace("clone", new_namespaces);
    no_namespace("unshare", new_namespaces | new_time);
    rules.push_back(refusal({"clone3"}, enosys));
    // No others: AF_VSOCK reaches the hypervisor, and rare ones have the kernel load what nobody maintains.
    for (const auto family : families)
        rules.push_back(
            rule({"socket", "socketpair"}, "SCMP_ACT_ALLOW", first_argument("SCMP_CMP_EQ", family)));
    for (const auto personality : personalities)
        rules.push_back(rule({"personality"}, "SCMP_ACT_ALLOW", first_argument("SCMP_CMP_EQ", personality)));
    const auto architecture = [](const char* name) {
        return json::object{{"architecture", name}, {"subArchitectures", json::array{}}};
    };
    return json::serialize(json::object{
        {"defaultAction", "SCMP_ACT_ERRNO"},
        {"defaultErrnoRet", enosys},
        {"archMap", json::array{architecture("SCMP_ARCH_X86_64"), architecture("SCMP_ARCH_AARCH64")}},
        {"syscalls", std::move(rules)}});
}

}  // namespace hostler::docker
