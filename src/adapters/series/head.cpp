#include "adapters/series/head.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace hostler::series {

namespace {

std::int64_t difference(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t sum(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

}  // namespace

char* put_row(char* to, Previous& before, Millis time, std::span<const Cell> cells) {
    const Millis step = difference(time, before.time);
    to = put_varint(to, zigzag(difference(step, before.step)));
    before.time = time;
    before.step = step;
    char* const changed = to;
    const auto bitmap = (cells.size() + 7) / 8;
    std::memset(changed, 0, bitmap);
    to += bitmap;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (cells[i] == before.cells[i]) continue;
        changed[i / 8] = static_cast<char>(changed[i / 8] | 1 << (i % 8));
        to = put_varint(to, zigzag(difference(cells[i], before.cells[i])));
        before.cells[i] = cells[i];
    }
    return to;
}

bool take_row(Reader& from, Previous& before) {
    before.step = sum(before.step, from.signed_varint());
    before.time = sum(before.time, before.step);
    const auto changed = from.take((before.cells.size() + 7) / 8);
    if (!from.ok()) return false;
    for (std::size_t byte = 0; byte < changed.size(); ++byte)
        for (unsigned left = static_cast<std::uint8_t>(changed[byte]); left != 0; left &= left - 1) {
            const auto i = 8 * byte + static_cast<std::size_t>(std::countr_zero(left));
            if (i >= before.cells.size()) return false;
            before.cells[i] = sum(before.cells[i], from.signed_varint());
        }
    return from.ok();
}

void Head::reset(std::size_t columns) {
    rows_ = {};
    capacity_ = 0;
    between_ = waypoint_rows;
    waypoints_memory_ = 0;
    before_ = {.time = 0, .step = 0, .cells = std::vector<Cell>(columns)};
    newest_ = 0;
}

// Into a place of its own: a view of the old one stays as it is.
void Head::grow(std::size_t room) {
    if (rows_.size + room <= capacity_) return;
    const auto capacity = std::max(rows_.size + room, rows_.size + rows_.size / 2);
    auto bytes = std::make_shared_for_overwrite<char[]>(capacity);
    if (rows_.size > 0) std::memcpy(bytes.get(), rows_.bytes.get(), rows_.size);
    rows_.bytes = std::move(bytes);
    capacity_ = capacity;
}

void Head::put_waypoint() {
    auto waypoints = rows_.waypoints ? *rows_.waypoints : Waypoints{};
    waypoints.push_back(std::make_shared<const Waypoint>(rows_.size, rows_.rows, newest_, before_));
    if (waypoints.size() > waypoints_max) {
        between_ *= 2;
        std::erase_if(waypoints, [this](const auto& waypoint) { return waypoint->rows % between_ != 0; });
    }
    keep(std::move(waypoints));
}

void Head::keep(Waypoints waypoints) {
    waypoints_memory_ = waypoints.size() * (sizeof(Waypoint) + before_.cells.size() * sizeof(Cell));
    rows_.waypoints = waypoints.empty() ? nullptr : std::make_shared<const Waypoints>(std::move(waypoints));
}

std::string_view Head::add(Millis time, std::span<const Cell> cells) {
    if (rows_.rows > 0 && rows_.rows % between_ == 0) put_waypoint();
    grow(row_bytes_max(cells.size()));
    char* const from = rows_.bytes.get() + rows_.size;
    const char* const end = put_row(from, before_, time, cells);
    const auto size = static_cast<std::size_t>(end - from);
    newest_ = rows_.rows == 0 ? time : std::max(newest_, time);
    rows_.size += size;
    ++rows_.rows;
    return {from, size};
}

void Head::mark(Mark& into) const {
    into.size = rows_.size;
    into.rows = rows_.rows;
    into.before = before_;
    into.newest = newest_;
}

void Head::restore(const Mark& mark) {
    rows_.size = mark.size;
    rows_.rows = mark.rows;
    before_ = mark.before;
    newest_ = mark.newest;
    if (!rows_.waypoints || rows_.waypoints->back()->rows < mark.rows) return;
    auto waypoints = *rows_.waypoints;
    std::erase_if(waypoints, [&mark](const auto& waypoint) { return waypoint->rows >= mark.rows; });
    keep(std::move(waypoints));
}

void put_in_order(Rows& rows) {
    if (std::ranges::is_sorted(rows.times, std::ranges::less_equal{})) return;  // Rising, no two equal.
    std::vector<std::size_t> order(rows.times.size());
    std::iota(order.begin(), order.end(), 0);
    const auto time_of = [&rows](std::size_t i) { return rows.times[i]; };
    std::ranges::sort(order, {}, [&rows](std::size_t i) { return std::pair{rows.times[i], i}; });
    const auto twice = std::ranges::unique(order, {}, time_of);
    order.erase(twice.begin(), twice.end());
    const auto arrange = [&order](std::vector<std::int64_t>& column) {
        std::vector<std::int64_t> arranged;
        arranged.reserve(order.size());
        for (const auto i : order) arranged.push_back(column[i]);
        column = std::move(arranged);
    };
    for (auto& column : rows.columns) arrange(column);
    arrange(rows.times);
}

Rows rows_of(const RowBytes& bytes, std::size_t width, std::optional<std::size_t> only, Millis from) {
    const Waypoint start{.before = {.time = 0, .step = 0, .cells = std::vector<Cell>(width)}};
    const Waypoint* begin = &start;
    if (bytes.waypoints)
        for (const auto& waypoint : *bytes.waypoints)
            if (waypoint->newest < from) begin = waypoint.get();
    Rows rows;
    rows.columns.resize(only ? 1 : width);
    rows.times.reserve(bytes.rows - begin->rows);
    for (auto& column : rows.columns) column.reserve(bytes.rows - begin->rows);
    Reader reader{bytes.view().substr(begin->at)};
    Previous row = begin->before;
    for (std::size_t i = begin->rows; i < bytes.rows && take_row(reader, row); ++i) {
        rows.times.push_back(row.time);
        if (only)
            rows.columns[0].push_back(row.cells[*only]);
        else
            for (std::size_t c = 0; c < width; ++c) rows.columns[c].push_back(row.cells[c]);
    }
    put_in_order(rows);
    return rows;
}

}  // namespace hostler::series
