#include "roles/master/state/feature.h"
#include "roles/master/command/commands.h"

namespace hostler::master {

extern const Feature command_feature{
    .name = "command",
    .sweep = [](Term&, Desk& desk) { expire_commands(desk); },
    .host_gone = drop_commands,
};

}  // namespace hostler::master
