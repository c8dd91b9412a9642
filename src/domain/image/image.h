// Names of container images.
#pragma once

#include <string>
#include <string_view>

namespace hostler {

// The name by which the same image is known everywhere: with its registry ("docker.io" where none is said;
// "library" stands before a name of one word there) and with "latest" where neither tag nor digest is said. A
// digest says more than a tag, which is left out beside it: "nginx:1" is "docker.io/library/nginx:1".
std::string full_image_name(std::string_view name);

}  // namespace hostler
