// Files that tell podman of programs of ours that it is to run with containers: oci-hooks(5).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hostler::docker {

// For one of podman's folders of hooks: `agent` (the program hostler-agent, absolute) is run with these words
// in `stage`, with each container that has a word in `annotation`.
std::string oci_hook_file(const std::string& agent, std::vector<std::string> words,
                          std::string_view annotation, std::string_view stage);

}  // namespace hostler::docker
