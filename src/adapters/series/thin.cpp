#include "adapters/series/thin.h"
#include "domain/series/ranges.h"

namespace hostler::series {

namespace {

constexpr Millis width_of(Level level) {
    switch (level) {
        case Level::raw: break;
        case Level::minute: return 60'000;
        case Level::hour: return 3'600'000;
    }
    return 1;
}

Millis bucket_of(Millis time, Millis width) { return time >= 0 ? time / width : (time + 1) / width - 1; }

std::vector<Form> parts_forms(Kind kind) {
    switch (kind) {
        case Kind::gauge: return {Form::integer, Form::real, Form::real, Form::real, Form::real};
        case Kind::counter: return {Form::integer, Form::real, Form::real, Form::integer};
    }
    return {};
}

std::vector<Cell> cells_of(const Point& point, Kind kind) {
    const auto count = static_cast<Cell>(point.count);
    switch (kind) {
        case Kind::gauge:
            return {count, real_cell(point.min), real_cell(point.max), real_cell(point.sum),
                    real_cell(point.last)};
        case Kind::counter: return {count, real_cell(point.last), real_cell(point.increase), point.span};
    }
    return {};
}

}  // namespace

std::vector<Form> forms_of(const std::vector<Column>& columns, Level level) {
    std::vector<Form> forms;
    for (const auto& column : columns) {
        if (level == Level::raw)
            forms.push_back(column.form);
        else
            extend(forms, parts_forms(column.kind));
    }
    return forms;
}

Parts parts_of(const std::vector<Column>& columns, std::size_t column, Level level) {
    if (level == Level::raw) return {column, 1};
    Parts parts;
    for (std::size_t i = 0; i < column; ++i) parts.at += parts_forms(columns[i].kind).size();
    parts.count = parts_forms(columns[column].kind).size();
    return parts;
}

std::vector<Point> points_in(std::span<const Millis> times, std::span<const std::vector<Cell>> parts,
                             const Column& column, Level level) {
    if (level == Level::raw) return points_of(times, parts[0], column);
    std::vector<Point> points;
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (parts[0][i] == absent) continue;
        Point point{.time = times[i], .count = static_cast<std::uint64_t>(parts[0][i])};
        switch (column.kind) {
            case Kind::gauge:
                point.min = real_of(parts[1][i]);
                point.max = real_of(parts[2][i]);
                point.sum = real_of(parts[3][i]);
                point.last = real_of(parts[4][i]);
                break;
            case Kind::counter:
                point.min = point.max = point.last = real_of(parts[1][i]);
                point.sum = point.last * static_cast<double>(point.count);
                point.increase = real_of(parts[2][i]);
                point.span = parts[3][i];
                break;
        }
        points.push_back(point);
    }
    return points;
}

Rows thin(const Rows& rows, const std::vector<Column>& columns, Level from) {
    const auto width = width_of(from == Level::raw ? Level::minute : Level::hour);
    Rows thinned;
    for (std::size_t i = 0; i < rows.times.size(); ++i) {
        const bool last = i + 1 == rows.times.size() ||
                          bucket_of(rows.times[i + 1], width) != bucket_of(rows.times[i], width);
        if (last) thinned.times.push_back(rows.times[i]);
    }
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const auto parts = parts_of(columns, c, from);
        const auto points =
            points_in(rows.times, std::span(rows.columns).subspan(parts.at, parts.count), columns[c], from);
        std::vector<std::vector<Cell>> cells(parts_forms(columns[c].kind).size(),
                                             std::vector<Cell>(thinned.times.size(), absent));
        std::size_t next = 0;
        for (std::size_t row = 0; row < thinned.times.size(); ++row) {
            Point all;
            for (; next < points.size() && points[next].time <= thinned.times[row]; ++next)
                merge(all, points[next]);
            if (all.count == 0) continue;
            const auto values = cells_of(all, columns[c].kind);
            for (std::size_t part = 0; part < values.size(); ++part) cells[part][row] = values[part];
        }
        for (auto& part : cells) thinned.columns.push_back(std::move(part));
    }
    return thinned;
}

}  // namespace hostler::series
