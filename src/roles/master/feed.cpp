#include "roles/master/feed.h"

namespace hostler::master {

void Feed::publish(std::uint64_t number, std::vector<Touched> touched) {
    for (Touched& one : touched) entries_.push_back({number, std::move(one)});
    last_ = number;
    while (entries_.size() > size_max_) {
        first_ = entries_.front().number;
        // A commit is told whole or not at all.
        while (!entries_.empty() && entries_.front().number == first_) entries_.pop_front();
    }
    changed_.notify_all();
}

void Feed::close() {
    closed_ = true;
    changed_.notify_all();
}

void Feed::beat() {
    ++beats_;
    changed_.notify_all();
}

Task<Feed::News> Feed::next(std::string kind, std::uint64_t after) {
    const std::uint64_t beats = beats_;
    while (true) {
        if (closed_) co_return fail(Code::unavailable, "this master does not lead any more");
        if (after < first_ || after > last_)
            co_return fail(Code::exhausted, "this is too long ago; begin anew", "feed_too_old");
        News news{last_, {}};
        for (const Entry& entry : entries_)
            if (entry.number > after && entry.touched.kind == kind &&
                std::ranges::count(news.ids, entry.touched.id) == 0)
                news.ids.push_back(entry.touched.id);
        if (!news.ids.empty() || beats_ != beats) co_return news;
        after = last_;
        CO_TRY(co_await changed_.wait());
    }
}

}  // namespace hostler::master
