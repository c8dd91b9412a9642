// Which system calls a program may make. It has the kernel's permissions of a user without privilege anyway;
// this leaves out what has been used most to get more of them.
#pragma once

#include <linux/filter.h>

#include <vector>

#include "core/result.h"

namespace hostler::program {

// Calls that are newer than the filter, and those of another word size, answer ENOSYS; namespaces, keys,
// io_uring, mounts and the like EPERM; sockets but of AF_UNIX, INET, INET6 and NETLINK EAFNOSUPPORT.
std::vector<sock_filter> system_call_filter();

// For this process and all that it starts. It cannot be taken off. Errors: unavailable.
Result<> filter_system_calls();

}  // namespace hostler::program
