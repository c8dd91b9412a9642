#include "adapters/sqlite/wal.h"

#include <algorithm>
#include <map>
#include <utility>

#include "adapters/sqlite/wal_frames.h"

namespace hostler::sqlite {

namespace {

using wal::Form;
using wal::Frame;
using wal::Sum;

// Pages by their number, and where in the log their last version begins.
using Pages = std::map<std::uint32_t, std::uint64_t>;

class Walk {
public:
    Walk(const FileBytes& log, const FileBytes& store) : log_(log), store_(store) {}
    Result<Wal> look();

private:
    Result<std::string_view> bytes_at(std::uint64_t at, std::size_t count);
    Result<Frame> frame(std::uint64_t index) { return Frame{TRY(bytes_at(place(index), form_.frame()))}; }
    std::uint64_t place(std::uint64_t index) const { return wal::header_bytes + (index - 1) * form_.frame(); }
    Result<bool> guess_form(std::string_view header);
    Result<> walk_whole();
    Result<> walk_behind();
    Result<std::uint32_t> commit_of(std::uint64_t index, const Frame& frame,
                                    const std::optional<Sum>& before);
    Result<Wal::Behind> where_it_is_too();
    Result<bool> is_in_store(std::uint32_t page, std::uint64_t frame_at);

    const FileBytes &log_, &store_;
    std::string read_{};  // Of the log, from `read_at_` on.
    std::uint64_t read_at_ = 0;
    Form form_{};
    std::uint64_t frames_ = 0;
    std::uint64_t next_ = 1;    // The first frame that is not as it was written,
    std::optional<Sum> sum_{};  // what it had to go on from,
    bool begun_ = false;        // and whether frames of the same commit are before it.
    std::string last_{};        // What the last frame of the last commit has, if it may be repeated,
    bool last_whole_ = true;    // and whether that is as it was written.
    Pages before_{}, behind_{};
    Wal found_{};
};

Result<std::string_view> Walk::bytes_at(std::uint64_t at, std::size_t count) {
    constexpr std::size_t at_once = 256 << 10;
    if (at < read_at_ || at + count > read_at_ + read_.size()) {
        read_ = TRY(log_.read(at, std::max(count, at_once)));
        read_at_ = at;
    }
    return std::string_view{read_}.substr(at - read_at_, count);
}

Result<Wal> Walk::look() {
    if (log_.size == 0) return found_;
    found_.state = Wal::State::unfinished;
    if (log_.size < wal::header_bytes) return found_;
    const std::string header{TRY(bytes_at(0, wal::header_bytes))};
    const auto form = wal::form_of(header);
    if (form) {
        form_ = *form;
        sum_ = form_.sum;
        found_.whole_bytes = wal::header_bytes;
        frames_ = (log_.size - wal::header_bytes) / form_.frame();
        TRY(walk_whole());
    } else {
        if (!TRY(guess_form(header))) return found_;
        found_.changed = wal::changed_byte_of(header, TRY(frame(1)));
    }
    TRY(walk_behind());
    if (found_.state != Wal::State::damaged) return found_;
    found_.behind = TRY(where_it_is_too());
    // Torn when SQLite began at the front again: that is only done with what the store has.
    if (!form && !found_.changed && found_.behind == Wal::Behind::in_the_store)
        found_.state = Wal::State::whole;
    return found_;
}

// Up to the first frame that SQLite would not take.
Result<> Walk::walk_whole() {
    Pages pages;
    for (; next_ <= frames_; ++next_) {
        const Frame frame = TRY(this->frame(next_));
        if (!frame.is_next(form_, *sum_)) break;
        sum_ = frame.stored();
        pages[frame.page()] = place(next_);
        begun_ = frame.commit() == 0;
        if (begun_) continue;
        if (log_.pads) last_ = frame.content();
        found_.whole_bytes = place(next_ + 1);
        ++found_.whole_commits;
        for (const auto& [page, at] : pages) before_[page] = at;
        pages.clear();
    }
    behind_ = std::move(pages);  // Of the commit that the damage is in.
    found_.bad_at = place(next_);
    return {};
}

// Each commit is synced before the next one begins. So a frame whose checksum goes on from that of a commit
// says that this commit was durable. Frames that do not go on from it may be older: SQLite writes over what
// a crash or a full disk left of a commit, under the same salts. `sum_` is nullopt where the header cannot be
// read. Where the last frame of a commit is repeated, the last repetition shares a sector with the commit
// behind it and is torn with that; so a torn frame with the mark of a commit, behind a commit, is taken for
// a repetition, and so is a whole one behind a torn one.
Result<> Walk::walk_behind() {
    const bool cut_off = (log_.size - wal::header_bytes) % form_.frame() != 0;
    bool ours = begun_ || (next_ > frames_ && cut_off), durable = false;
    std::array<std::optional<Sum>, 2> before{sum_, sum_};  // As it is stored, and as it was to be.
    bool commit_before = false;                // The frame before is the end of a commit behind the damage,
    bool after_commit = !begun_ && next_ > 1;  // or of any commit.
    for (std::uint64_t i = next_; i <= frames_; ++i) {
        const std::string bytes{TRY(this->frame(i)).bytes};
        const Frame frame{bytes};
        const auto goes_on = [&](const std::optional<Sum>& sum) {
            return sum && frame.sum(form_.big_endian, *sum) == frame.stored();
        };
        const bool follows = std::ranges::any_of(before, goes_on);
        const bool salted = frame.salts() == form_.salts;
        if (salted || (i == next_ && follows)) {
            ours = true;
            if (follows && frame.page() != 0) behind_[frame.page()] = place(i);
            const auto commit = TRY(commit_of(i, frame, before[0]));
            const bool repeated = log_.pads && commit != 0 && after_commit &&
                                  (last_ == frame.content() || !follows || !last_whole_);
            durable |= commit_before && follows && !repeated;
            if (commit != 0 && !repeated) ++found_.lost_commits;
            if (log_.pads && commit != 0 && (!repeated || !last_whole_)) {
                last_ = frame.content();
                last_whole_ = follows;
            }
            after_commit = commit != 0;
            if (!repeated) commit_before = commit != 0;
        } else {
            commit_before = after_commit = false;
        }
        const auto was = before[0];
        before[0] = frame.stored();
        before[1] = was ? std::optional{frame.sum(form_.big_endian, *was)} : std::nullopt;
    }
    found_.state = durable ? Wal::State::damaged : ours ? Wal::State::unfinished : Wal::State::whole;
    return {};
}

// 0: it is none. A frame that is torn or changed may have any number there: what its checksum leaves is
// right, if the rest of it is. The frame behind it goes on from the sum that this one was to have: if that is
// the sum of what it has, then its checksum is what changed.
Result<std::uint32_t> Walk::commit_of(std::uint64_t index, const Frame& frame,
                                      const std::optional<Sum>& before) {
    const std::uint64_t pages_max = store_.size / form_.page + frames_;
    const std::uint32_t written = frame.commit() <= pages_max ? frame.commit() : 0;
    if (!before) return written;
    const auto [page, commit] = frame.summed_numbers(form_.big_endian, *before);
    if (page == 0 || page > pages_max || commit > pages_max) return written;
    if (commit == written || index == frames_) return commit;
    const Frame next = TRY(this->frame(index + 1));
    const Sum sum = frame.sum(form_.big_endian, *before);
    return next.sum(form_.big_endian, sum) == next.stored() ? written : commit;
}

// A header that cannot be read: the frames behind it tell by themselves what it said.
Result<bool> Walk::guess_form(std::string_view header) {
    const std::string store = TRY(store_.read(0, 20));
    if (store.size() < 20) return false;
    const std::uint32_t pages = wal::number_at(store, 16) >> 16;
    form_.page = pages == 1 ? 65536 : pages;
    if (form_.page < 512) return false;
    frames_ = (log_.size - wal::header_bytes) / form_.frame();
    for (const bool big_endian : {false, true}) {
        form_.big_endian = big_endian;
        std::array<Sum, 2> before{};
        for (std::uint64_t i = 1; i <= frames_; ++i) {
            const Frame frame = TRY(this->frame(i));
            form_.salts = frame.salts();
            if (i == 1) before = wal::guessed_sums(header, form_);
            const bool follows = std::ranges::any_of(
                before, [&](Sum sum) { return frame.sum(big_endian, sum) == frame.stored(); });
            if (follows && frame.page() != 0) return true;
            before = {frame.stored(), frame.stored()};
        }
    }
    return false;
}

Result<Wal::Behind> Walk::where_it_is_too() {
    std::size_t copied = 0;
    bool mixed = false;
    for (const auto& [page, at] : behind_) {
        if (!TRY(is_in_store(page, at))) continue;
        ++copied;
        // Others are as the log before the damage has them, whatever the store's file has.
        mixed |= !before_.contains(page);
    }
    bool all = copied > 0 && copied == behind_.size();
    for (const auto& [page, at] : before_)
        if (all && !behind_.contains(page)) all = TRY(is_in_store(page, at));
    return all ? Wal::Behind::in_the_store : mixed ? Wal::Behind::half_copied : Wal::Behind::only_here;
}

Result<bool> Walk::is_in_store(std::uint32_t page, std::uint64_t frame_at) {
    const std::string stored = TRY(store_.read(std::uint64_t{page - 1} * form_.page, form_.page));
    return stored == Frame{TRY(bytes_at(frame_at, form_.frame()))}.content();
}

}  // namespace

Result<Wal> look_at_wal(const FileBytes& wal, const FileBytes& store) { return Walk{wal, store}.look(); }

}  // namespace hostler::sqlite
