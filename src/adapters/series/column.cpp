#include "adapters/series/column.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "adapters/series/bytes.h"
#include "adapters/series/coder.h"
#include "domain/series/ranges.h"

namespace hostler::series {

namespace {

enum Mode : std::uint8_t { all_absent, constant, coded };
enum Way : std::uint8_t { before, mean, slope, mean_slope, ways, exclusive_or };  // What is expected next.
// The mode byte: mode, way (3 bits from bit 2), whether some are absent (bit 5).
constexpr unsigned sparse = 1U << 5;
// Of doubles: the power of ten plus one in a byte of its own behind it; integers: 0; XOR: 0 too.
constexpr int decimals_max = 6;
constexpr double powers[decimals_max + 1] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6};

std::int64_t plus(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t minus(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t times(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

// What the next number is expected to be, from those before; the same in both directions, whatever overflows.
template <Way way>
class Forecast {
public:
    std::int64_t next() const {
        if constexpr (way == before) return last_;
        if constexpr (way == mean) return mean_ >> fraction;
        if constexpr (way == slope) return plus(last_, step_);
        return plus(last_, mean_ >> fraction);
    }
    void learn(std::int64_t value) {
        if constexpr (way == mean) turn_to(value);
        if constexpr (way == slope) step_ = seen_ > 0 ? minus(value, last_) : 0;
        if constexpr (way == mean_slope)
            if (seen_ > 0) turn_to(minus(value, last_));
        last_ = value;
        ++seen_;
    }

private:
    static constexpr int fraction = 8;
    // The mean of all at first, then mostly of the last eight.
    void turn_to(std::int64_t value) {
        const std::int64_t away = minus(times(value, 1 << fraction), mean_);
        mean_ = turned_ < 8 ? plus(mean_, away / ++turned_) : plus(mean_, away >> 3);
    }
    std::int64_t last_ = 0;
    std::int64_t step_ = 0;
    std::int64_t mean_ = 0;
    std::int64_t turned_ = 0;
    std::size_t seen_ = 0;
};

template <class Each>
void with_way(Way way, const Each& each) {
    switch (way) {
        case before: return each(Forecast<before>{});
        case mean: return each(Forecast<mean>{});
        case slope: return each(Forecast<slope>{});
        case mean_slope: return each(Forecast<mean_slope>{});
        case ways:
        case exclusive_or: return;
    }
}

// The way whose misses have the fewest bits.
Way best_way(std::span<const std::int64_t> numbers) {
    Way best = before;
    std::uint64_t least = ~std::uint64_t{0};
    for (const Way way : {before, mean, slope, mean_slope}) {
        std::uint64_t bits = 0;
        with_way(way, [&](auto forecast) {
            for (const auto number : numbers) {
                bits += static_cast<std::uint64_t>(std::bit_width(zigzag(minus(number, forecast.next()))));
                forecast.learn(number);
            }
        });
        if (bits < least) {
            least = bits;
            best = way;
        }
    }
    return best;
}

// The doubles as integers, and the power of ten that does it.
std::optional<int> as_integers(std::span<const Cell> cells, std::vector<std::int64_t>& numbers) {
    constexpr double exact = 9007199254740992.0;  // 2^53
    for (int decimals = 0; decimals <= decimals_max; ++decimals) {
        numbers.clear();
        for (const Cell cell : cells) {
            const double scaled = real_of(cell) * powers[decimals];
            if (!(scaled > -exact && scaled < exact)) return std::nullopt;
            const auto number = std::llround(scaled);
            if (real_cell(static_cast<double>(number) / powers[decimals]) != cell) break;
            numbers.push_back(number);
        }
        if (numbers.size() == cells.size()) return decimals;
    }
    return std::nullopt;
}

struct Streams {
    std::string modelled;
    std::string plain;
    Encoder encoder{modelled};
    BitWriter bits{plain};
};

void add_numbers(std::string& to, Streams& streams, std::span<std::int64_t> numbers, unsigned head,
                 std::uint8_t decimals) {
    const std::int64_t first = numbers.front();
    std::uint64_t divisor = 0;
    for (const auto number : numbers) {
        const auto away = minus(number, first);
        if (away == std::numeric_limits<std::int64_t>::min()) divisor = 1;
        if (divisor == 1) break;
        divisor = std::gcd(divisor, static_cast<std::uint64_t>(away < 0 ? -away : away));
    }
    divisor = std::max<std::uint64_t>(divisor, 1);
    const auto by = static_cast<std::int64_t>(divisor);
    for (auto& number : numbers) number = by == 1 ? minus(number, first) : minus(number, first) / by;
    const Way way = best_way(numbers);
    to += static_cast<char>(head | coded | static_cast<unsigned>(way) << 2);
    to += static_cast<char>(decimals);
    add_signed(to, first);
    add_varint(to, divisor);
    NumberModel model;
    with_way(way, [&](auto forecast) {
        for (const auto number : numbers) {
            model.put(streams.encoder, streams.bits, zigzag(minus(number, forecast.next())));
            forecast.learn(number);
        }
    });
}

void add_bits(std::string& to, Streams& streams, std::span<const Cell> cells, unsigned head) {
    to += static_cast<char>(head | coded | unsigned{exclusive_or} << 2);
    NumberModel lengths;
    Tree<6> zeros;
    std::uint64_t last = 0;
    for (const Cell cell : cells) {
        const std::uint64_t differs = static_cast<std::uint64_t>(cell) ^ last;
        last = static_cast<std::uint64_t>(cell);
        const int low = differs == 0 ? 0 : std::countr_zero(differs);
        lengths.put(streams.encoder, streams.bits, differs >> low);
        if (differs != 0) zeros.put(streams.encoder, static_cast<unsigned>(low));
    }
}

}  // namespace

void add_column(std::string& to, std::span<const Cell> cells, Form form) {
    if (std::ranges::all_of(cells, [&cells](Cell cell) { return cell == cells.front(); })) {
        to += static_cast<char>(cells.empty() || cells.front() == absent ? all_absent : constant);
        if (!cells.empty() && cells.front() != absent) add_signed(to, cells.front());
        return;
    }
    Streams streams;
    std::vector<Cell> present(cells.begin(), cells.end());
    unsigned head = 0;
    if (contains(cells, absent)) {
        head = sparse;
        std::erase(present, absent);
        Chance chances[2];
        bool last = true;
        for (const Cell cell : cells) {
            streams.encoder.put(cell != absent, chances[last]);
            last = cell != absent;
        }
    }
    std::vector<std::int64_t> numbers;
    std::optional<int> decimals;
    if (form == Form::real) decimals = as_integers(present, numbers);
    if (form == Form::integer)
        add_numbers(to, streams, present, head, 0);
    else if (decimals)
        add_numbers(to, streams, numbers, head, static_cast<std::uint8_t>(*decimals + 1));
    else
        add_bits(to, streams, present, head);
    streams.encoder.finish();
    streams.bits.finish();
    add_text(to, streams.modelled);
    to.append(streams.plain);
}

namespace {

// What a coded column says before its streams.
struct Head {
    Way way = before;
    unsigned decimals = 0;
    std::int64_t first = 0;
    std::int64_t divisor = 1;
};

std::vector<Cell> read_numbers(const Head& head, Decoder& decoder, BitReader& bits, std::size_t count) {
    std::vector<Cell> cells(count);
    NumberModel model;
    with_way(head.way, [&](auto forecast) {
        for (auto& cell : cells) {
            const auto number = plus(forecast.next(), unzigzag(model.take(decoder, bits)));
            forecast.learn(number);
            const auto whole = plus(head.first, times(number, head.divisor));
            cell =
                head.decimals > 0 ? real_cell(static_cast<double>(whole) / powers[head.decimals - 1]) : whole;
        }
    });
    return cells;
}

std::vector<Cell> read_bits(Decoder& decoder, BitReader& bits, std::size_t count) {
    std::vector<Cell> cells(count);
    NumberModel lengths;
    Tree<6> zeros;
    std::uint64_t last = 0;
    for (auto& cell : cells) {
        const auto differs = lengths.take(decoder, bits);
        if (differs != 0) last ^= differs << zeros.take(decoder);
        cell = static_cast<Cell>(last);
    }
    return cells;
}

}  // namespace

Result<std::vector<Cell>> read_column(std::string_view bytes, std::size_t rows) {
    const auto damaged = [] { return fail(Code::invalid, "a column is damaged"); };
    Reader reader{bytes};
    const auto first_byte = reader.take(1);
    if (first_byte.empty()) return damaged();
    const auto byte = static_cast<std::uint8_t>(first_byte.front());
    if (byte == all_absent) return std::vector<Cell>(rows, absent);
    if (byte == constant) {
        const auto value = reader.signed_varint();
        if (!reader.ok()) return damaged();
        return std::vector<Cell>(rows, value);
    }
    Head head{.way = static_cast<Way>((byte >> 2) & 7)};
    if ((byte & 3) != coded || head.way == ways || head.way > exclusive_or || byte >= 2 * sparse)
        return damaged();
    if (head.way != exclusive_or) {
        head.decimals = static_cast<unsigned>(reader.varint());
        head.first = reader.signed_varint();
        head.divisor = static_cast<std::int64_t>(reader.varint());
        if (head.decimals > decimals_max + 1) return damaged();
    }
    const auto modelled = reader.text();
    if (!reader.ok()) return damaged();
    Decoder decoder{modelled};
    BitReader bits{reader.take(reader.left())};
    std::vector<bool> there(rows, true);
    if (byte & sparse) {
        Chance chances[2];
        bool last = true;
        for (std::size_t i = 0; i < rows; ++i) there[i] = last = decoder.take(chances[last]);
    }
    const auto count = static_cast<std::size_t>(std::ranges::count(there, true));
    auto cells =
        head.way == exclusive_or ? read_bits(decoder, bits, count) : read_numbers(head, decoder, bits, count);
    if (count == rows) return cells;
    std::vector<Cell> all(rows, absent);
    for (std::size_t i = 0, next = 0; i < rows; ++i)
        if (there[i]) all[i] = cells[next++];
    return all;
}

}  // namespace hostler::series
