// Stock: instances made ready in advance. A slot holds the resources; a container is created at start.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "domain/object.h"

namespace hostler {

// When idle slots give way to what finds no room beside them.
enum class Reclaim {
    never,  // They wait for instances of their spec.
    idle,   // To instances that are placed directly, but for those that are kept.
};
BOOST_DESCRIBE_ENUM(Reclaim, never, idle)

// A named shape. Whoever first makes stock of it says what it is; that never changes.
struct Spec {
    std::string name;
    std::int64_t cpu_milli = 0;
    std::int64_t memory_bytes = 0;
    std::string gpu_type;  // "H100 SXM5 80GB"; matched without case. Empty: any.
    int gpu_count = 0;
    std::string cpu;  // As it was written, for people.
    std::string memory;
    std::int64_t created_at = 0;
    Reclaim reclaim = Reclaim::never;  // Of its stock.
    int keep = 0;                      // So many slots that stand ready never give way.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Spec, (),
                      (name, cpu_milli, memory_bytes, gpu_type, gpu_count, cpu, memory, created_at, reclaim,
                       keep))

enum class SlotPhase {
    pending,  // Wanted; nowhere to put it at the moment.
    idle,     // `init`: resources locked, waiting for an instance.
    used,     // An instance lives in it.
};
BOOST_DESCRIBE_ENUM(SlotPhase, pending, idle, used)

struct Slot {
    std::string id;  // "s-…"
    std::string spec;
    std::string zone;  // Where it is wanted; empty: anywhere.
    SlotPhase phase = SlotPhase::pending;
    std::string claim;     // When idle or used.
    std::string instance;  // When used.
    std::string message;   // Why it is pending.
    std::string gave_way;  // To which instance, while it is pending since then.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Slot, (), (id, spec, zone, phase, claim, instance, message, gave_way))

// What each host of a spec's stock is to have before anybody asks for it: images, by their names, and
// templates, whose image is made there by its recipe.
struct StockImages {
    std::string spec;
    std::vector<std::string> images;
    std::vector<std::string> templates;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(StockImages, (), (spec, images, templates))

}  // namespace hostler
