#include "roles/agent/activity.h"

#include <algorithm>

namespace hostler::agent {

Activity::User::User(Activity& activity, std::string instance, std::string what, Counts counts,
                     std::uint16_t port)
    : activity_(activity),
      instance_(std::move(instance)),
      what_(std::move(what)),
      counts_(counts),
      port_(port) {
    at_ = activity_.users_.insert(activity_.users_.end(), this);
}

Activity::User::~User() {
    activity_.look_at(*this);  // Its last bytes count, too.
    activity_.users_.erase(at_);
}

void Activity::look() {
    for (User* user : users_) look_at(*user);
}

void Activity::look_at(User& user) {
    const bool moved = std::exchange(user.moved_, false);
    const bool owed = user.counts_ == Counts::bytes && user.last_ == Bytes::in;
    if (!moved && !owed && user.counts_ != Counts::always) return;
    const auto seen = seen_.find(user.instance_);
    if (seen == seen_.end()) return;
    if (user.port_ != 0 && user.port_ == seen->second.answers_for_itself) return;
    seen->second.used = timers_.now();
    seen->second.by = user.what_;
}

std::optional<Activity::Use> Activity::of(const std::string& instance, std::uint64_t generation) {
    look();
    const auto seen = seen_.find(instance);
    if (seen == seen_.end() || seen->second.generation != generation) return std::nullopt;
    return Use{timers_.now() - seen->second.used, seen->second.by};
}

void Activity::note(const Workload& changed) {
    if (changed.state != WorkloadState::running) {
        seen_.erase(changed.instance);
        return;
    }
    Seen& seen = seen_[changed.instance];
    if (seen.generation == changed.generation && seen.ready == changed.ready) return;
    seen = {.generation = changed.generation,
            .ready = changed.ready,
            .used = timers_.now(),
            .by = "start",
            .answers_for_itself = 0};
}

void Activity::note_jupyter(const std::string& instance, std::uint16_t port, std::optional<Duration> unused) {
    const auto found = seen_.find(instance);
    if (found == seen_.end()) return;
    Seen& seen = found->second;
    seen.answers_for_itself = unused ? port : std::uint16_t{0};
    if (!unused) return;
    const Instant used = timers_.now() - std::max(*unused, Duration{});
    if (used <= seen.used) return;
    seen.used = used;
    seen.by = "jupyter";
}

}  // namespace hostler::agent
