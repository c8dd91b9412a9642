// What the keeper finds when it is opened.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "adapters/series/keeper.h"
#include "adapters/series/record.h"
#include "core/log.h"
#include "domain/series/ranges.h"

namespace hostler::series {

namespace {

std::optional<std::uint64_t> number_in(std::string_view name, std::string_view prefix) {
    if (!name.starts_with(prefix)) return std::nullopt;
    name.remove_prefix(prefix.size());
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
    return number;
}

// Whether something behind the first byte is a record: what is before it was written whole, then, and has
// changed since. Looked for in so many bytes, since each place may be the beginning of one.
bool has_record_behind(std::string_view bytes) {
    constexpr std::size_t looked_at_max = std::size_t{1} << 20, record_max = std::size_t{1} << 20;
    for (std::size_t at = 1; at < std::min(bytes.size(), looked_at_max); ++at) {
        if (bytes.size() - at < record_head) return false;
        const std::uint64_t size = fixed_at<std::uint32_t>(bytes.substr(at));
        // An empty one is no evidence: eight zeros are one.
        if (size == 0 || size > record_max || size > bytes.size() - at - record_head) continue;
        if (whole_record(bytes.substr(at, record_head + size))) return true;
    }
    return false;
}

}  // namespace

Result<std::unique_ptr<Keeper>> Keeper::open(std::unique_ptr<Folder> folder, Limits limits,
                                             std::string identity) {
    auto keeper = std::unique_ptr<Keeper>(new Keeper(std::move(folder), limits, std::move(identity)));
    TRY(keeper->load());
    return keeper;
}

Result<> Keeper::load() {
    std::vector<std::uint64_t> segments;
    std::vector<std::uint64_t> logs;
    for (const auto& name : TRY(folder_->list())) {
        if (name.ends_with(".new")) TRY(folder_->remove(name));
        if (const auto number = number_in(name, "segment-")) segments.push_back(*number);
        if (const auto number = number_in(name, "log-")) logs.push_back(*number);
    }
    std::ranges::sort(segments);
    std::ranges::sort(logs);
    TRY(load_segments(segments));
    TRY(load_followed());
    std::uint64_t covered = 0;
    for (const auto& segment : segments_) covered = std::max(covered, segment->facts.covers_log);
    for (const auto number : logs)
        if (number <= covered) TRY(folder_->remove(log_name(number)));
    std::erase_if(logs, [covered](std::uint64_t number) { return number <= covered; });
    log_ = covered;
    for (std::size_t i = 0; i < logs.size(); ++i) {
        // All but the last were being sealed.
        if (i > 0 && i + 1 == logs.size()) freeze_heads();
        old_logs_ += log_size_;
        TRY(load_log(logs[i]));
    }
    if (follows_) followed_.back().newest = std::max(followed_.back().newest, newest_);
    return {};
}

Result<> Keeper::load_segments(const std::vector<std::uint64_t>& numbers) {
    std::set<std::uint64_t> replaced;
    for (const auto number : numbers) {
        next_segment_ = number + 1;
        auto segment = open_segment(*folder_, number);
        if (!segment && segment.error().code != Code::invalid) return std::unexpected(segment.error());
        if (!segment) {
            // Kept for a person to look at; the rest is served.
            log_warn("series: {}; it is set aside", segment.error().message);
            TRY(folder_->rename(segment_name(number), segment_name(number) + ".damaged"));
            ++stats_.blocks_damaged;
            continue;
        }
        for (const auto old : (*segment)->facts.replaces) replaced.insert(old);
        if ((*segment)->facts.level == Level::raw)
            found_until_ = std::max(found_until_, (*segment)->facts.last);
        add_segment(std::move(*segment));
    }
    for (const auto number : replaced)
        if (contains(numbers, number)) TRY(folder_->remove(segment_name(number)));
    std::erase_if(segments_,
                  [&replaced](const SegmentPtr& segment) { return replaced.contains(segment->number); });
    return {};
}

Result<> Keeper::load_log(std::uint64_t number) {
    const auto name = log_name(number);
    const auto file = TRY(folder_->open(name));
    log_ = number;
    log_size_ = 0;
    log_rows_ = 0;
    ToldDevices told;
    const Replay on{.device = [this](Told device) -> Result<DeviceNumber> {
                        const auto at = known(device.id, device.columns);
                        devices_[at].eras = std::make_shared<const std::vector<Era>>(std::move(device.eras));
                        return at;
                    },
                    .row = [this](DeviceNumber at, const Previous& row) { replay_row(at, row); }};
    while (file->size() - log_size_ >= record_head) {
        const auto head = TRY(file->read(log_size_, record_head));
        const std::uint64_t size = fixed_at<std::uint32_t>(head);
        if (size > file->size() - log_size_ - record_head) break;
        const auto record = TRY(file->read(log_size_, record_head + size));
        if (!whole_record(record)) break;
        if (!replay(std::string_view(record).substr(record_head), told, on))
            return fail(Code::internal, fmt::format("{} says what no store has written", name));
        log_size_ += record_head + size;
    }
    if (log_size_ < file->size()) {
        const auto rest = TRY(file->read(log_size_, file->size() - log_size_));
        if (has_record_behind(rest)) {
            // Rows go on from those before them, so that nothing behind it can be read. Kept for a person.
            const auto aside = name + ".damaged";
            log_warn(
                "series: {} is damaged at byte {}: that record and what is behind it, {} bytes, are set "
                "aside in {}",
                name, log_size_, rest.size(), aside);
            TRY(folder_->create(aside));
            TRY(folder_->append(aside, rest));
            TRY(folder_->sync(aside));
            ++stats_.blocks_damaged;
        } else {
            log_warn("series: the last {} bytes of {} were not written whole and are dropped", rest.size(),
                     name);
        }
        TRY(folder_->cut(name, log_size_));
    }
    // What was written and not synced is there after a process ends, and may not be after a power cut: nobody
    // is to be told of it before it is.
    return file->size() > 0 ? folder_->sync(name) : Result<>{};
}

Result<> Keeper::replay(std::string_view payload, ToldDevices& told, const Replay& on) {
    const auto damaged = [] { return fail(Code::invalid, "a record says what no store has written"); };
    Reader reader{payload};
    while (!reader.done()) {
        const auto entry = reader.varint();
        if (entry == 0) {
            const auto said = reader.varint();
            auto device = take_told(reader);
            if (!reader.ok() || device.columns.empty()) return damaged();
            const auto width = device.columns.size();
            const auto number = TRY(on.device(std::move(device)));
            told.numbers.insert_or_assign(said, number);
            told.before.try_emplace(number,
                                    Previous{.time = 0, .step = 0, .cells = std::vector<Cell>(width)});
            continue;
        }
        const auto found = told.numbers.find(entry - 1);
        if (found == told.numbers.end()) return damaged();
        auto& before = told.before.at(found->second);
        if (!take_row(reader, before)) return damaged();
        on.row(found->second, before);
    }
    if (!reader.ok()) return damaged();
    return {};
}

void Keeper::replay_row(DeviceNumber number, const Previous& row) {
    auto& head = devices_[number].head;
    const auto memory = head.memory();
    (void)head.add(row.time, row.cells);
    head_memory_ += head.memory() - memory;
    log_first_ = log_rows_ == 0 ? row.time : std::min(log_first_, row.time);
    log_last_ = log_rows_ == 0 ? row.time : std::max(log_last_, row.time);
    ++log_rows_;
    newest_ = std::max(newest_, row.time);
}

}  // namespace hostler::series
