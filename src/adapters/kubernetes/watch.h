// Follows the objects of a kind through cut streams, servers that restart, and versions that were compacted.
#pragma once

#include <deque>
#include <map>

#include "adapters/kubernetes/client.h"

namespace hostler::kubernetes {

enum class Change {
    added,
    modified,
    removed,
    synced,  // All that there is has been told; `object` is empty. Comes after the first list and each
             // relist.
};

struct WatchEvent {
    Change change = Change::synced;
    // As it is now. Removed: as it was last, or only namespace, name and uid where the deletion was missed
    // and found by a relist.
    json::object object{};
};

struct WatchSettings {
    std::int64_t page_size = Client::page_size;
    Duration read_time = std::chrono::minutes{4};   // Asked of the server as timeoutSeconds for each stream.
    Duration read_room = std::chrono::seconds{30};  // Beyond that the stream counts as dead.
    Duration backoff_min = std::chrono::milliseconds{200};  // Doubles with each try in vain.
    Duration backoff_max = std::chrono::seconds{30};
    std::size_t line_bytes_max = 16 << 20;  // Of one event.
    // Begins with a streaming list (sendInitialEvents) where the server has it, else with pages.
    bool stream_initial = true;
};

// Each object is told as added once, then as modified, then as removed, and so again under another uid,
// whatever happens in between: after a relist only what differs is told. Of each object its name, uid and
// version are kept here, never the object.
class Watch {
public:
    Watch(Connection& connection, Kind kind, Selection which, WatchSettings settings = {});
    ~Watch();

    // Waits for the next event, without a bound: trouble that passes (the server is away, the stream is cut,
    // a version was compacted) is waited for with back-off and seen by trouble(). One call at a time. Errors:
    // cancelled; unauthenticated, forbidden, not_found, invalid, exhausted (an event over line_bytes_max):
    // an operator has to act. next() may be called again; it waits for the back-off first.
    Task<WatchEvent> next();

    // Why the last try was in vain; nullopt: it is connected.
    const std::optional<Error>& trouble() const { return trouble_; }
    const std::string& resource_version() const { return version_; }  // Up to which all is told.
    std::size_t size() const { return known_.size(); }
    std::uint64_t lists() const { return lists_; }  // Begun, streaming ones too.

private:
    enum class Phase { list, initial_stream, stream };
    struct Known {
        std::string uid;
        std::string version;
        std::uint64_t list = 0;  // The last one that had it.
    };

    Task<> step();
    Task<> read_page();
    Task<> open_stream();
    Task<> read_stream();
    Result<> take_line(std::string_view line);
    Result<> take_error(const json::object& status);
    void take_object(json::object object);
    void take_removed(json::object object);
    void finish_list();
    void begin_list();
    void leave_stream(bool in_vain);
    Result<> judge(Error error);
    Duration backoff() const;

    Connection& connection_;
    const Kind kind_;
    const Selection which_;
    const WatchSettings settings_;
    bool streaming_lists_;
    Phase phase_;
    std::string version_{};  // To go on from.
    std::string next_page_{};
    std::uint64_t lists_ = 0;
    std::map<ObjectKey, Known> known_{};
    std::deque<WatchEvent> ready_{};
    http::ReplyPtr reply_{};
    std::string held_{};        // Of a line that is not whole yet.
    std::size_t searched_ = 0;  // Bytes of held_ without a line's end.
    bool heard_ = false;        // The stream has brought something.
    Instant opened_{};
    int failures_ = 0;   // In a row.
    bool rest_ = false;  // Before the next try.
    std::optional<Error> trouble_{};
};

}  // namespace hostler::kubernetes
