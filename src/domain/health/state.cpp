#include "domain/health/state.h"

#include <fmt/format.h>

namespace hostler {

std::string sentence(Remedy remedy, const std::string& gpu) {
    switch (remedy) {
        case Remedy::none: return "";
        case Remedy::restart_app: return "Restart the application; the GPU is well.";
        case Remedy::watch: return "Nothing to do now: it is forgotten a day after the last time.";
        case Remedy::drain_and_reset:
            return fmt::format(
                "Stop what runs on it, then reset it on its host: nvidia-smi --gpu-reset -i {}; or reboot "
                "the host.",
                gpu);
        case Remedy::service:
            return "See to the machine: cooling, power, cables, how the board sits in its slot.";
        case Remedy::reboot:
            return "Stop what runs on its host, then reboot the host; if that does not help, switch its "
                   "power off "
                   "and on.";
        case Remedy::replace: return "Have the board replaced.";
    }
    return "";
}

}  // namespace hostler
