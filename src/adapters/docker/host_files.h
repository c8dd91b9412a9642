// How the steps of a recipe reach the package servers that the host reaches.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "adapters/docker/image.h"

namespace hostler::docker {

// The value of an environment variable; null: it is not set. As std::getenv().
using Variables = std::function<const char*(const char* name)>;

// Files for the context of a build, below host/ at the paths where Debian 12 has them, so that `COPY host/ /`
// puts them in place:
//  - etc/ssl/certs/ca-certificates.crt: the authorities that the host trusts, from the file that
//  SSL_CERT_FILE
//    names or the usual one of its distribution; absent where there is none;
//  - etc/pip.conf: index, proxy, patience and authorities of pip, from /etc/pip.conf or the file that
//  PIP_CONFIG_FILE
//    names, and PIP_* variables. An authority file of pip's own is etc/pip-authorities.crt.
// Paths are looked up below `root`. Blocks, shortly. A file that cannot be read counts as absent.
std::vector<ArchiveFile> host_files(const std::filesystem::path& root, const Variables& variables);

// The proxy variables that are set, as a JSON object of build arguments. An engine gives them to each step
// and keeps them out of the image.
std::string proxy_arguments(const Variables& variables);

}  // namespace hostler::docker
