// What the master asks an agent to do: durable before it is sent, sent until it is answered.
#pragma once

#include <boost/describe.hpp>
#include <string>

#include "domain/life.h"
#include "domain/object.h"

namespace hostler {

enum class Verb {
    start_workload,
    stop_workload,
    stop_unused,  // Stop it if nobody uses it.
    create_volume,
    delete_volume,
    remove_network,
    pull_image,
    stop_left,  // Stop what an instance has left there when it moved.
    test_gpu,
    measure_host,
    prove_gpus,  // That they have the memory that they say, all at the same time.
    node_step,   // Of a driver, about a node of a cluster.
    node_clean,  // Whether anything of the node is left there.
};
BOOST_DESCRIBE_ENUM(Verb, start_workload, stop_workload, stop_unused, create_volume, delete_volume,
                    remove_network, pull_image, stop_left, test_gpu, measure_host, prove_gpus, node_step,
                    node_clean)

enum class CommandPhase { queued, running, done, failed, expired };
BOOST_DESCRIBE_ENUM(CommandPhase, queued, running, done, failed, expired)

enum class CommandEvent { begin, succeed, fail, expire };
BOOST_DESCRIBE_ENUM(CommandEvent, begin, succeed, fail, expire)

inline constexpr Edge<CommandPhase, CommandEvent> command_life[] = {
    {CommandPhase::queued, CommandEvent::begin, CommandPhase::running},
    {CommandPhase::queued, CommandEvent::succeed, CommandPhase::done},
    {CommandPhase::queued, CommandEvent::fail, CommandPhase::failed},
    {CommandPhase::queued, CommandEvent::expire, CommandPhase::expired},
    {CommandPhase::running, CommandEvent::succeed, CommandPhase::done},
    {CommandPhase::running, CommandEvent::fail, CommandPhase::failed},
    {CommandPhase::running, CommandEvent::expire, CommandPhase::expired},
};
static_assert(is_deterministic(command_life) && is_final(command_life, CommandPhase::expired));

// What is sent is made anew from verb, subject and generation: an object never changes within a generation.
struct HostCommand {
    std::string id;  // "cmd-…"
    std::string host;
    Verb verb = Verb::start_workload;
    std::string subject;  // Instance, volume, subnet, host, GPU or node of a cluster; of an image and a host,
                          // and of an instance and a host, a name of their own.
    std::uint64_t subject_generation = 0;
    CommandPhase phase = CommandPhase::queued;
    std::string message;  // How far it is, or how it ended.
    std::int64_t created_at = 0;
    std::int64_t expires_at = 0;
    std::string image;     // Of pull_image.
    bool passing = false;  // It is asked again and again: its end is not kept.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(HostCommand, (),
                      (id, host, verb, subject, subject_generation, phase, message, created_at, expires_at,
                       image, passing))

}  // namespace hostler
