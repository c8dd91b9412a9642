// Of which machines this one runs programs.
#pragma once

#include <string>
#include <string_view>

namespace hostler::docker {

// This machine's, as images name it: "amd64", "arm64".
std::string machine_architecture();

// By itself, or by an emulator that the operator has registered with the kernel. Also of one that an image
// does not tell ("").
bool runs_programs_of(std::string_view architecture);

}  // namespace hostler::docker
