// The process that holds a program, and the one that keeps one of a cluster, without the agent around them.
#include <string_view>

#include "adapters/node_steps/keeper.h"
#include "adapters/node_steps/settings.h"
#include "adapters/program/holder.h"

int main(int argc, char** argv) {
    if (argc == 4 && std::string_view{argv[1]} == hostler::node_steps::keep_command)
        return hostler::node_steps::keep_main(argv[2], argv[3]);
    return hostler::program::hold_main();
}
