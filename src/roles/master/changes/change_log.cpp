#include "roles/master/changes/change_log.h"

namespace hostler::master {

void ChangeLog::publish(std::vector<Notice> notices) {
    if (notices.empty()) return;
    for (Notice& notice : notices) notices_.push_back(std::move(notice));
    while (notices_.size() > size_max_) {
        notices_.pop_front();
        ++forgotten_;
    }
    changed_.notify_all();
}

void ChangeLog::close() {
    closed_ = true;
    changed_.notify_all();
}

void ChangeLog::beat() {
    ++beats_;
    changed_.notify_all();
}

Task<> ChangeLog::behind(std::uint64_t number) {
    const std::uint64_t beats = beats_;
    while (true) {
        if (closed_) co_return fail(Code::unavailable, "this master is no longer the leader");
        if (last() > number || beats_ != beats) co_return Result<>{};
        CO_TRY(co_await changed_.wait());
    }
}

}  // namespace hostler::master
