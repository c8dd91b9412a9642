// What networks on a host promise (ports/network.h). Containers stand in them, so the engine's rigs carry
// them.
#pragma once

#include "engine_contract.h"

namespace hostler::contract {

class NetworkContract : public EngineContract {};

}  // namespace hostler::contract
