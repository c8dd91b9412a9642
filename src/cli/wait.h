// Waiting for what a call began, with progress for whoever watches.
#pragma once

#include "cli/client.h"
#include "core/task_group.h"

namespace hostler::cli {

// How far something is, and for how long it has been waited for. One line that changes on a terminal;
// elsewhere a line for each new step at once, and for what changes within a step once in `line_interval`.
class Progress {
public:
    static constexpr Duration line_interval = std::chrono::seconds{5};

    explicit Progress(CliWorld& world);
    ~Progress();
    // `told` is how far the step is, in words that name it; empty: nothing but the step is known.
    void show(std::string step, std::string told = {});
    void end();  // Leaves the cursor at the start of a clean line.

private:
    std::string line() const;
    void draw();
    void print();
    void arm(Duration wait);
    CliWorld& world_;
    Instant since_;
    std::string step_, told_;
    std::string printed_;   // Elsewhere: what is to be read already,
    Instant printed_at_{};  // and since when.
    TimerId timer_ = 0;
    bool armed_ = false;
    bool drawn_ = false;  // A line of ours is on the terminal.
};

// What has no probe counts as running when it has run for so long.
inline constexpr Duration settled_after = std::chrono::seconds{5};

enum class Until { running, ended };

// Its program has ended by itself with exit code 0.
bool has_completed(const json::value& instance);

// Watches an instance until it is `until`, or has completed, and answers it as the API shows it (null: it is
// not known any more, when it was to end). Errors: timeout; internal with the instance's reason if it ends
// when it was to run; as the API's.
Task<json::value> wait_instance(ApiClient& client, CliWorld& world, std::string instance, std::string tenant,
                                Until until, Duration patience);

// Asks after a host that is drained until nothing is left there, and answers it. Errors: timeout; conflict
// (nobody drains it any more); as the API's.
Task<json::value> wait_drained(ApiClient& client, CliWorld& world, std::string host, Duration patience);

// Asks after an operation until it is done. Errors: timeout; what it failed with; as the API's.
Task<json::value> wait_operation(ApiClient& client, CliWorld& world, std::string id, Duration patience);

}  // namespace hostler::cli
