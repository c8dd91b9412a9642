// A file that says where a role answers, written once it does: for those who start it.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "bin/process.h"

namespace hostler::bin {

using Addresses = std::map<std::string, std::string>;

Result<> write_ready_file(const std::string& path,
                          const Addresses& addresses);  // An empty path writes nothing.
// Errors: unavailable (not there yet, or not whole).
Result<Addresses> read_ready_file(const std::string& path);

template <class Role>
Task<> tell_when_ready(Role& role, std::string path, std::function<Addresses()> addresses) {
    CO_TRY(co_await role.ready());
    co_return write_ready_file(path, addresses());
}

}  // namespace hostler::bin
