// The parts of a write-ahead log: its header, its frames, and what their checksums say.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/sqlite/wal.h"

namespace hostler::sqlite::wal {

inline constexpr std::size_t header_bytes = 32, frame_header_bytes = 24;

// Of everything before it in the log, and of what it is of.
using Sum = std::array<std::uint32_t, 2>;

// What the header says of all frames behind it.
struct Form {
    bool big_endian = false;  // The words that checksums count.
    std::uint32_t page = 0;   // Bytes.
    std::string salts{};      // Others when SQLite begins at the front again: older frames have older ones.
    Sum sum{};                // Of the header: that of the first frame goes on from it.
    std::size_t frame() const { return frame_header_bytes + page; }
};

// nullopt: it is not as SQLite writes one.
std::optional<Form> form_of(std::string_view header);
// For a header that cannot be read: what a first frame would go on from.
std::array<Sum, 2> guessed_sums(std::string_view header, const Form& form);

using Changed = Wal::Changed;

// A frame with its page.
struct Frame {
    std::string_view bytes;
    std::uint32_t page() const;    // Its number; 0: none.
    std::uint32_t commit() const;  // Pages of the store after it; 0: the commit goes on.
    std::string_view salts() const { return bytes.substr(8, 8); }
    Sum stored() const;
    Sum sum(bool big_endian, Sum before) const;
    bool is_next(const Form& form, Sum before) const;  // SQLite would take it.
    // Page and commit as the checksum wants them, if everything else in it is as it was written.
    std::array<std::uint32_t, 2> summed_numbers(bool big_endian, Sum before) const;
    std::string_view content() const { return bytes.substr(frame_header_bytes); }
};

// The byte of a header that is not as it was written, if it is only one; the frame behind it tells.
std::optional<Changed> changed_byte_of(std::string_view header, const Frame& first);

std::uint32_t number_at(std::string_view bytes, std::size_t at);

}  // namespace hostler::sqlite::wal
