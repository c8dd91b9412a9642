// Text of others – names, messages, file names – made safe for terminals, tables and spreadsheets. Control
// characters, bidirectional and other invisible characters are written as escapes, "\x1b", "\u202e", and
// bytes that are no UTF-8 as
// "\xff": what is read is what is there.
#pragma once

#include <string>
#include <string_view>

namespace hostler {

// On one line: tabs and line breaks become blanks.
std::string safe_line(std::string_view text);
// Tabs and line breaks stay.
std::string safe_lines(std::string_view text);
// Of a program that writes to a terminal: colours (SGR), tabs, carriage returns and line breaks stay.
std::string safe_log(std::string_view text);
// Bytes at the end of such a text that may be the beginning of a character or colour, of which the rest
// follows.
std::size_t unfinished_bytes(std::string_view text);
// JSON text, with the same values: in its strings such characters become "\u202e".
std::string safe_json(std::string_view json);
// A field of CSV (RFC 4180). Before a sign with which a formula begins in spreadsheets stands a "'".
std::string csv_field(std::string_view text);

// Whether a terminal obeys the character instead of showing it, or shows nothing.
bool is_unseen(char32_t character);

}  // namespace hostler
