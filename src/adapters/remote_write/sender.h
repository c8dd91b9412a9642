// Sends what is in the backlog, in order, until the receiver has it.
#pragma once

#include "adapters/remote_write/backlog.h"
#include "core/metrics.h"
#include "core/timers.h"
#include "ports/outgoing.h"

namespace hostler::remote_write {

struct Target {
    std::string url;
    std::vector<std::pair<std::string, std::string>> headers{};  // "Authorization" and the like.
    std::string token_file{};   // Read before each request: "Authorization: Bearer …". Empty: none.
    std::string authorities{};  // PEM; empty: the system's.
    Duration deadline = std::chrono::seconds{30};  // Of a request.
    Duration backoff_min = std::chrono::milliseconds{500};
    Duration backoff_max = std::chrono::seconds{30};
    Duration retry_after_max = std::chrono::minutes{5};  // A receiver is not believed beyond.
};

class Sender {
public:
    Sender(Timers& timers, Outgoing& outgoing, Backlog& backlog, Target target)
        : timers_(timers), outgoing_(outgoing), backlog_(backlog), target_(std::move(target)) {}

    Task<> run();  // Until it is cancelled.
    void write_metrics(MetricsPage& page) const;

    struct Count {
        std::uint64_t sent = 0;     // Samples that the receiver took,
        std::uint64_t refused = 0;  // and those that it refuses for good.
        std::uint64_t failed = 0;   // Requests that are sent again.
    };
    const Count& count() const { return count_; }

    // A refused message is halved until what is refused is alone; at most so many requests for one.
    static constexpr int parts_max = 64;

private:
    enum class Fate { taken, refused };
    Task<> settle(Message message);
    Task<Fate> deliver(const Message& message);  // Tries until one of the two is known.
    Task<HttpAnswer> request(const Message& message);
    Task<> rest(Duration asked);

    Timers& timers_;
    Outgoing& outgoing_;
    Backlog& backlog_;
    const Target target_;
    Duration backoff_{};
    bool in_trouble_ = false;
    Count count_;
};

}  // namespace hostler::remote_write
