// How a store follows others, and what it offers to those that follow it.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "adapters/series/keeper.h"
#include "adapters/series/mirror.h"
#include "core/log.h"
#include "domain/series/ranges.h"

namespace hostler::series {

namespace {

constexpr Millis nothing = std::numeric_limits<Millis>::min();
// Rows of one moment may lie in either of two logs that follow each other; clocks of masters may differ.
constexpr Millis margin = 10 * 60 * 1000;
constexpr std::size_t followed_max = 64;  // Masters; the one that was asked longest ago is forgotten.
constexpr std::size_t batch_cells = 1 << 20;
constexpr std::string_view identity_file = "identity";
constexpr std::string_view followed_file = "followed";

// Put in place as a whole.
Result<> write_file(Folder& folder, std::string_view name, std::string_view content) {
    const std::string fresh = fmt::format("{}.new", name);
    TRY(folder.create(fresh));
    TRY(folder.append(fresh, content));
    TRY(folder.sync(fresh));
    return folder.rename(fresh, std::string{name});
}

Result<std::string> read_file(Folder& folder, std::string_view name) {
    const auto file = TRY(folder.open(std::string{name}));
    return file->read(0, file->size());
}

void add_row(SampleBatch& batch, DeviceNumber device, Millis time, std::span<const Cell> cells) {
    batch.rows.push_back({device, time});
    batch.cells.insert(batch.cells.end(), cells.begin(), cells.end());
}

}  // namespace

// Where it cannot be read its masters are followed anew: what comes again is stored once.
Result<> Keeper::load_followed() {
    const auto names = TRY(folder_->list());
    if (contains(names, identity_file)) {
        auto kept = TRY(read_file(*folder_, identity_file));
        identity_kept_ = !kept.empty();
        if (identity_kept_) identity_ = std::move(kept);
    }
    if (!contains(names, followed_file)) return {};
    const auto content = TRY(read_file(*folder_, followed_file));
    Reader reader{content};
    const bool caught_up = reader.varint() != 0;
    const bool follows = reader.varint() != 0;
    const Millis reached = reader.signed_varint();
    std::vector<Followed> followed(reader.count(6));
    for (auto& one : followed) {
        one.master = reader.text();
        one.store = reader.text();
        one.place.log = reader.varint();
        one.place.at = reader.varint();
        one.place.device = reader.varint();
        one.newest = reader.signed_varint();
    }
    const auto summed = std::string_view(content).substr(0, content.size() - reader.left());
    const auto sum = reader.take(4);
    if (!reader.ok() || !reader.done() || fixed_at<std::uint32_t>(sum) != checksum(summed)) {
        log_warn(
            "series: the record of replication from other masters is not readable; replication starts again "
            "from the beginning");
        caught_up_ = false;
        return {};
    }
    caught_up_ = caught_up;
    follows_ = follows && !followed.empty();
    reached_ = reached;
    followed_ = std::move(followed);
    return {};
}

Result<> Keeper::save_followed() {
    std::string content;
    add_varint(content, caught_up_ ? 1 : 0);
    add_varint(content, follows_ ? 1 : 0);
    add_signed(content, reached_);
    add_varint(content, followed_.size());
    for (const auto& one : followed_) {
        add_text(content, one.master);
        add_text(content, one.store);
        add_varint(content, one.place.log);
        add_varint(content, one.place.at);
        add_varint(content, one.place.device);
        add_signed(content, one.newest);
    }
    add_fixed(content, checksum(content));
    return write_file(*folder_, followed_file, content);
}

Millis Keeper::since() const {
    const Millis until = caught_up_ ? newest_ : reached_;
    return until < nothing + margin ? nothing : until - margin;
}

Result<std::string> Keeper::ask(const std::string& master) {
    asked_ = false;
    const auto found = std::ranges::find(followed_, master, &Followed::master);
    if (found == followed_.end()) {
        // That nothing is there is to be known when it has led, too.
        if (followed_.empty() && newest_ == nothing) caught_up_ = false;
        if (followed_.size() >= followed_max) followed_.erase(followed_.begin());
        followed_.push_back({.master = master, .store = "", .place = {}});
        TRY(save_followed());
    } else {
        std::rotate(found, found + 1, followed_.end());
    }
    const auto& last = followed_.back();
    Question question{.store = last.store, .place = last.place, .since = since()};
    question.until = last.newest == nothing ? nothing : last.newest + margin;
    question.log_anew = !following_ || following_->master != master || following_->store != last.store ||
                        following_->place != last.place;
    asked_ = true;
    return encode(question);
}

// How far it was with whom it followed until then is written down once: what it has itself from then on is
// not to be told again.
std::vector<Result<>> Keeper::append(std::span<const SampleBatch> batches) {
    if (std::exchange(follows_, false))
        if (const auto saved = save_followed(); !saved)
            log_warn("series: that it leads is not written down: {}", saved.error().message);
    return store_rows(batches);
}

Result<Offer> Keeper::offer() {
    if (!identity_kept_) {
        TRY(write_file(*folder_, identity_file, identity_));
        identity_kept_ = true;
    }
    Offer made{.store = identity_, .segments = segments_, .logs = {}, .next_log = log_ + 1};
    std::uint64_t covered = 0;
    for (const auto& segment : segments_) covered = std::max(covered, segment->facts.covers_log);
    for (auto number = covered + 1; number <= log_; ++number) {
        // All rows of a log may have been stored before: it is gone, and no segment says so.
        auto file = folder_->open(log_name(number));
        if (!file && number < log_) continue;
        if (!file) return std::unexpected(file.error());
        const auto size = number == log_ ? log_size_ : (*file)->size();
        made.logs.push_back({.number = number, .size = size, .file = std::move(*file)});
    }
    return made;
}

Result<Mirrored> Keeper::take(const std::string& master, std::string_view bytes) {
    const auto answer = TRY(read_answer(bytes));
    if (!asked_ || followed_.back().master != master)
        return fail(Code::invalid, fmt::format("master {} was not asked for series", master));
    // Sooner than who leads is refused, and where nothing of what is known of the other's log is lost by it.
    if (sealing_ && head_memory_ > limits_.head_bytes_max / 2)
        return fail(Code::exhausted, "too many rows wait to be written to a segment");
    asked_ = false;
    Mirrored made{.rows = 0, .segments_skipped = answer.skipped, .all = answer.all};
    const bool was_caught_up = caught_up_;
    const Place was = followed_.back().place;
    const bool followed_before = std::exchange(follows_, true);
    auto following = std::exchange(following_, std::nullopt);  // After an error it is not known.
    if (answer.of == Answer::Of::log) {
        if (answer.from.at == 0)
            following = Following{
                .master = master, .store = answer.store, .place = answer.from, .told = {}, .held = {}};
        if (!following || following->master != master || following->store != answer.store ||
            following->place != answer.from)
            return fail(Code::invalid, "the answer about series begins where this store is not");
        made.rows = TRY(take_records(answer.body, *following));
    } else if (answer.of == Answer::Of::segment) {
        if (std::exchange(caught_up_, false)) {
            reached_ = newest_;
            TRY(save_followed());
        }
        made.rows = TRY(take_devices(answer.body));
        reached_ = std::max(reached_, answer.reached);
    }
    if (answer.all) caught_up_ = true;
    auto& last = followed_.back();
    const bool same_store = std::exchange(last.store, answer.store) == answer.store;
    last.place = answer.next;
    if (following && answer.of != Answer::Of::segment && following->place.log == answer.next.log) {
        following->place = answer.next;
        following_ = std::move(following);
    }
    // Of a log it is enough to know which: after a restart it is read anew.
    if (same_store && was.log == last.place.log && was.device == last.place.device &&
        (was.at == 0) == (last.place.at == 0) && was_caught_up == caught_up_ && followed_before)
        return made;
    TRY(save_followed());
    return made;
}

// The labels that another store tells hold up to `until`; what is known from before and after them stays.
Result<DeviceNumber> Keeper::learn(const Told& told, Millis until) {
    TRY(check(told.id, told.columns));
    const auto number = known(told.id, told.columns);
    if (told.eras.empty()) return number;
    auto& device = devices_[number];
    std::vector<Era> eras;
    for (const auto& era : *device.eras)
        if (era.from < told.eras.front().from) eras.push_back(era);
    extend(eras, told.eras);
    for (const auto& era : *device.eras)
        if (era.from > std::max(until, told.eras.back().from)) eras.push_back(era);
    if (eras == *device.eras) return number;
    device.eras = std::make_shared<const std::vector<Era>>(std::move(eras));
    device.told_in = 0;
    return number;
}

Result<> Keeper::store_taken(SampleBatch& batch, std::uint64_t& rows) {
    TRY(store_rows({&batch, 1})[0]);
    auto& newest = followed_.back().newest;
    for (const auto& row : batch.rows) newest = std::max(newest, row.time);
    rows += batch.rows.size();
    batch = {};
    return {};
}

// Notes it as one that is there from now on. Masters that lead in turn would else tell each other the same
// rows again and again, each in its log.
bool Keeper::holds(Following& following, DeviceNumber number, Millis time) const {
    const Head& head = devices_[number].head;
    const auto [found, first] = following.held.try_emplace(number);
    std::vector<Millis>& held = found->second;
    if (first && (head.rows().rows == 0 || time > head.newest())) {
        following.held.erase(found);
        return false;
    }
    if (first) held = rows_of(head.rows(), devices_[number].columns->size(), 0).times;
    const auto at = std::ranges::lower_bound(held, time);
    if (at != held.end() && *at == time) return true;
    held.insert(at, time);
    return false;
}

Result<std::uint64_t> Keeper::take_records(const std::string& body, Following& following) {
    SampleBatch batch;
    std::uint64_t rows = 0;
    const Replay on{.device = [this](const Told& device) { return learn(device, far); },
                    .row =
                        [&](DeviceNumber device, const Previous& row) {
                            if (holds(following, device, row.time)) return;
                            add_row(batch, device, row.time, row.cells);
                        }};
    std::string_view left = body;
    while (!left.empty()) {
        const std::uint64_t size =
            left.size() < record_head ? 0 : record_head + std::uint64_t{fixed_at<std::uint32_t>(left)};
        if (size == 0 || size > left.size() || !whole_record(left.substr(0, size)))
            return fail(Code::invalid, "an answer about series is damaged");
        TRY(replay(left.substr(record_head, size - record_head), following.told, on));
        left.remove_prefix(size);
        if (batch.cells.size() < batch_cells && !left.empty()) continue;
        TRY(store_taken(batch, rows));
    }
    return rows;
}

Result<std::uint64_t> Keeper::take_devices(const std::string& body) {
    SampleBatch batch;
    std::uint64_t rows = 0;
    Reader reader{body};
    std::vector<Cell> cells;
    while (!reader.done()) {
        const auto told = take_told(reader);
        const Millis until = reader.signed_varint();
        const auto blocks = reader.count();
        if (!reader.ok()) return fail(Code::invalid, "an answer about series is damaged");
        const auto number = TRY(learn(told, until));
        std::vector<std::size_t> all(told.columns.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        for (std::size_t i = 0; i < blocks; ++i) {
            const auto block = read_block(reader.text(), all);
            if (!block) {  // The other has it no better.
                ++stats_.blocks_damaged;
                continue;
            }
            cells.resize(all.size());
            for (std::size_t row = 0; row < block->times.size(); ++row) {
                for (const auto column : all) cells[column] = block->columns[column][row];
                add_row(batch, number, block->times[row], cells);
            }
            if (batch.cells.size() < batch_cells) continue;
            TRY(store_taken(batch, rows));
        }
    }
    if (!reader.ok()) return fail(Code::invalid, "an answer about series is damaged");
    TRY(store_taken(batch, rows));
    return rows;
}

}  // namespace hostler::series
