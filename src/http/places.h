// Who is connected to a server, and who makes room for whom when it is full.
#pragma once

#include <array>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/stream.h"

namespace hostler::http {

class Places;
class TrustedProxies;

// One connection's, for as long as it is served. Strangers make room for newcomers: first those that have not
// asked anything yet, then those that rest between two requests, then any other; always the oldest first.
// A connection on which a good key was shown makes room for nobody.
class Place {
public:
    enum class Standing { silent, resting, asking, known };

    explicit Place(Places& all) : all_(all) {}
    void asks();      // The whole head of a request has come.
    void rests();     // It was answered; the next may come.
    void is_known();  // Who asks has shown a good key.
    void was_late();  // Nothing came within ServerLimits::first_time.
    // Counts the connection to the client at `address` from now on; empty: to no client. Returns false if
    // the client has reached its limit and none of its connections can be closed; the connection then counts
    // to no client.
    bool belongs_to(std::string_view address);
    // The connection is a trusted proxy's, and each request may come from another client. Between two
    // requests it counts to no client.
    void is_shared(const TrustedProxies& by) { shared_by_ = &by; }
    const TrustedProxies* shared_by() const { return shared_by_; }
    Standing standing() const { return standing_; }

private:
    friend class Places;
    void stand(Standing standing);

    Places& all_;
    Standing standing_ = Standing::silent;
    bool counted_ = true;              // Not sent away.
    std::shared_ptr<Stream*> stream_;  // Null in it: the stream is gone.
    std::map<std::string, std::size_t>::iterator client_;
    std::list<Place>::iterator self_;
    const TrustedProxies* shared_by_ = nullptr;
};

class Places {
public:
    Places(std::size_t most, std::size_t client_most) : most_(most), client_most_(client_most) {}

    enum class Entry {
        in,
        full,     // Of known ones: the newcomer waits until one ends.
        refused,  // Its client has all that it may, and none that could make room.
    };
    // Makes room for a newcomer, if it can. `address`: of its client; empty: not known yet, and the limit of
    // a client does not apply.
    Entry admit(std::string_view address);
    // After admit() said `in`. The stream is wrapped, so that it can be closed from here.
    Place& enter(StreamPtr& stream, std::string_view address);
    void leave(Place& place);

    std::size_t size() const { return size_; }  // Connections, without those sent away a moment ago.
    std::size_t clients() const { return clients_.size(); }  // Connections without a client count as one.
    struct Count {
        std::uint64_t refused = 0;    // Closed at once, for their client's sake.
        std::uint64_t made_room = 0;  // Strangers, for newcomers.
        std::uint64_t late = 0;       // Strangers that said nothing in time.
    };
    const Count& count() const { return count_; }

private:
    friend class Place;
    bool has_room_for(const std::string& client);
    bool send_away(Place::Standing last, const std::string* client);
    void discount(Place& place);

    const std::size_t most_;
    const std::size_t client_most_;
    std::size_t size_ = 0;
    std::map<std::string, std::size_t> clients_;
    std::array<std::list<Place>, 4> standing_;  // By Standing; those that stand so for longest come first.
    std::list<Place> sent_away_;
    Count count_;
};

}  // namespace hostler::http
