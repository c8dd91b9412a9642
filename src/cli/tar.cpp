#include "cli/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace hostler::cli {

namespace {

constexpr std::size_t block_bytes = 512;
constexpr std::size_t special_bytes_max = 1 << 20;

struct Place {
    std::size_t at, size;
};
constexpr Place name_at{0, 100}, mode_at{100, 8}, owner_at{108, 8}, group_at{116, 8}, size_at{124, 12},
    time_at{136, 12}, sum_at{148, 8}, kind_at{156, 1}, link_at{157, 100}, magic_at{257, 8},
    prefix_at{345, 155};

void put(std::string& block, Place place, std::string_view text) {
    text.copy(block.data() + place.at, std::min(place.size, text.size()));
}
void put_number(std::string& block, Place place, std::uint64_t number) {
    put(block, place, fmt::format("{:0{}o}", number, place.size - 1));
}

std::string_view text_at(std::string_view block, Place place) {
    const auto text = block.substr(place.at, place.size);
    return text.substr(0, text.find('\0'));
}

Result<std::uint64_t> number_at(std::string_view block, Place place) {
    auto text = block.substr(place.at, place.size);
    std::uint64_t number = 0;
    if ((static_cast<unsigned char>(text[0]) & 0x80) != 0) {  // GNU: the number itself.
        for (std::size_t i = 1; i < text.size(); ++i)
            number = number << 8 | static_cast<unsigned char>(text[i]);
        return number;
    }
    for (const char c : text) {
        if (c == ' ' || c == '\0') continue;
        if (c < '0' || c > '7') return fail(Code::invalid, "the received data is not a tar archive");
        number = number << 3 | static_cast<std::uint64_t>(c - '0');
    }
    return number;
}

std::uint64_t sum_of(std::string_view block) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < block.size(); ++i)
        sum += i >= sum_at.at && i < sum_at.at + sum_at.size ? ' ' : static_cast<unsigned char>(block[i]);
    return sum;
}

std::string block_of(std::string_view name, char kind, std::string_view link, std::uint32_t mode,
                     std::uint64_t size, std::int64_t time) {
    std::string block(block_bytes, '\0');
    put(block, name_at, name);
    put_number(block, mode_at, mode & 07777);
    put_number(block, owner_at, 0);
    put_number(block, group_at, 0);
    constexpr std::uint64_t octal_max = (std::uint64_t{1} << 33) - 1;
    put_number(block, size_at, std::min(size, octal_max));
    put_number(block, time_at, static_cast<std::uint64_t>(std::max<std::int64_t>(time, 0)));
    put(block, kind_at, {&kind, 1});
    put(block, link_at, link);
    put(block, magic_at, {"ustar\00000", 8});
    put(block, sum_at, fmt::format("{:06o}", sum_of(block)) + std::string{"\0 ", 2});
    return block;
}

std::string pax_record(std::string_view name, std::string_view value) {
    // The length counts its own digits.
    std::size_t size = name.size() + value.size() + 3;
    std::size_t whole = size + std::to_string(size).size();
    whole = size + std::to_string(whole).size();
    return fmt::format("{} {}={}\n", whole, name, value);
}

}  // namespace

std::size_t tar_padding(std::uint64_t size) { return (block_bytes - size % block_bytes) % block_bytes; }

std::string tar_end() { return std::string(2 * block_bytes, '\0'); }

std::string tar_head(const TarEntry& entry) {
    std::string pax;
    if (entry.name.size() > name_at.size) pax += pax_record("path", entry.name);
    if (entry.link.size() > link_at.size) pax += pax_record("linkpath", entry.link);
    if (entry.size >= std::uint64_t{1} << 33) pax += pax_record("size", std::to_string(entry.size));
    std::string head;
    if (!pax.empty())
        head =
            block_of("pax", 'x', "", 0644, pax.size(), 0) + pax + std::string(tar_padding(pax.size()), '\0');
    char kind = '0';
    switch (entry.kind) {
        case TarEntry::Kind::file:
        case TarEntry::Kind::other: break;
        case TarEntry::Kind::folder: kind = '5'; break;
        case TarEntry::Kind::link: kind = '2'; break;
        case TarEntry::Kind::hard_link: kind = '1'; break;
    }
    return head + block_of(entry.name, kind, entry.link, entry.mode, entry.size, entry.time);
}

