#include "http/places.h"

#include <utility>

#include "core/client_address.h"

namespace hostler::http {

namespace {

// Tells its place when it goes, so that nobody closes what is no more.
class Placed final : public Stream {
public:
    Placed(StreamPtr stream, std::shared_ptr<Stream*> place)
        : stream_(std::move(stream)), place_(std::move(place)) {}
    ~Placed() override { *place_ = nullptr; }

    Result<std::optional<std::size_t>> try_read(std::span<char> into) override {
        return stream_->try_read(into);
    }
    Result<std::optional<std::size_t>> try_write(std::span<const asio::const_buffer> from) override {
        return stream_->try_write(from);
    }
    Task<> readable() override { return stream_->readable(); }
    Task<> writable() override { return stream_->writable(); }
    Task<> finish() override { return stream_->finish(); }
    void close() override { stream_->close(); }
    std::string_view identity() const override { return stream_->identity(); }
    bool expired() const override { return stream_->expired(); }
    std::string_view address() const override { return stream_->address(); }

private:
    StreamPtr stream_;
    std::shared_ptr<Stream*> place_;
};

}  // namespace

void Place::stand(Standing standing) {
    const auto from = std::exchange(standing_, standing);
    if (!counted_ || from == standing) return;
    auto& into = all_.standing_[std::to_underlying(standing)];
    into.splice(into.end(), all_.standing_[std::to_underlying(from)], self_);
}

void Place::asks() {
    if (standing_ != Standing::known) stand(Standing::asking);
}

void Place::rests() {
    const bool was_known = standing_ == Standing::known;
    if (standing_ == Standing::asking || (was_known && shared_by_ != nullptr)) stand(Standing::resting);
    if (shared_by_ != nullptr) belongs_to("");
}

void Place::is_known() { stand(Standing::known); }

void Place::was_late() { ++all_.count_.late; }

bool Place::belongs_to(std::string_view address) {
    const std::string client = address.empty() ? std::string{} : client_of(address);
    if (!counted_ || client_->first == client) return true;
    const bool room = all_.has_room_for(client);
    auto& clients = all_.clients_;
    if (--client_->second == 0) clients.erase(client_);
    client_ = clients.emplace(room ? client : std::string{}, 0).first;
    ++client_->second;
    return room;
}

// Of a client that has all that it may, one that rests makes room.
bool Places::has_room_for(const std::string& client) {
    const auto there = clients_.find(client);
    if (client.empty() || there == clients_.end() || there->second < client_most_) return true;
    if (send_away(Place::Standing::resting, &client)) return true;
    ++count_.refused;
    return false;
}

Places::Entry Places::admit(std::string_view address) {
    const std::string client = address.empty() ? std::string{} : client_of(address);
    const auto before = size_;
    if (!has_room_for(client)) return Entry::refused;
    if (size_ < before) return Entry::in;
    return size_ < most_ || send_away(Place::Standing::asking, nullptr) ? Entry::in : Entry::full;
}

// The first in order up to `last`, of one client alone if one is given.
bool Places::send_away(Place::Standing last, const std::string* client) {
    for (int standing = 0; standing <= std::to_underlying(last); ++standing) {
        auto& places = standing_[static_cast<std::size_t>(standing)];
        for (Place& place : places) {
            if (client != nullptr && place.client_->first != *client) continue;
            discount(place);
            place.counted_ = false;
            sent_away_.splice(sent_away_.end(), places, place.self_);
            ++count_.made_room;
            if (*place.stream_ != nullptr) (*place.stream_)->close();
            return true;
        }
    }
    return false;
}

Place& Places::enter(StreamPtr& stream, std::string_view address) {
    auto& places = standing_[std::to_underlying(Place::Standing::silent)];
    Place& place = places.emplace_back(*this);
    place.self_ = std::prev(places.end());
    place.client_ = clients_.emplace(address.empty() ? std::string{} : client_of(address), 0).first;
    place.stream_ = std::make_shared<Stream*>(nullptr);
    ++place.client_->second;
    ++size_;
    stream = std::make_unique<Placed>(std::move(stream), place.stream_);
    *place.stream_ = stream.get();
    return place;
}

void Places::discount(Place& place) {
    --size_;
    if (--place.client_->second == 0) clients_.erase(place.client_);
}

void Places::leave(Place& place) {
    if (place.counted_) discount(place);
    auto& places = place.counted_ ? standing_[std::to_underlying(place.standing_)] : sent_away_;
    places.erase(place.self_);
}

}  // namespace hostler::http
