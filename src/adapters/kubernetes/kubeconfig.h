// kubeconfig files: clusters, users, and contexts that join one of each.
#pragma once

#include <functional>

#include "adapters/kubernetes/access.h"
#include "core/result.h"

namespace hostler::kubernetes {

// The whole text of a file; certificates and keys that a kubeconfig names are read by it. Errors: not_found,
// invalid (too large), unavailable.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;

// The access that a kubeconfig's context gives; an empty `context` means its current-context. Relative paths
// are below `folder`. Only what the context uses is checked. Errors: invalid: every wrong field is in
// Error::fields, with its path ("users[0].user.exec.command"), and in the message.
Result<Access> read_kubeconfig(std::string_view text, std::string_view context, const std::string& folder,
                               const ReadFile& read_file);

// The same for a file. Reads files of this machine: for a Worker, or before the loop runs. Errors: those of
// read_kubeconfig(); not_found, unavailable.
Result<Access> load_kubeconfig(const std::string& path, std::string_view context = {});

// "https://[::1]:6443/path" → address, path, tls and server_name of `into`. Errors: invalid; http is only for
// loopback addresses, since a token would be readable on the way.
Result<> read_server_url(std::string_view url, Access& into);

// A file of at most 1 MiB. Errors: not_found; invalid: it is larger; unavailable.
Result<std::string> read_small_file(const std::string& path);

}  // namespace hostler::kubernetes
