// How each GPU fares: what was held against it, and its way back.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/timers.h"
#include "domain/health/retest.h"
#include "domain/health/table.h"
#include "domain/inventory/host.h"

namespace hostler::health {

// A moment: one clock to count by, one to tell people.
struct Moment {
    Instant at{};
    WallTime wall{};
};

// What outlives the process that keeps the book.
struct Memory {
    std::string boot_id;
    Metric energy_mj;
    GpuState state;
    bool operator==(const Memory&) const = default;
};

// Remembers faults until the GPU was reset: one that fell off the bus does not heal by silence. A sample that
// shows the energy counter starting over (a reset, a driver loaded anew), that it is back after it was away,
// or a boot of its host says that it was; then it is tested, and returns when nothing speaks against it for
// `test`. The counter is not read in every sample: it may tell late of a reset, and a fault that has come
// since it was read stays, unless the GPU was away after the fault. What samples show by themselves holds as
// long as they do; after something as bad as a fault the GPU is tested too. Where there is a bench, a benchmark
// decides after the test.
class Book {
public:
    // `bench`: somebody looks at due(), and tells what a benchmark found.
    explicit Book(Duration test, bool bench = false) : test_(test), bench_(bench) {}

    void note(const GpuFault& fault, const Moment& now);
    // `facts`: what is known of the GPU; null: nothing.
    void note(const GpuSample& sample, const GpuFacts* facts, const Moment& now);
    // The PCI bus has it, and the driver that serves others here does not count it; or no more.
    void note_unseen(const std::string& uuid, bool unseen, const Moment& now);
    // It was seen to by hand: what is held against it is past if its test shows no more.
    void test(const std::string& uuid, const Moment& now);
    void forget(const std::string& uuid) { gpus_.erase(uuid); }
    // Nothing has spoken against them for `test`: they wait for their benchmark.
    std::vector<std::string> due(const Moment& now) const;
    // Of one that is due; of another it is let pass.
    void note(const std::string& uuid, const Retest& retest, const Moment& now);

    GpuState of(const std::string& uuid) const;
    // To be kept; nullopt: nothing is held against it.
    std::optional<Memory> memory(const std::string& uuid, const std::string& boot_id) const;
    // What was kept. After another boot the GPU was reset.
    void recall(const std::string& uuid, const Memory& memory, const std::string& boot_id, const Moment& now);

    // Of different kinds or codes, each GPU; the mildest and oldest go first.
    static constexpr std::size_t evidence_max = 16;

private:
    // A condition counts when it has lasted, and ends when it has been absent for as long.
    struct Lasting {
        std::optional<Instant> since;  // The other way round than `on`, without a break.
        bool on = false;
    };
    // A counter, and when it had which value.
    struct Rate {
        std::optional<std::int64_t> value;
        Instant since{};
        bool high = false;
    };
    struct EndedTest {
        Instant until{};      // It would have lasted.
        std::int64_t at = 0;  // µs, UTC: when it was ended.
    };
    struct Entry {
        std::vector<GpuEvidence> held;  // From faults.
        std::map<Condition, GpuEvidence> shown;
        std::map<Condition, Lasting> lasting;
        std::optional<GpuEvidence> left;  // The worst that samples showed, until the test is over.
        std::map<Condition, Rate> rates;
        Metric ecc_uncorrected;
        std::int64_t nvlinks_max = 0;
        Metric energy_mj;
        bool fault_is_new = false;                       // Noted since `energy_mj` was read.
        std::map<std::int64_t, std::int64_t> explained;  // NVLink XIDs: when their numbers came last.
        std::optional<EndedTest> ended;                  // By the last fault that ended one.
        bool away = false;
        std::optional<Instant> testing_until;
        WallTime testing_until_wall{};
        GpuHealth before = GpuHealth::healthy;
        std::int64_t since = 0;
    };

    static bool is_explained(const Entry& entry, const GpuFault& fault, const Moment& now);
    static void explain(Entry& entry, const GpuFault& fault, const Moment& now);
    void begin_test(Entry& entry, const Moment& now);
    static void take_back(Entry& entry);
    void judge(Entry& entry, const GpuSample& sample, const GpuFacts* facts, const Moment& now);
    void judge_links(Entry& entry, const GpuSample& sample, const GpuFacts* facts, const Moment& now);
    static void show(Entry& entry, Condition condition, bool is, const Moment& now, std::string said = {},
                     std::int64_t code = 0);
    static void show_lasting(Entry& entry, Condition condition, std::optional<bool> is, const Moment& now);
    static void show_rate(Entry& entry, Condition condition, const Metric& counter, std::int64_t per_minute,
                          const Moment& now);
    void settle(Entry& entry, const Moment& now);
    static GpuState state_of(const Entry& entry);

    Duration test_;
    bool bench_;
    std::map<std::string, Entry> gpus_;
};

}  // namespace hostler::health
