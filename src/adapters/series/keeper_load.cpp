// What the keeper finds when it is opened.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "adapters/series/keeper.h"
#include "core/log.h"
#include "domain/series/ranges.h"

namespace hostler::series {

namespace {

constexpr std::size_t record_head = 8;

std::optional<std::uint64_t> number_in(std::string_view name, std::string_view prefix) {
    if (!name.starts_with(prefix)) return std::nullopt;
    name.remove_prefix(prefix.size());
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
    return number;
}

}  // namespace

Result<std::unique_ptr<Keeper>> Keeper::open(std::unique_ptr<Folder> folder, Limits limits) {
    auto keeper = std::unique_ptr<Keeper>(new Keeper(std::move(folder), limits));
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
    while (file->size() - log_size_ >= record_head) {
        const auto head = TRY(file->read(log_size_, record_head));
        const std::uint64_t size = fixed_at<std::uint32_t>(head);
        if (size > file->size() - log_size_ - record_head) break;
        const auto payload = TRY(file->read(log_size_ + record_head, size));
        if (checksum(payload) != fixed_at<std::uint32_t>(std::string_view(head).substr(4))) break;
        if (!replay(payload, told))
            return fail(Code::internal, fmt::format("{} says what no store has written", name));
        log_size_ += record_head + size;
    }
    if (log_size_ == file->size()) return {};
    log_warn("series: the last {} bytes of {} were not written whole and are dropped",
             file->size() - log_size_, name);
    TRY(folder_->cut(name, log_size_));
    return folder_->sync(name);
}

bool Keeper::replay(std::string_view payload, ToldDevices& told) {
    Reader reader{payload};
    while (!reader.done()) {
        const auto entry = reader.varint();
        if (entry == 0) {
            if (!replay_device(reader, told)) return false;
            continue;
        }
        const auto found = told.numbers.find(entry - 1);
        if (found == told.numbers.end()) return false;
        auto& before = told.before.at(found->second);
        if (!take_row(reader, before)) return false;
        replay_row(found->second, before);
    }
    return reader.ok();
}

bool Keeper::replay_device(Reader& reader, ToldDevices& told) {
    const auto said = reader.varint();
    const std::string id{reader.text()};
    std::vector<Column> columns(reader.count(2));
    for (auto& column : columns) {
        column.name = reader.text();
        const auto kinds = reader.varint();
        column.kind = kinds & 1 ? Kind::counter : Kind::gauge;
        column.form = kinds & 2 ? Form::real : Form::integer;
    }
    std::vector<Era> eras(reader.count(2));
    for (auto& era : eras) {
        era.from = reader.signed_varint();
        const auto count = reader.count(2);
        for (std::size_t i = 0; i < count; ++i) {
            const auto label = reader.text();
            era.labels[std::string(label)] = reader.text();
        }
    }
    if (!reader.ok() || columns.empty()) return false;
    const auto number = known(id, columns);
    devices_[number].eras = std::make_shared<const std::vector<Era>>(std::move(eras));
    told.numbers.insert_or_assign(said, number);
    told.before.try_emplace(number,
                            Previous{.time = 0, .step = 0, .cells = std::vector<Cell>(columns.size())});
    return true;
}

void Keeper::replay_row(DeviceNumber number, const Previous& row) {
    auto& head = devices_[number].head;
    const auto memory = head.memory();
    (void)head.add(row.time, row.cells);
    head_memory_ += head.memory() - memory;
    log_first_ = log_rows_ == 0 ? row.time : std::min(log_first_, row.time);
    log_last_ = log_rows_ == 0 ? row.time : std::max(log_last_, row.time);
    ++log_rows_;
}

}  // namespace hostler::series
