#include "adapters/series/read.h"

#include <algorithm>
#include <numeric>

#include "adapters/series/thin.h"
#include "core/log.h"
#include "domain/series/evaluate.h"
#include "domain/series/ranges.h"

namespace hostler::series {

namespace {

constexpr std::size_t indexes_max = 4;

// Rows before it say nothing of what is asked: a counter's first step counts from the sample before it.
Millis begin_of(const Query& query, Kind kind) {
    return kind == Kind::counter ? query.from - gap_max : query.from;
}

// Of rows in order those that the answer rests on.
std::vector<Point> asked_points(const Query& query, const Rows& rows, const Column& column) {
    const auto begin = std::ranges::lower_bound(rows.times, begin_of(query, column.kind));
    const auto size =
        static_cast<std::size_t>(std::ranges::lower_bound(begin, rows.times.end(), query.to) - begin);
    const auto at = static_cast<std::size_t>(begin - rows.times.begin());
    return points_of(std::span(rows.times).subspan(at, size), std::span(rows.columns[0]).subspan(at, size),
                     column);
}

}  // namespace

Result<QueryReader::Index> QueryReader::index_of(const Segment& segment) {
    const auto found = std::ranges::find(kept_, segment.number, &std::pair<std::uint64_t, Index>::first);
    if (found != kept_.end()) {
        std::rotate(found, found + 1, kept_.end());
        return kept_.back().second;
    }
    if (kept_.size() >= indexes_max) kept_.erase(kept_.begin());
    kept_.emplace_back(segment.number, std::make_shared<const SegmentIndex>(TRY(segment.index())));
    return kept_.back().second;
}

Result<std::vector<Line>> QueryReader::answer(const Query& query, const View& view) {
    const Millis from = begin_of(query, Kind::counter);
    std::vector<std::pair<const Segment*, Index>> segments;
    AskedDevices asked;
    for (const auto& segment : view.segments) {
        if (segment->facts.last < from || segment->facts.first >= query.to) continue;
        auto index = TRY(index_of(*segment));
        const IndexFilter filter{query, *index};
        for (const auto& device : index->devices)
            if (filter.takes(device)) asked.try_emplace(index->texts[device.id]);
        segments.emplace_back(segment.get(), std::move(index));
    }
    for (const auto& device : view.devices)
        if (std::ranges::any_of(*device.eras, [&](const Era& era) { return matches(query, era.labels); }))
            asked.try_emplace(*device.id);
    // A device whose labels changed may have rows under others before those that are asked for.
    for (const auto& [segment, index] : segments) {
        const IndexFilter filter{query, *index};
        for (const auto& device : index->devices) {
            const auto column = filter.columns()[device.schema];
            if (!column) continue;
            if (const auto found = asked.find(index->texts[device.id]); found != asked.end())
                found->second.sources.push_back({segment, index.get(), &device, *column});
        }
    }
    for (const auto& device : view.devices)
        if (const auto found = asked.find(*device.id); found != asked.end())
            found->second.heads.push_back(&device);

    Evaluation evaluation{query};
    std::vector<Point> points;
    for (const auto& [id, device] : asked) {
        TRY(read(query, device, points));
        const bool one_era =
            device.sources.empty() && device.heads.size() == 1 && device.heads[0]->eras->size() == 1;
        if (one_era) {  // Without a copy, as most of a fleet is.
            TRY(evaluation.add(id, *device.heads[0]->eras, points));
            continue;
        }
        std::vector<Era> eras;
        for (const auto& source : device.sources) extend(eras, source.index->eras_of(*source.device));
        for (const auto* head : device.heads) extend(eras, *head->eras);
        TRY(evaluation.add(id, in_order(std::move(eras)), points));
    }
    return std::move(evaluation).finish();
}

Result<> QueryReader::read(const Query& query, const Asked& asked, std::vector<Point>& points) {
    points.clear();
    std::map<Column, Rows> raw;  // Columns of one name may have been of other kinds.
    for (const auto& source : asked.sources) TRY(read_source(query, source, raw, points));
    for (const auto* head : asked.heads) {
        const auto& columns = *head->columns;
        const auto column = std::ranges::find(columns, query.metric, &Column::name);
        for (const auto& bytes : head->rows) {
            if (bytes.rows == 0) continue;
            auto rows = rows_of(bytes, columns.size(), static_cast<std::size_t>(column - columns.begin()),
                                begin_of(query, column->kind));
            auto& to = raw[*column];
            to.columns.resize(1);
            extend(to.times, rows.times);
            extend(to.columns[0], rows.columns[0]);
        }
    }
    const bool sorted = points.empty() && raw.size() <= 1;
    for (auto& [column, rows] : raw) {
        put_in_order(rows);
        auto more = asked_points(query, rows, column);
        if (points.empty())
            points = std::move(more);
        else
            extend(points, more);
    }
    if (!sorted) std::ranges::sort(points, {}, [](const Point& p) { return std::pair{p.time, p.count}; });
    return {};
}

Result<> QueryReader::read_source(const Query& query, const Source& source, std::map<Column, Rows>& raw,
                                  std::vector<Point>& points) {
    const auto& columns = source.index->schemas[source.device->schema];
    const auto& column = columns[source.column];
    const auto level = source.index->facts.level;
    const auto parts = parts_of(columns, source.column, level);
    std::vector<std::size_t> wanted(parts.count);
    std::iota(wanted.begin(), wanted.end(), parts.at);
    for (const auto& place : source.device->blocks) {
        if (place.last < begin_of(query, column.kind) || place.first >= query.to) continue;
        const auto bytes = TRY(source.segment->block(place));
        const auto rows = read_block(bytes, wanted);
        if (!rows) {
            ++damaged_;
            // Each question comes upon it again.
            constexpr std::size_t told_max = 1000;
            if (told_.size() < told_max && told_.emplace(source.segment->number, place.at).second)
                log_warn("series: the {} bytes at byte {} of {} are damaged and left out of answers",
                         place.size, place.at, segment_name(source.segment->number));
            continue;
        }
        if (level != Level::raw) {
            extend(points, points_in(rows->times, rows->columns, column, level));
            continue;
        }
        auto& to = raw[column];
        to.columns.resize(1);
        extend(to.times, rows->times);
        extend(to.columns[0], rows->columns[0]);
    }
    return {};
}

}  // namespace hostler::series
