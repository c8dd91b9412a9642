#include "sql/pieces.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hostler::sql {

namespace {

constexpr std::size_t rows_max = 256;
constexpr std::size_t bytes_max = std::size_t{4} << 20;  // Then a piece gets no other row.

std::vector<std::string> names_of(const Form& form) {
    std::vector<std::string> names;
    for (const Form::Column& column : form.columns) names.push_back(fmt::format("\"{}\"", column.name));
    return names;
}

std::vector<std::string> key_of(const Form& form) {
    std::vector<std::string> names;
    for (const std::size_t at : form.key) names.push_back(fmt::format("\"{}\"", form.columns[at].name));
    return names;
}

// "?1, ?2, ?3"
std::string places(std::size_t count) {
    std::vector<std::string> all;
    for (std::size_t i = 1; i <= count; ++i) all.push_back(fmt::format("?{}", i));
    return fmt::format("{}", fmt::join(all, ", "));
}

template <class T>
void put_big_endian(std::string& into, T value) {
    for (int shift = 8 * static_cast<int>(sizeof value) - 8; shift >= 0; shift -= 8)
        into += static_cast<char>((value >> shift) & 0xff);
}

template <class T>
Result<T> take_big_endian(std::string_view& from) {
    if (from.size() < sizeof(T)) return fail(Code::invalid, "it ends in the middle of a number");
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
        value = static_cast<T>(value << 8) | static_cast<unsigned char>(from[i]);
    from.remove_prefix(sizeof(T));
    return value;
}

}  // namespace

void put_number(std::string& into, std::uint64_t number) { put_big_endian(into, number); }

void put_text(std::string& into, std::string_view text) {
    put_big_endian(into, static_cast<std::uint32_t>(text.size()));
    into += text;
}

Result<std::uint64_t> take_number(std::string_view& from) { return take_big_endian<std::uint64_t>(from); }

Result<std::string_view> take_text(std::string_view& from) {
    const auto size = TRY(take_big_endian<std::uint32_t>(from));
    if (from.size() < size) return fail(Code::invalid, "it ends in the middle of a text");
    const std::string_view text = from.substr(0, size);
    from.remove_prefix(size);
    return text;
}

PieceReader::PieceReader(Connection& connection, const Form& form) : connection_(connection), form_(form) {
    last_.resize(form.key.size());
}

Result<Piece> PieceReader::next() {
    if (form_.key.empty())
        return fail(Code::invalid, fmt::format("the table {} of the store {} has no key: it is none of ours",
                                               form_.table, connection_.name()));
    const std::string key = fmt::format("{}", fmt::join(key_of(form_), ", "));
    std::string sql = fmt::format("SELECT {} FROM \"{}\"", fmt::join(names_of(form_), ", "), form_.table);
    std::vector<Value> values;
    if (begun_) {
        sql += fmt::format(" WHERE ({}) > ({})", key, places(form_.key.size()));
        for (std::size_t i = 0; i < form_.key.size(); ++i)
            form_.columns[form_.key[i]].is_number ? values.emplace_back(last_[i].second)
                                                  : values.emplace_back(std::string_view{last_[i].first});
    }
    sql += fmt::format(" ORDER BY {} LIMIT {}", key, rows_max);
    Piece piece;
    auto last = last_;
    TRY(connection_.run(sql, values, [&](const Row& row) {
        if (piece.bytes.size() >= bytes_max) return;  // They begin the next.
        ++piece.rows;
        for (std::size_t i = 0; i < form_.columns.size(); ++i)
            if (form_.columns[i].is_number)
                put_number(piece.bytes, row.number(static_cast<int>(i)));
            else
                put_text(piece.bytes, row.text(static_cast<int>(i)));
        for (std::size_t i = 0; i < form_.key.size(); ++i) {
            const std::size_t column = form_.key[i];
            if (form_.columns[column].is_number)
                last[i].second = static_cast<std::int64_t>(row.number(static_cast<int>(column)));
            else
                last[i].first = row.text(static_cast<int>(column));
        }
    }));
    last_ = std::move(last);
    begun_ = true;
    return piece;
}

Result<> insert(Connection& connection, const Form& form, const Piece& piece) {
    const std::string sql = fmt::format("INSERT INTO \"{}\" ({}) VALUES ({})", form.table,
                                        fmt::join(names_of(form), ", "), places(form.columns.size()));
    std::string_view bytes = piece.bytes;
    const auto row = [&]() -> Result<> {
        std::vector<Value> values;
        for (const Form::Column& column : form.columns)
            if (column.is_number)
                values.emplace_back(TRY(take_number(bytes)));
            else
                values.emplace_back(TRY(take_text(bytes)));
        return connection.run(sql, values);
    };
    connection.pipeline();
    Result<> result{};
    for (std::size_t i = 0; i < piece.rows && result; ++i) result = row();
    TRY(connection.settle());
    if (result && !bytes.empty()) return fail(Code::invalid, "it has more than its rows");
    return result;
}

void TableSum::add(const Piece& piece, const Digest& by) {
    rows += piece.rows;
    digest = by.sha256(digest + piece.bytes);
}

Result<TableSum> sum_of(Connection& connection, const Form& form, const Digest& digest) {
    TableSum sum{.table = form.table};
    PieceReader reader{connection, form};
    while (true) {
        const Piece piece = TRY(reader.next());
        if (piece.rows == 0) return sum;
        sum.add(piece, digest);
    }
}

}  // namespace hostler::sql