Result<> TarReader::feed(std::string_view bytes) {
    while (!bytes.empty() && !ended_) {
        if (left_ > 0) {
            const std::size_t size = std::min<std::uint64_t>(left_, bytes.size());
            if (content_ == Content::entry) TRY(sink_.bytes(bytes.substr(0, size)));
            if (content_ != Content::entry && content_ != Content::skipped) special_ += bytes.substr(0, size);
            bytes.remove_prefix(size);
            left_ -= size;
            if (left_ == 0) TRY(finish_entry());
            continue;
        }
        if (padding_ > 0) {
            const std::size_t size = std::min(padding_, bytes.size());
            bytes.remove_prefix(size);
            padding_ -= size;
            continue;
        }
        const std::size_t size = std::min(block_bytes - block_.size(), bytes.size());
        block_ += bytes.substr(0, size);
        bytes.remove_prefix(size);
        if (block_.size() < block_bytes) break;
        TRY(head(std::exchange(block_, {})));
    }
    return {};
}

Result<> TarReader::head(std::string_view block) {
    if (block.find_first_not_of('\0') == std::string_view::npos) {
        ended_ = true;
        return {};
    }
    if (TRY(number_at(block, sum_at)) != sum_of(block))
        return fail(Code::invalid, "the received data is not a tar archive");
    left_ = TRY(number_at(block, size_at));
    const char kind = block[kind_at.at];
    special_.clear();
    if (kind == 'x' || kind == 'L' || kind == 'K' || kind == 'g') {
        content_ = kind == 'x'   ? Content::pax
                   : kind == 'L' ? Content::long_name
                   : kind == 'K' ? Content::long_link
                                 : Content::skipped;
        if (left_ > special_bytes_max) return fail(Code::invalid, "the tar archive has too long a name");
        padding_ = tar_padding(left_);
        return left_ == 0 ? finish_entry() : Result<>{};
    }
    TarEntry entry{.name = std::string{text_at(block, name_at)},
                   .link = std::string{text_at(block, link_at)}};
    if (const auto prefix = text_at(block, prefix_at);
        !prefix.empty() && block.substr(magic_at.at, 6) == std::string_view{"ustar\0", 6})
        entry.name = fmt::format("{}/{}", prefix, entry.name);
    entry.mode = static_cast<std::uint32_t>(TRY(number_at(block, mode_at)) & 07777);
    entry.time = static_cast<std::int64_t>(TRY(number_at(block, time_at)));
    if (const auto path = next_.find("path"); path != next_.end()) entry.name = path->second;
    if (const auto link = next_.find("linkpath"); link != next_.end()) entry.link = link->second;
    if (const auto size = next_.find("size"); size != next_.end()) {
        const std::string& text = size->second;
        const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), left_);
        if (wrong != std::errc{} || end != text.data() + text.size())
            return fail(Code::invalid, "the received data is not a tar archive");
    }
    next_.clear();
    entry.kind = TarEntry::Kind::other;
    switch (kind) {
        case '0':
        case '7':
        case '\0': entry.kind = TarEntry::Kind::file; break;
        case '1': entry.kind = TarEntry::Kind::hard_link; break;
        case '2': entry.kind = TarEntry::Kind::link; break;
        case '5': entry.kind = TarEntry::Kind::folder; break;
    }
    // Only a file has bytes.
    if (entry.kind != TarEntry::Kind::file && entry.kind != TarEntry::Kind::other) left_ = 0;
    entry.size = left_;
    content_ = Content::entry;
    padding_ = tar_padding(left_);
    TRY(sink_.begin(entry));
    return left_ == 0 ? finish_entry() : Result<>{};
}

Result<> TarReader::finish_entry() {
    switch (content_) {
        case Content::entry: return sink_.end();
        case Content::pax: return apply_pax(special_);
        case Content::long_name: next_["path"] = special_.substr(0, special_.find('\0')); return {};
        case Content::long_link: next_["linkpath"] = special_.substr(0, special_.find('\0')); return {};
        case Content::skipped: return {};
    }
    return {};
}

Result<> TarReader::apply_pax(std::string_view records) {
    while (!records.empty()) {
        std::size_t size = 0;
        const auto [end, wrong] = std::from_chars(records.data(), records.data() + records.size(), size);
        const auto digits = static_cast<std::size_t>(end - records.data());
        if (wrong != std::errc{} || size > records.size() || size < digits + 3 || records[digits] != ' ' ||
            records[size - 1] != '\n')
            return fail(Code::invalid, "the received data is not a tar archive");
        const auto record = records.substr(digits + 1, size - digits - 2);
        records.remove_prefix(size);
        const auto equals = record.find('=');
        if (equals == std::string_view::npos)
            return fail(Code::invalid, "the received data is not a tar archive");
        const auto name = record.substr(0, equals);
        if (name == "path" || name == "linkpath" || name == "size")
            next_[std::string{name}] = std::string{record.substr(equals + 1)};
    }
    return {};
}

}  // namespace hostler::cli
