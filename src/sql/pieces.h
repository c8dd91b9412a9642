// Whole tables, a bounded piece at a time: what copies, backups and their checks are made of.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ports/digest.h"
#include "sql/connection.h"

namespace hostler::sql {

// Some rows of one table, one behind the other: of each column 8 bytes, or 4 bytes of length and the text.
// All numbers big-endian. The same rows make the same pieces in every database.
struct Piece {
    std::size_t rows = 0;
    std::string bytes;
};

// Goes through one table in the order of its key.
class PieceReader {
public:
    PieceReader(Connection& connection, const Form& form);
    Result<Piece> next();  // Without rows: that was all. Errors: the connection's.

private:
    Connection& connection_;
    const Form& form_;
    std::vector<std::pair<std::string, std::int64_t>> last_;  // Key of the last row: its text or number.
    bool begun_ = false;
};

// Puts the rows of a piece into the table. Errors: invalid (these are no such rows), the connection's.
Result<> insert(Connection& connection, const Form& form, const Piece& piece);

// Of one table's rows.
struct TableSum {
    std::string table;
    std::uint64_t rows = 0;
    std::string digest{};
    void add(const Piece& piece, const Digest& by);
    bool operator==(const TableSum&) const = default;
};
Result<TableSum> sum_of(Connection& connection, const Form& form, const Digest& digest);

// Numbers and texts as pieces have them.
void put_number(std::string& into, std::uint64_t number);
void put_text(std::string& into, std::string_view text);
// Takes one from the front. Errors: invalid: it is not whole.
Result<std::uint64_t> take_number(std::string_view& from);
Result<std::string_view> take_text(std::string_view& from);

}  // namespace hostler::sql
