#include "adapters/sqlite/wal_frames.h"

#include <bit>

namespace hostler::sqlite::wal {

namespace {

constexpr std::uint32_t magic = 0x377f0682;  // One more: big-endian.
constexpr std::uint32_t version = 3007000;
constexpr std::size_t page_at = 8, salts_at = 16, sum_at = 24, salts_bytes = 8;
constexpr std::size_t frame_sum_at = 16, summed_of_frame_header = 8;

std::uint32_t word_at(std::string_view bytes, std::size_t at, bool big_endian) {
    const std::uint32_t word = number_at(bytes, at);
    return big_endian ? word : std::byteswap(word);
}

Sum add(std::string_view bytes, bool big_endian, Sum sum) {
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
        sum[0] += word_at(bytes, at, big_endian) + sum[1];
        sum[1] += word_at(bytes, at + 4, big_endian) + sum[0];
    }
    return sum;
}

std::string text_of(std::uint32_t number) {
    return {static_cast<char>(number >> 24), static_cast<char>(number >> 16), static_cast<char>(number >> 8),
            static_cast<char>(number)};
}

}  // namespace

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<std::uint8_t>(bytes[at + i]);
    return number;
}

std::optional<Form> form_of(std::string_view header) {
    const std::uint32_t begin = number_at(header, 0), page = number_at(header, page_at);
    if ((begin & ~1U) != magic || number_at(header, 4) != version) return std::nullopt;
    if (!std::has_single_bit(page) || page < 512 || page > 65536) return std::nullopt;
    Form form{.big_endian = (begin & 1) != 0, .page = page, .salts = {}, .sum = {}};
    form.salts = header.substr(salts_at, salts_bytes);
    form.sum = add(header.substr(0, sum_at), form.big_endian, {});
    if (form.sum != Sum{number_at(header, sum_at), number_at(header, sum_at + 4)}) return std::nullopt;
    return form;
}

std::array<Sum, 2> guessed_sums(std::string_view header, const Form& form) {
    const std::string right = text_of(magic | (form.big_endian ? 1 : 0)) + text_of(version) +
                              text_of(form.page) + std::string{header.substr(12, 4)} + form.salts;
    return {Sum{number_at(header, sum_at), number_at(header, sum_at + 4)}, add(right, form.big_endian, {})};
}

std::uint32_t Frame::page() const { return number_at(bytes, 0); }
std::uint32_t Frame::commit() const { return number_at(bytes, 4); }
Sum Frame::stored() const { return {number_at(bytes, frame_sum_at), number_at(bytes, frame_sum_at + 4)}; }
bool Frame::is_next(const Form& form, Sum before) const {
    return salts() == form.salts && page() != 0 && sum(form.big_endian, before) == stored();
}
Sum Frame::sum(bool big_endian, Sum before) const {
    return add(content(), big_endian, add(bytes.substr(0, summed_of_frame_header), big_endian, before));
}

std::array<std::uint32_t, 2> Frame::summed_numbers(bool big_endian, Sum before) const {
    Sum sum = stored();
    const std::string_view page = content();
    for (std::size_t at = page.size(); at >= 8; at -= 8) {  // Backwards what add() does.
        sum[1] -= word_at(page, at - 4, big_endian) + sum[0];
        sum[0] -= word_at(page, at - 8, big_endian) + sum[1];
    }
    std::uint32_t second = sum[1] - before[1] - sum[0], first = sum[0] - before[0] - before[1];
    if (!big_endian) {
        first = std::byteswap(first);
        second = std::byteswap(second);
    }
    return {first, second};
}

std::optional<Changed> changed_byte_of(std::string_view header, const Frame& first) {
    std::string tried{header};
    for (std::size_t at = 0; at < tried.size(); ++at) {
        for (int was = 0; was < 256; ++was) {
            tried[at] = static_cast<char>(was);
            const auto form = form_of(tried);
            // The sum alone would not tell a changed salt from a change of itself.
            if (form && form->frame() == first.bytes.size() && first.is_next(*form, form->sum))
                return Changed{at, header[at], tried[at]};
        }
        tried[at] = header[at];
    }
    return std::nullopt;
}

}  // namespace hostler::sqlite::wal
