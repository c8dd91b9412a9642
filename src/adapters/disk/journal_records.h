// The bytes of a journal's file, and what can be read of them after a crash or after the disk changed some.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hostler::disk {

// The file's first line. Behind it are records: length (4 bytes, little endian), CRC-32 of the rest (4),
// kind, the key's length (4), the key, the value. Kinds: 'p' put, 'e' erased, 's' a mark. A mark stands
// before each record. Its key is three numbers of 8 bytes: its own place in the file, how much of the file
// was on the disk for certain when it was written, and the file's salt. A release that does not know marks
// takes them for keys that are erased.
inline constexpr std::string_view journal_magic = "hostler journal 1\n";
inline constexpr std::size_t journal_mark_bytes = 8 + 5 + 24;

struct JournalMark {
    std::uint64_t place = 0;
    std::uint64_t durable = 0;  // Bytes from the file's beginning.
    std::uint64_t salt = 0;     // Random: what tenants choose cannot be taken for a mark of this file.
};

void add_record(std::string& to, std::string_view key, const std::string* value);  // null: erased.
void add_mark(std::string& to, const JournalMark& mark);

struct JournalContent {
    std::map<std::string, std::string> entries;
    std::size_t size = 0;  // So much of the file counts; behind it is what was not written whole.
    std::optional<std::uint64_t> salt;
    bool marked = false;  // It ends with a mark.
    // Damaged: it was on the disk for certain, and is not what was written.
    std::size_t damaged_places = 0;
    std::size_t damaged_bytes = 0;
};

// `file` begins with journal_magic. A record that is not what was written costs itself: reading goes on at
// the next mark. What no mark says was on the disk is dropped from the first such record on.
JournalContent read_journal(std::string_view file);

}  // namespace hostler::disk
