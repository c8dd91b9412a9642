#include "domain/instance/life.h"

namespace hostler {

std::string_view state_of(InstancePhase phase) {
    switch (phase) {
        case InstancePhase::placed:
        case InstancePhase::pulling:
        case InstancePhase::starting:
        case InstancePhase::probing: return "ready";
        case InstancePhase::running: return "running";
        case InstancePhase::halting:
        case InstancePhase::stopping: return "stopping";
        case InstancePhase::resting:
        case InstancePhase::stopped: return "stopped";
        case InstancePhase::failed: return "failed";
        case InstancePhase::lost: return "lost";
    }
    return "";
}

}  // namespace hostler
