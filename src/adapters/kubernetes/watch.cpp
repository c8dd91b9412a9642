#include "adapters/kubernetes/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

namespace hostler::kubernetes {

namespace {

constexpr std::size_t piece_bytes = 16 * 1024;
// A stream that ends sooner than this and brought nothing counts as a try in vain.
constexpr Duration stream_life_min = std::chrono::seconds{1};
constexpr int failures_max = 60;  // The back-off is at its bound long before.
// A streaming list ends with a bookmark that has this annotation.
constexpr std::string_view initial_events_end = "k8s.io/initial-events-end";

bool mends_itself(Code code) {
    switch (code) {
        case Code::unavailable:
        case Code::timeout:
        case Code::internal: return true;
        case Code::invalid:
        case Code::unauthenticated:
        case Code::forbidden:
        case Code::not_found:
        case Code::conflict:
        case Code::exhausted:
        case Code::cancelled: return false;
    }
    broken("a code outside its enum", __FILE__, __LINE__);
}

json::object gone_object(const ObjectKey& key, const std::string& uid) {
    json::object meta{{"name", key.name}, {"uid", uid}};
    if (!key.ns.empty()) meta["namespace"] = key.ns;
    return {{"metadata", std::move(meta)}};
}

}  // namespace

Watch::Watch(Connection& connection, Kind kind, Selection which, WatchSettings settings)
    : connection_(connection),
      kind_(kind),
      which_(std::move(which)),
      settings_(settings),
      streaming_lists_(settings.stream_initial) {
    begin_list();
}

Watch::~Watch() = default;

Task<WatchEvent> Watch::next() {
    while (ready_.empty()) {
        if (std::exchange(rest_, false)) CO_TRY(co_await sleep(connection_.timers(), backoff()));
        if (auto stepped = co_await step(); !stepped) CO_TRY(judge(std::move(stepped).error()));
    }
    auto event = std::move(ready_.front());
    ready_.pop_front();
    co_return event;
}

Task<> Watch::step() {
    if (phase_ == Phase::list) return read_page();
    return reply_ ? read_stream() : open_stream();
}

// What an error means: go on after a rest, begin a list, or tell it.
Result<> Watch::judge(Error error) {
    reply_ = nullptr;
    held_.clear();
    searched_ = 0;
    if (error.code == Code::cancelled) return std::unexpected(std::move(error));
    trouble_ = error;
    rest_ = true;
    failures_ = std::min(failures_ + 1, failures_max);
    if (error.reason == expired) {
        begin_list();
        return {};
    }
    if (phase_ == Phase::initial_stream) {
        // The server has no streaming lists, or has them switched off.
        if (error.code == Code::invalid) {
            streaming_lists_ = false;
            rest_ = false;
        }
        begin_list();
        if (error.code == Code::invalid) return {};
    }
    // The server throttles beyond what a call obeys: that passes, too.
    if (mends_itself(error.code) || (error.code == Code::exhausted && error.reason == throttled)) return {};
    if (error.code == Code::exhausted || error.code == Code::conflict) begin_list();
    return std::unexpected(std::move(error));
}

Duration Watch::backoff() const {
    if (failures_ == 0) return {};
    Duration time = settings_.backoff_min;
    for (int i = 1; i < failures_ && time < settings_.backoff_max; ++i) time *= 2;
    return std::min(time, settings_.backoff_max);
}

void Watch::begin_list() {
    ++lists_;
    phase_ = streaming_lists_ ? Phase::initial_stream : Phase::list;
    version_.clear();
    next_page_.clear();
}

Task<> Watch::read_page() {
    const Ask ask{.target = collection_path(kind_, which_.ns) +
                            query_of({{"limit", std::to_string(settings_.page_size)},
                                      {"labelSelector", which_.labels},
                                      {"fieldSelector", which_.fields},
                                      {"continue", next_page_}})};
    const auto body = CO_TRY(co_await connection_.fetch(ask));
    auto page = CO_TRY(parse_page(body, ask));
    trouble_.reset();
    for (auto& object : page.objects) take_object(std::move(object));
    next_page_ = std::move(page.next);
    version_ = std::move(page.resource_version);
    if (next_page_.empty()) finish_list();
    co_return Result<>{};
}

Task<> Watch::open_stream() {
    const bool initial = phase_ == Phase::initial_stream;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(settings_.read_time).count();
    Ask ask{.target = collection_path(kind_, which_.ns) +
                      query_of({{"watch", "true"},
                                {"allowWatchBookmarks", "true"},
                                {"labelSelector", which_.labels},
                                {"fieldSelector", which_.fields},
                                {"timeoutSeconds", std::to_string(seconds)},
                                {"resourceVersion", version_},
                                {"sendInitialEvents", initial ? "true" : ""},
                                {"resourceVersionMatch", initial ? "NotOlderThan" : ""}})};
    reply_ = CO_TRY(co_await connection_.open(std::move(ask), connection_.settings().deadline,
                                              settings_.read_time + settings_.read_room));
    trouble_.reset();
    opened_ = connection_.timers().now();
    heard_ = false;
    held_.clear();
    searched_ = 0;
    co_return Result<>{};
}

Task<> Watch::read_stream() {
    const std::size_t before = held_.size();
    held_.resize(before + piece_bytes);
    const auto size = co_await reply_->read(std::span{held_}.subspan(before));
    held_.resize(before + size.value_or(0));
    if (!size) co_return std::unexpected(size.error());
    if (*size == 0) {
        leave_stream(!heard_ && connection_.timers().now() - opened_ < stream_life_min);
        co_return Result<>{};
    }
    std::size_t begin = 0;
    while (reply_) {
        const auto end = held_.find('\n', std::max(begin, searched_));
        if (end == held_.npos) break;
        CO_TRY(take_line(std::string_view{held_}.substr(begin, end - begin)));
        begin = end + 1;
        searched_ = begin;
    }
    held_.erase(0, begin);
    searched_ = held_.size();
    if (held_.capacity() > 4 * piece_bytes && held_.size() < piece_bytes) held_.shrink_to_fit();
    if (held_.size() > settings_.line_bytes_max)
        co_return fail(Code::exhausted, fmt::format("an event of the watch of {} is larger than {} bytes",
                                                    kind_.plural, settings_.line_bytes_max));
    co_return Result<>{};
}

// The server ended the stream. In the middle of a streaming list nothing tells up to where all was told.
void Watch::leave_stream(bool in_vain) {
    reply_ = nullptr;
    held_.clear();
    searched_ = 0;
    if (phase_ == Phase::initial_stream) {
        // It may not know streaming lists and have sent an ordinary watch, which has no end.
        streaming_lists_ = false;
        begin_list();
    }
    failures_ = in_vain ? std::min(failures_ + 1, failures_max) : 0;
    rest_ = in_vain;
}

Result<> Watch::take_line(std::string_view line) {
    if (line.find_first_not_of(" \r") == line.npos) return {};
    auto event = parse_object(line);
    auto* found = event ? event->if_contains("object") : nullptr;
    if (!found || !found->is_object())
        return fail(Code::unavailable, fmt::format("the watch of {} brought no event", kind_.plural));
    auto object = std::move(found->get_object());
    const auto type = text_at(*event, {"type"});
    if (type == "ERROR") return take_error(object);
    heard_ = true;
    failures_ = 0;
    trouble_.reset();
    std::string version{text_at(object, {"metadata", "resourceVersion"})};
    const bool bookmark = type == "BOOKMARK";
    const bool end = bookmark && text_at(object, {"metadata", "annotations", initial_events_end}) == "true";
    if (type == "DELETED")
        take_removed(std::move(object));
    else if (type == "ADDED" || type == "MODIFIED")
        take_object(std::move(object));
    else if (!bookmark)
        return {};  // Of a later release.
    if (!version.empty()) version_ = std::move(version);
    if (end && phase_ == Phase::initial_stream) finish_list();
    return {};
}

Result<> Watch::take_error(const json::object& object) {
    Status status = status_of(500, json::serialize(object));
    return std::unexpected(error_of(status, fmt::format("the watch of {}", kind_.plural)));
}

void Watch::take_object(json::object object) {
    auto key = key_of(object);
    std::string uid{text_at(object, {"metadata", "uid"})};
    std::string version{text_at(object, {"metadata", "resourceVersion"})};
    const auto found = known_.find(key);
    if (found == known_.end()) {
        known_.emplace(std::move(key), Known{std::move(uid), std::move(version), lists_});
        ready_.push_back({Change::added, std::move(object)});
        return;
    }
    Known& known = found->second;
    known.list = lists_;
    if (known.uid == uid && known.version == version) return;
    const bool another = known.uid != uid;
    if (another) ready_.push_back({Change::removed, gone_object(key, known.uid)});
    known.uid = std::move(uid);
    known.version = std::move(version);
    ready_.push_back({another ? Change::added : Change::modified, std::move(object)});
}

void Watch::take_removed(json::object object) {
    const auto found = known_.find(key_of(object));
    if (found == known_.end()) return;
    known_.erase(found);
    ready_.push_back({Change::removed, std::move(object)});
}

// Whatever the list did not have is gone.
void Watch::finish_list() {
    for (auto at = known_.begin(); at != known_.end();) {
        if (at->second.list == lists_) {
            ++at;
            continue;
        }
        ready_.push_back({Change::removed, gone_object(at->first, at->second.uid)});
        at = known_.erase(at);
    }
    ready_.push_back({Change::synced, {}});
    phase_ = Phase::stream;
}

}  // namespace hostler::kubernetes
