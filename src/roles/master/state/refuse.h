// How rules say no to what is in conflict with how things are.
#pragma once

#include <string>

#include "core/result.h"

namespace hostler::master {

// Code::conflict; `help`: what would help, a sentence; empty: nothing.
inline std::unexpected<Error> refuse(std::string message, std::string reason, std::string help) {
    Error error{Code::conflict, std::move(message), std::move(reason)};
    error.help = std::move(help);
    return std::unexpected(std::move(error));
}

}  // namespace hostler::master
