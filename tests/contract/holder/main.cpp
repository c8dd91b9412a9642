// The process that holds a program, without the agent around it.
#include "adapters/program/holder.h"

int main() { return hostler::program::hold_main(); }
