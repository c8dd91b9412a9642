// What the hardware is and does, however long its drivers take to say so.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/signal.h"
#include "core/task_group.h"
#include "domain/health/book.h"
#include "roles/agent/messages_fwd.h"
#include "roles/agent/settings.h"

namespace hostler::agent {

// Asks every source by itself. Who does not answer in time is left out, is not asked again until it has
// answered, and its GPUs become unresponsive; the others do not notice.
class Sampler {
public:
    // `changed`: facts, health or faults have.
    Sampler(const Settings& settings, const Ports& ports, std::function<void()> changed);
    ~Sampler();

    Task<> discover();  // Looks for everything anew.
    Task<> watch();     // Discovers and samples now and then, takes faults; until it is cancelled.
    Task<> close();

    struct Samples {
        std::vector<GpuSample> gpus;
        std::optional<HostSample> host;
        std::map<std::int64_t, std::string> containers;  // Of the GPUs' processes that are in one.
    };
    // Who asks while another does gets the same answer.
    Task<Samples> sample();

    const HostFacts& facts() const { return facts_; }
    const health::Book& health() const { return health_; }
    // Somebody has seen to it: it is tested, and one that is gone is forgotten. Errors: not_found.
    Result<> test_gpu(const std::string& uuid);
    // Those that wait for their benchmark to return, and what it found.
    std::vector<std::string> retests_due() const { return health_.due(moment()); }
    void note_retest(const std::string& uuid, const health::Retest& retest);
    struct SeenFault {
        GpuFault fault;
        WallTime at;
    };
    std::vector<SeenFault> take_faults() { return std::exchange(faults_, {}); }
    // A process that has one of the GPUs (or this one), as the last samples show it, in words; empty: none is
    // known.
    std::string gpu_user(std::string_view uuid = {}) const;
    std::string cdi_name(const std::string& uuid) const;  // Empty: it cannot be lent.
    const std::vector<GpuFacts>& gpus() const { return facts_.gpus; }

    static constexpr std::size_t faults_max = 1024;  // That wait for a report; the oldest go.

private:
    struct Source {
        Telemetry* telemetry = nullptr;
        bool busy = false;
        Instant since{};  // Busy since.
        std::optional<GpuInventory> inventory;
        std::vector<GpuSample> samples;  // Of this round.
        std::string trouble;
    };
    enum class Of { gpus, everything };
    Task<Samples> sample_in_turn(Of of);
    Task<Samples> take_samples(Of of);
    Task<> find_containers(Samples& all);
    Task<> discover_one(Source& source);
    Task<> sample_one(Source& source);
    Task<> facts_of_host();
    Task<> sample_of_host();
    void begin(Source& source, Task<> task);
    Task<> settle(Duration time);
    bool busy() const;
    void merge();
    void recall();
    void note_unseen(const std::vector<GpuFacts>& gpus);
    std::vector<GpuFault> placed(const GpuFault& fault) const;
    uplink::KeptGpu kept_of(const GpuFacts& gpu) const;
    Task<> keep();
    health::Moment moment() const { return {ports_.timers.now(), ports_.timers.wall()}; }
    void mark_hung();
    bool take_new_faults();

    const Settings& settings_;
    Ports ports_;
    std::function<void()> changed_;
    std::vector<Source> sources_;
    bool host_busy_ = false;
    HostFacts host_;  // Without GPUs.
    std::optional<HostSample> host_sample_;
    HostFacts facts_;
    std::map<std::string, GpuFacts> gone_;  // Were there once.
    health::Book health_;
    Instant looked_{};                         // When samples were last asked for.
    bool fault_seen_ = false;                  // By who sampled: it is to be looked for everything anew.
    bool recalled_ = false;                    // What the journal says is in the book;
    std::map<std::string, GpuFacts> missing_;  // it knew these, and not every source has answered yet.
    Instant begun_;
    std::map<std::string, std::string> kept_;  // In the journal, by UUID, energy apart.
    bool keeping_ = false;
    std::vector<SeenFault> faults_;
    std::map<std::string, std::int64_t> xids_;  // The last of each GPU.
    std::optional<Of> sampling_;
    Samples latest_;
    std::uint64_t taken_ = 0;  // How often all went well.
    Signal sampled_;
    Signal answered_;
    TaskGroup tasks_;
};

}  // namespace hostler::agent
