// Some bytes of every GPU, kept beside the estate: what maps of the whole fleet are made of.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "domain/inventory/claim.h"
#include "domain/inventory/host_record.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// Names by number. Numbers stay as they are while the map lives.
class NameNumbers {
public:
    static constexpr std::uint16_t unknown = 0xffff;
    std::uint16_t of(const std::string& name);  // Unknown where the name is empty, or there are too many.
    std::uint16_t find(const std::string& name) const;
    const std::vector<std::string>& names() const { return names_; }

private:
    std::map<std::string, std::uint16_t> numbers_;
    std::vector<std::string> names_;
};

inline constexpr std::uint8_t byte_unknown = 0xff;
inline constexpr int power_step_w = 5;  // So that a byte has room for 1,270 W.
// GPUs of one host that are in the map; a byte counts them.
inline constexpr std::size_t fleet_gpus_host_max = 254;

// Agents tell the names of models: bounds of their number for each provider and of their bytes; others are
// "other".
inline constexpr std::size_t fleet_models_owner_max = 64;
inline constexpr std::size_t fleet_model_bytes_max = 64;
inline constexpr std::string_view fleet_model_other = "other";

// A host as it lies in the map. The order is that of its GPUs' indexes, then ids.
struct FleetBlock {
    struct Facts {
        std::string name, owner;
        std::uint16_t zone = NameNumbers::unknown;
        std::uint8_t state = byte_unknown;  // Of api::HostState.
        bool heard = false;                 // Its samples are believed to be of now.
        std::vector<std::string> gpus;      // UUIDs.
        std::string use, health;            // Of api::FleetUse and api::GpuState, a byte each.
        std::vector<std::uint16_t> tenants, models;
        bool operator==(const Facts&) const = default;
    };
    struct Samples {
        std::string utilization, temperature, power;  // Percent, °C, steps of power_step_w.
        bool operator==(const Samples&) const = default;
    };
    Facts facts;
    Samples samples;
    std::uint64_t told = 0;     // Number of the last change of its facts,
    std::uint64_t changed = 0;  // and of anything.
};

// Never stored: each term builds it from the estate, and then looks again only at hosts of which something
// changed: their own rows, claims, drains; and at samples of those that report.
class FleetMap {
public:
    static constexpr bool follows_estate = true;
    using Blocks = std::map<std::string, FleetBlock>;  // By host.
    using Place = Blocks::value_type;

    // Sees what was changed since it was called last; at so many hosts at most, and at the others next time.
    void follow(const Desk& desk, std::size_t hosts_max = SIZE_MAX);
    // In a sweep: a term begins with all of them.
    static constexpr std::size_t sweep_max = 1000;
    // This host has told samples.
    void sampled(const Desk& desk, const std::string& host);

    const Blocks& blocks() const { return blocks_; }
    const NameNumbers& zones() const { return zones_; }
    const NameNumbers& tenants() const { return tenants_; }
    const NameNumbers& models() const { return models_; }

    // Of the last change.
    std::uint64_t number() const { return number_; }
    // Whether all that changed since that change can be told: removed hosts are remembered for a while.
    bool remembers(std::uint64_t number) const { return number >= forgotten_ && number <= number_; }
    // Providers that have hosts; "" is the cloud.
    std::vector<std::string> owners() const;
    // Hosts of one of them behind an id, by id: those that `wanted` says, so many at most.
    using Wanted = std::function<bool(const FleetBlock&)>;
    std::vector<const Place*> hosts_of(const std::string& owner, const std::string& behind,
                                       const Wanted& wanted, std::size_t most) const;
    // The same of those that changed, in no order. `samples`: also those of which nothing but samples did.
    std::vector<const Place*> changed_since(const std::string& owner, std::uint64_t number,
                                            bool samples) const;
    struct Gone {
        std::string host, owner;
        std::uint16_t zone = NameNumbers::unknown;
    };
    std::vector<Gone> gone_since(std::uint64_t number) const;
    static constexpr std::size_t gone_max = 4096;

private:
    using Order = std::map<std::uint64_t, const Place*>;
    struct Owned {  // Hosts of one provider.
        std::map<std::string_view, const Place*> hosts;
        Order told, changed;
    };
    void take_out(const Place& place);
    void note_stirred(const Desk& desk);
    void look(const Desk& desk, const std::string& id);
    void drop(const std::string& id);
    void note_gone(const Place& place);
    FleetBlock::Facts facts_of(const Desk& desk, const Host& host);
    std::uint16_t model_of(const std::string& owner, const std::string& name);
    void hold(const Desk& desk, const std::string& id, FleetBlock::Facts& facts);

    Follower<Host> hosts_;
    Follower<Claim> claims_;
    Follower<Drain> drains_;
    std::set<std::string> stirred_;                // Hosts of which something is not as it was.
    std::map<std::string, std::string> claim_at_;  // The host of each claim.
    Blocks blocks_;
    NameNumbers zones_, tenants_, models_;
    std::map<std::string, std::set<std::uint16_t>> models_of_;  // Of each provider, that were ever told.
    std::uint64_t number_ = 0;
    std::uint64_t forgotten_ = 0;  // Number of the last removal that is not remembered.
    std::map<std::string, Owned> owned_;
    std::map<std::uint64_t, Gone> gone_;  // Of where they were: removed, or elsewhere by now.
};

}  // namespace hostler::master
