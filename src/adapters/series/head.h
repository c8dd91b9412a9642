// The newest rows of one device, in memory and in the log: of each only what differs from the row before.
#pragma once

#include <memory>
#include <optional>

#include "adapters/series/block.h"
#include "adapters/series/bytes.h"

namespace hostler::series {

// What a row is told by.
struct Previous {
    Millis time = 0;
    Millis step = 0;
    std::vector<Cell> cells;
};

constexpr std::size_t row_bytes_max(std::size_t columns) {
    return varint_max + (columns + 7) / 8 + columns * varint_max;
}
// Returns the end; there is room for row_bytes_max().
char* put_row(char* to, Previous& before, Millis time, std::span<const Cell> cells);
bool take_row(Reader& from, Previous& before);  // `before` is the row afterwards. false: damaged.

// Where reading may begin: what the rows before it came to.
struct Waypoint {
    std::size_t at = 0;  // Bytes before it,
    std::size_t rows = 0;
    Millis newest = 0;  // of these.
    Previous before;
};
using Waypoints = std::vector<std::shared_ptr<const Waypoint>>;

// Bytes that only grow; who holds a view reads what was there when it was taken, on any thread.
struct RowBytes {
    std::shared_ptr<char[]> bytes;
    std::size_t size = 0;
    std::size_t rows = 0;
    std::shared_ptr<const Waypoints> waypoints;  // By `rows`; null: none.
    std::string_view view() const { return {bytes.get(), size}; }
};

class Head {
public:
    void reset(std::size_t columns);
    // Adds a row; returns its bytes, for the log.
    std::string_view add(Millis time, std::span<const Cell> cells);

    // As it was before rows that could not be stored.
    struct Mark {
        std::size_t size = 0;
        std::size_t rows = 0;
        Previous before;
        Millis newest = 0;
    };
    void mark(Mark& into) const;
    void restore(const Mark& mark);

    const RowBytes& rows() const { return rows_; }
    std::size_t memory() const { return capacity_ + waypoints_memory_; }
    bool has(Millis time) const { return rows_.rows > 0 && before_.time == time; }  // The last one that came.
    Millis newest() const { return newest_; }

    static constexpr std::size_t waypoint_rows = 128;  // At first; twice as many whenever there are too many.
    static constexpr std::size_t waypoints_max = 32;

private:
    void grow(std::size_t room);
    void put_waypoint();
    void keep(Waypoints waypoints);
    RowBytes rows_;
    std::size_t capacity_ = 0;
    std::size_t between_ = waypoint_rows;
    std::size_t waypoints_memory_ = 0;
    Previous before_;
    Millis newest_ = 0;
};

// By time, each once: of two rows of one time the first that came. All columns, or `only` one. Rows before
// `from` may be left out.
Rows rows_of(const RowBytes& bytes, std::size_t width, std::optional<std::size_t> only = std::nullopt,
             Millis from = std::numeric_limits<Millis>::min());

// Puts `rows` in order of time and leaves out all but the first of each.
void put_in_order(Rows& rows);

}  // namespace hostler::series
