// How the container of an instance is run: its entry point, /dev/shm, init, and the time that it has to end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "roles/master/state/desk.h"

namespace hostler::master {

// What a request says of it; what it leaves out stays in `into`. `memory_bytes`: of the instance, 0: no
// limit.
struct ContainerWish {
    const std::optional<std::string>& entrypoint;
    const std::optional<std::string>& shm_size;
    const std::optional<std::int64_t>& stop_grace_s;
    const std::optional<bool>& no_init;
};
void read_container(const Desk& desk, const ContainerWish& wish, std::int64_t memory_bytes,
                    InstanceSpec& into, std::vector<FieldError>& wrong);

// Where the entry point is replaced, the image's CMD counts for nothing: something must be left to run.
void check_command(const InstanceSpec& spec, std::string_view command_field, std::vector<FieldError>& wrong);

// Of its memory, as its claim has it, else as its spec does; 0: no limit.
std::int64_t memory_of(const Desk& desk, const Instance& instance);
// Of /dev/shm: as it was asked for, else half of its memory; without a limit half of its host's. 0: not
// known.
std::int64_t shm_bytes_of(const Desk& desk, const Instance& instance);

std::chrono::seconds stop_grace_of(const Desk& desk, const Instance& instance);
// "Its last run …"; empty: it ended in time, or has not ended.
std::string killed_sentence(const Instance& instance);

// It has so many processes that a command in it may fail.
struct FullProcesses {
    std::string token;  // "processes_full"
    std::string sentence;
    std::string help;
};
std::optional<FullProcesses> full_processes(const Desk& desk, const Instance& instance);

}  // namespace hostler::master
