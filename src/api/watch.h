// Answers that are streams of server-sent events.
#pragma once

#include <fmt/format.h>

#include <string>

#include "api/codec.h"
#include "core/task.h"

namespace hostler::api {

// Where server-sent events go. The first send() begins the answer (200, text/event-stream, no-store).
class EventSink {
public:
    virtual ~EventSink() = default;
    // Errors: cancelled, unavailable (the client is gone), timeout.
    virtual Task<> send(std::string bytes) = 0;
};

enum class Change { added, changed, removed, synced };
// `id` 0: who goes on behind this event goes on behind the last one that had an id.
std::string event_bytes(std::uint64_t id, Change change, std::string_view json);
std::string event_bytes(std::string_view id, std::string_view name, std::string_view json);

// The events of one watch, typed. First comes what is there as `added`, then one `synced`, then what happens.
template <class Item>
class Watch {
public:
    Watch(EventSink& sink, bool& begun) : sink_(sink), begun_(begun) {}
    // `id` is what the client may resume behind: the number of a commit, with the last event that tells of
    // it; 0 with those before.
    Task<> send(std::uint64_t id, Change change, Item item) {
        return put(event_bytes(id, change, encode(item)));
    }
    Task<> synced(std::uint64_t id) { return put(event_bytes(id, Change::synced, "{}")); }
    // Send one each 15 s, so that both ends notice a cut wire, and the client knows how far it has come.
    Task<> keep_alive(std::uint64_t id) { return put(fmt::format(":\nid: {}\n\n", id)); }

private:
    Task<> put(std::string bytes) {
        begun_ = true;
        return sink_.send(std::move(bytes));
    }
    EventSink& sink_;
    bool& begun_;
};

// The events of an operation that answers with nothing else. The data of each is an Item, or {}.
template <class Item>
class Stream {
public:
    Stream(EventSink& sink, bool& begun) : sink_(sink), begun_(begun) {}
    // Goes out with the next flush(). `id`: what the client may resume behind; empty: as the event before.
    void add(std::string_view name, std::string_view id, const Item& item) {
        bytes_ += event_bytes(id, name, encode(item));
    }
    void add(std::string_view name, std::string_view id) { bytes_ += event_bytes(id, name, "{}"); }
    Task<> flush() {
        begun_ = true;
        return sink_.send(std::exchange(bytes_, {}));
    }
    // As that of a watch.
    Task<> keep_alive(std::string_view id) {
        bytes_ += fmt::format(":\nid: {}\n\n", id);
        return flush();
    }

private:
    EventSink& sink_;
    bool& begun_;
    std::string bytes_;
};

}  // namespace hostler::api
