#include "adapters/series/keeper.h"

#include <fmt/format.h>

#include <algorithm>

#include "adapters/series/record.h"
#include "adapters/series/thin.h"
#include "domain/series/ranges.h"

namespace hostler::series {

std::string log_name(std::uint64_t number) { return fmt::format("log-{:010}", number); }

Result<> Keeper::check(const std::string& id, const std::vector<Column>& columns) const {
    if (id.empty() || columns.empty() || columns.size() > SeriesStore::columns_max)
        return fail(Code::invalid, fmt::format("device '{}' has no id, no columns or more than {}", id,
                                               SeriesStore::columns_max));
    std::vector<std::string> names;
    for (const auto& column : columns) names.push_back(column.name);
    std::ranges::sort(names);
    if (std::ranges::adjacent_find(names) != names.end() || names.front().empty())
        return fail(Code::invalid,
                    fmt::format("device '{}' has two columns of one name, or one without", id));
    const Columns have = shared(columns);
    if ((!have || !numbers_.contains({id, have.get()})) && devices_.size() >= SeriesStore::devices_max)
        return fail(Code::exhausted, fmt::format("more than {} devices", SeriesStore::devices_max));
    return {};
}

Result<DeviceNumber> Keeper::describe(const Device& device, Millis from) {
    TRY(check(device.id, device.columns));
    const auto number = known(device.id, device.columns);
    auto& entry = devices_[number];
    // What is told last about a time holds from then on.
    auto eras = *entry.eras;
    std::erase_if(eras, [from](const Era& era) { return era.from >= from; });
    if (!eras.empty() && eras.back().labels == device.labels && eras.size() == entry.eras->size())
        return number;
    eras.push_back({from, device.labels});
    entry.eras = std::make_shared<const std::vector<Era>>(std::move(eras));
    entry.told_in = 0;
    return number;
}

DeviceNumber Keeper::known(const std::string& id, const std::vector<Column>& columns) {
    Columns have = shared(columns);
    if (!have) have = schemas_.emplace_back(std::make_shared<const std::vector<Column>>(columns));
    const auto [at, fresh] =
        numbers_.try_emplace({id, have.get()}, static_cast<DeviceNumber>(devices_.size()));
    if (!fresh) return at->second;
    auto& device = devices_.emplace_back();
    device.sealed_until = found_until_;
    device.id = std::make_shared<const std::string>(id);
    device.columns = std::move(have);
    device.eras = std::make_shared<const std::vector<Era>>();
    device.head.reset(columns.size());
    return at->second;
}

Columns Keeper::shared(const std::vector<Column>& columns) const {
    const auto found = std::ranges::find_if(schemas_, [&](const Columns& have) { return *have == columns; });
    return found == schemas_.end() ? nullptr : *found;
}

Result<> Keeper::check(const SampleBatch& batch) const {
    if (batch.cells.size() > SeriesStore::batch_cells_max)
        return fail(Code::invalid,
                    fmt::format("a batch of more than {} cells", SeriesStore::batch_cells_max));
    std::size_t cells = 0;
    for (const auto& row : batch.rows) {
        if (row.device >= devices_.size())
            return fail(Code::invalid, fmt::format("the device number {} was never given out", row.device));
        if (row.time < -series::far || row.time > series::far)
            return fail(Code::invalid, fmt::format("a row's time, {}, is out of range", row.time));
        cells += devices_[row.device].columns->size();
    }
    if (cells != batch.cells.size())
        return fail(Code::invalid,
                    fmt::format("{} cells where the columns of the rows are {}", batch.cells.size(), cells));
    return {};
}

void Keeper::tell(std::string& to, DeviceNumber number) {
    auto& device = devices_[number];
    add_varint(to, 0);
    add_varint(to, number);
    add_told(to, *device.id, *device.columns, *device.eras);
    device.told_in = log_;
}

std::vector<Result<>> Keeper::store_rows(std::span<const SampleBatch> batches) {
    std::vector<Result<>> answers;
    if (log_ == 0 || log_broken_) {
        // Rows are told by those before them in the same log, so a new log begins with new heads.
        if (auto fresh = log_ == 0 ? begin_log() : freeze(); !fresh) return {batches.size(), fresh};
    }
    if (head_memory_ + frozen_memory_ > 2 * limits_.head_bytes_max)
        return {batches.size(), fail(Code::exhausted, "too many rows wait to be written to a segment")};
    std::string payload;
    ++round_;
    undos_used_ = 0;
    const auto before = std::tuple{log_rows_, log_first_, log_last_, newest_};
    std::uint64_t rows = 0;
    std::uint64_t late = 0;
    for (const auto& batch : batches) {
        answers.push_back(check(batch));
        if (!answers.back()) continue;
        const Cell* cells = batch.cells.data();
        for (const auto& [number, time] : batch.rows) {
            auto& device = devices_[number];
            const std::span row{cells, device.columns->size()};
            cells += row.size();
            if (time < thinned_until_) {
                ++late;
                continue;
            }
            if (device.head.has(time)) continue;
            if (device.marked_in != round_) note_before(number);
            if (device.told_in != log_) tell(payload, number);
            add_varint(payload, std::uint64_t{number} + 1);
            const auto memory = device.head.memory();
            payload += device.head.add(time, row);
            head_memory_ += device.head.memory() - memory;
            log_first_ = log_rows_ == 0 ? time : std::min(log_first_, time);
            log_last_ = log_rows_ == 0 ? time : std::max(log_last_, time);
            ++log_rows_;
            newest_ = std::max(newest_, time);
            ++rows;
        }
    }
    const auto written = payload.empty() ? Result<>{} : write_log(payload);
    if (written) {
        stats_.rows += rows;
        stats_.rows_late += late;
        return answers;
    }
    for (std::size_t i = 0; i < undos_used_; ++i) {
        auto& device = devices_[undos_[i].number];
        head_memory_ -= device.head.memory();
        device.head.restore(undos_[i].mark);
        head_memory_ += device.head.memory();
        device.told_in = undos_[i].told_in;
    }
    std::tie(log_rows_, log_first_, log_last_, newest_) = before;
    for (auto& answer : answers)
        if (answer) answer = written;
    return answers;
}

// The memory of earlier rounds is used again.
void Keeper::note_before(DeviceNumber number) {
    auto& device = devices_[number];
    if (undos_used_ == undos_.size()) undos_.emplace_back();
    auto& undo = undos_[undos_used_++];
    undo.number = number;
    undo.told_in = device.told_in;
    device.head.mark(undo.mark);
    device.marked_in = round_;
}

Result<> Keeper::write_log(std::string_view payload) {
    std::string record;
    record.reserve(payload.size() + record_head);
    add_fixed(record, static_cast<std::uint32_t>(payload.size()));
    add_fixed(record, checksum(payload));
    record += payload;
    const auto name = log_name(log_);
    if (auto written = folder_->append(name, record); !written) {
        // Half a record would hide those that follow.
        if (!folder_->cut(name, log_size_)) log_broken_ = true;
        return written;
    }
    if (auto synced = folder_->sync(name); !synced) {
        log_broken_ = true;  // What of it is on the disk nobody knows.
        return synced;
    }
    log_size_ += record.size();
    stats_.written_bytes += record.size();
    return {};
}

Result<> Keeper::begin_log() {
    TRY(folder_->create(log_name(log_ + 1)));
    old_logs_ += log_size_;
    ++log_;
    log_size_ = 0;
    log_broken_ = false;
    log_rows_ = 0;
    return {};
}

bool Keeper::full() const {
    return !sealing_ && log_rows_ > 0 &&
           (log_last_ - log_first_ >= limits_.segment_span || head_memory_ >= limits_.head_bytes_max);
}

Result<> Keeper::freeze() {
    if (sealing_) return fail(Code::unavailable, "the rows before are still being written to a segment");
    TRY(begin_log());
    freeze_heads();
    return {};
}

void Keeper::freeze_heads() {
    for (auto& device : devices_) {
        device.frozen = device.head.rows();
        device.frozen_newest = device.head.newest();
        device.head.reset(device.columns->size());
    }
    frozen_memory_ = head_memory_;
    head_memory_ = 0;
    sealing_ = true;
}

Result<bool> Keeper::seal_slice() {
    if (full()) TRY(freeze());
    if (!sealing_) return false;
    const auto failed = [this](Error error) {
        seal_writer_->give_up();
        seal_writer_.reset();
        return std::unexpected(std::move(error));
    };
    if (!seal_writer_) {
        seal_writer_ = std::make_unique<SegmentWriter>(*folder_, next_segment_++);
        seal_next_ = 0;
        if (auto begun = seal_writer_->begin(); !begun) return failed(begun.error());
    }
    const auto end = std::min(devices_.size(), seal_next_ + limits_.devices_per_slice);
    for (; seal_next_ < end; ++seal_next_) {
        const auto& device = devices_[seal_next_];
        auto rows = rows_of(device.frozen, device.columns->size());
        drop_stored(rows, device);
        const auto& columns = *device.columns;
        if (auto added =
                seal_writer_->add(*device.id, columns, forms_of(columns, Level::raw), *device.eras, rows);
            !added)
            return failed(added.error());
    }
    if (seal_next_ < devices_.size()) return true;
    if (auto ended = end_sealing(); !ended) return failed(ended.error());
    return full();
}

// Of rows that came late, or again, those that a segment has already.
void Keeper::drop_stored(Rows& rows, const Known& device) {
    if (rows.times.empty() || rows.times.front() > device.sealed_until) return;
    std::vector<Millis> stored;
    for (const auto& segment : segments_) {
        if (segment->facts.level != Level::raw || segment->facts.last < rows.times.front() ||
            segment->facts.first > rows.times.back())
            continue;
        auto& index = seal_indexes_[segment->number];
        if (!index) index = std::make_unique<SegmentIndex>(segment->index().value_or(SegmentIndex{}));
        for (const auto& other : index->devices) {
            if (index->texts[other.id] != *device.id || index->schemas[other.schema] != *device.columns)
                continue;
            for (const auto& place : other.blocks) {
                const auto bytes = segment->block(place);
                const auto block =
                    bytes ? read_block(*bytes, {}) : Result<Rows>{std::unexpected(bytes.error())};
                if (block) stored.insert(stored.end(), block->times.begin(), block->times.end());
            }
        }
    }
    std::ranges::sort(stored);
    Rows left{.times = {}, .columns = std::vector<std::vector<Cell>>(rows.columns.size())};
    for (std::size_t i = 0; i < rows.times.size(); ++i) {
        if (std::ranges::binary_search(stored, rows.times[i])) continue;
        left.times.push_back(rows.times[i]);
        for (std::size_t c = 0; c < rows.columns.size(); ++c) left.columns[c].push_back(rows.columns[c][i]);
    }
    rows = std::move(left);
}

Result<> Keeper::end_sealing() {
    if (!seal_writer_->empty()) {
        auto segment =
            TRY(seal_writer_->finish({.level = Level::raw, .covers_log = log_ - 1, .replaces = {}}));
        stats_.written_bytes += segment->file->size();
        add_segment(std::move(segment));
    } else {
        seal_writer_->give_up();
    }
    seal_writer_.reset();
    seal_indexes_.clear();
    for (auto& device : devices_) {
        if (device.frozen.rows == 0) continue;
        device.sealed_until = std::max(device.sealed_until, device.frozen_newest);
        device.frozen = {};
        forget_eras(device);
    }
    frozen_memory_ = 0;
    old_logs_ = 0;
    sealing_ = false;
    // Whatever stays is taken for what it is when the store is opened.
    for (const auto& name : folder_->list().value_or(std::vector<std::string>{}))
        if (name.starts_with("log-") && name < log_name(log_)) (void)folder_->remove(name);
    return {};
}

// Those that ended long before the newest row; a segment has its own.
void Keeper::forget_eras(Known& device) {
    constexpr Millis day = 24 * 60 * 60 * 1000;
    auto eras = *device.eras;
    while (eras.size() > 1 && eras[1].from < device.sealed_until - day) eras.erase(eras.begin());
    if (eras.size() < device.eras->size())
        device.eras = std::make_shared<const std::vector<Era>>(std::move(eras));
}

void Keeper::add_segment(SegmentPtr segment) {
    newest_ = std::max(newest_, segment->facts.last);
    if (segment->facts.level != Level::raw)
        thinned_until_ = std::max(thinned_until_, segment->facts.last + 1);
    const auto at = std::ranges::upper_bound(segments_, segment->number, {},
                                             [](const SegmentPtr& s) { return s->number; });
    segments_.insert(at, std::move(segment));
}

View Keeper::view(const Query& query) const {
    View view{.devices = {}, .segments = segments_};
    std::vector<const void*> with_metric;
    for (const auto& columns : schemas_)
        if (contains(*columns, query.metric, &Column::name)) with_metric.push_back(columns.get());
    if (with_metric.empty()) return view;
    for (const auto& device : devices_) {
        if (device.head.rows().rows == 0 && device.frozen.rows == 0) continue;
        if (!contains(with_metric, device.columns.get())) continue;
        view.devices.push_back({device.id, device.columns, device.eras, {device.frozen, device.head.rows()}});
    }
    return view;
}

SeriesStats Keeper::stats() const {
    auto stats = stats_;
    stats.devices = devices_.size();
    stats.memory_bytes = head_memory_ + frozen_memory_;
    stats.disk_bytes = log_size_ + old_logs_;
    for (const auto& segment : segments_) stats.disk_bytes += segment->file->size();
    if (const auto volume = folder_->volume()) {
        stats.volume_bytes = volume->bytes;
        stats.volume_free_bytes = volume->free_bytes;
    }
    return stats;
}

}  // namespace hostler::series
