// What is kept for how long: a segment is thinned as a whole, into one that takes its place.
#include <algorithm>

#include "adapters/series/keeper.h"
#include "adapters/series/thin.h"
#include "core/log.h"
#include "domain/series/ranges.h"

namespace hostler::series {

namespace {

Millis before(Millis now, Duration kept) {
    return now - std::chrono::duration_cast<std::chrono::milliseconds>(kept).count();
}

}  // namespace

Result<bool> Keeper::keep_slice(const SeriesPolicy& policy, Millis now) {
    if (!thinning_) return begin_thinning(policy, now);
    const auto failed = [this](Error error) {
        if (thinning_) thinning_->writer->give_up();
        thinning_.reset();
        return std::unexpected(std::move(error));
    };
    auto& [from, index, next, writer] = *thinning_;
    const auto end = std::min(index.devices.size(), next + limits_.devices_per_slice);
    for (; next < end; ++next)
        if (auto done = thin_device(index.devices[next]); !done) return failed(done.error());
    if (next < index.devices.size()) return true;
    if (auto ended = end_thinning(); !ended) return failed(ended.error());
    return true;
}

// false: there is nothing to do.
Result<bool> Keeper::begin_thinning(const SeriesPolicy& policy, Millis now) {
    const Millis ends[] = {before(now, policy.raw), before(now, policy.minute), before(now, policy.hour)};
    const auto due = std::ranges::find_if(segments_, [&ends](const SegmentPtr& segment) {
        return segment->facts.last < ends[static_cast<std::size_t>(segment->facts.level)];
    });
    if (due == segments_.end()) return false;
    const SegmentPtr segment = *due;
    if (segment->facts.level == Level::hour) {
        TRY(drop(segment));
        return true;
    }
    Thinning thinning{.from = segment, .index = TRY(segment->index()), .next = 0, .writer = nullptr};
    thinning.writer = std::make_unique<SegmentWriter>(*folder_, next_segment_++);
    if (auto begun = thinning.writer->begin(); !begun) {
        thinning.writer->give_up();
        return std::unexpected(begun.error());
    }
    thinning_.emplace(std::move(thinning));
    return true;
}

Result<> Keeper::thin_device(const SegmentIndex::IndexDevice& device) {
    const auto& [from, index, next, writer] = *thinning_;
    const auto& columns = index.schemas[device.schema];
    const auto level = index.facts.level;
    std::vector<std::size_t> all(forms_of(columns, level).size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    Rows rows{.times = {}, .columns = std::vector<std::vector<Cell>>(all.size())};
    for (const auto& place : device.blocks) {
        const auto bytes = TRY(from->block(place));
        auto block = read_block(bytes, all);
        if (!block) {  // What is damaged is not there any more, and the rest goes on.
            ++stats_.blocks_damaged;
            log_warn("series: the {} bytes at byte {} of {} are damaged and left out of what is kept longer",
                     place.size, place.at, segment_name(from->number));
            continue;
        }
        extend(rows.times, block->times);
        for (std::size_t i = 0; i < all.size(); ++i) extend(rows.columns[i], block->columns[i]);
    }
    const auto to = level == Level::raw ? Level::minute : Level::hour;
    return writer->add(index.texts[device.id], columns, forms_of(columns, to), index.eras_of(device),
                       thin(rows, columns, level));
}

Result<> Keeper::end_thinning() {
    auto& [from, index, next, writer] = *thinning_;
    const auto to = index.facts.level == Level::raw ? Level::minute : Level::hour;
    // Also what that one replaced, should it not have gone.
    auto replaces = index.facts.replaces;
    replaces.push_back(from->number);
    auto segment = TRY(
        writer->finish({.level = to, .covers_log = index.facts.covers_log, .replaces = std::move(replaces)}));
    stats_.written_bytes += segment->file->size();
    const SegmentPtr old = from;
    thinning_.reset();
    add_segment(std::move(segment));
    return drop(old);
}

Result<> Keeper::drop(const SegmentPtr& segment) {
    std::erase(segments_, segment);
    return folder_->remove(segment_name(segment->number));
}

}  // namespace hostler::series
