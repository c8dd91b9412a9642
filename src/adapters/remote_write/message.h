// One remote-write request, as it goes over the wire.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "domain/series/sample.h"

namespace hostler::remote_write {

struct Message {
    std::string body;  // A WriteRequest, as a snappy block.
    std::uint64_t samples = 0;
    series::Millis newest = 0;  // Of its samples' times.
    bool operator==(const Message&) const = default;
};

// Makes messages of samples, in the order in which they are added.
class MessageWriter {
public:
    // By name, without "__name__"; the names are Prometheus's.
    using Labels = std::vector<std::pair<std::string, std::string>>;

    explicit MessageWriter(std::size_t samples_max) : samples_max_(samples_max) {}
    void add(std::string_view metric, const Labels& labels, double value, series::Millis time);
    std::vector<Message> take();  // What was added.

private:
    void end_message();
    const std::size_t samples_max_;
    std::string request_;  // The one that is being written.
    std::uint64_t samples_ = 0;
    series::Millis newest_ = 0;
    std::vector<Message> done_;
};

// In two, by order; a message of one series comes back alone. Errors: invalid (no message of ours).
Result<std::vector<Message>> halves(const Message& message);

}  // namespace hostler::remote_write
