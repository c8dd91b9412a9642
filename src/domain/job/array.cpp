#include "domain/job/array.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

namespace hostler {

namespace {

// Takes a number of at most nine digits from the front.
std::optional<std::int64_t> take(std::string_view& text) {
    const std::size_t size = std::min(text.find_first_not_of("0123456789"), text.size());
    if (size == 0 || size > 9) return std::nullopt;
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + size, number);
    text.remove_prefix(size);
    return number;
}

bool take(std::string_view& text, char c) {
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
}

// "3", "0-15", "0-15:4"; nullopt: neither.
std::optional<ArrayRange> read_range(std::string_view text) {
    const auto first = take(text);
    if (!first) return std::nullopt;
    ArrayRange range{*first, *first, 1};
    if (take(text, '-')) {
        const auto last = take(text);
        if (!last || *last < *first) return std::nullopt;
        range.last = *last;
        if (take(text, ':')) {
            const auto step = take(text);
            if (!step || *step < 1) return std::nullopt;
            range.step = *step;
        }
    }
    if (!text.empty() || range.last > array_index_max) return std::nullopt;
    // So that the last index is one that exists: 0-15:4 ends with 12.
    range.last -= (range.last - range.first) % range.step;
    return range;
}

// sbatch runs an index once, however often it is named. Only for arrays within array_elements_max.
void make_unique(std::vector<ArrayRange>& ranges) {
    std::vector<std::int64_t> indexes;
    for (const ArrayRange& range : ranges)
        for (std::int64_t i = range.first; i <= range.last; i += range.step) indexes.push_back(i);
    std::ranges::sort(indexes);
    const auto repeated = std::ranges::unique(indexes);
    if (repeated.empty()) return;
    indexes.erase(repeated.begin(), repeated.end());
    ranges.clear();
    for (const std::int64_t index : indexes) {
        if (!ranges.empty() && ranges.back().last + 1 == index)
            ranges.back().last = index;
        else
            ranges.push_back({index, index, 1});
    }
}

}  // namespace

std::int64_t JobArray::size() const {
    return std::transform_reduce(ranges.begin(), ranges.end(), std::int64_t{0}, std::plus{},
                                 [](const ArrayRange& range) { return range.size(); });
}

std::int64_t JobArray::index_at(std::int64_t position) const {
    for (const ArrayRange& range : ranges) {
        if (position < range.size()) return range.first + position * range.step;
        position -= range.size();
    }
    HOSTLER_ASSERT(false);
}

std::optional<std::int64_t> JobArray::position_of(std::int64_t index) const {
    std::int64_t before = 0;
    for (const ArrayRange& range : ranges) {
        if (index >= range.first && index <= range.last && (index - range.first) % range.step == 0)
            return before + (index - range.first) / range.step;
        before += range.size();
    }
    return std::nullopt;
}

Result<JobArray> read_array(std::string_view value) {
    const auto bad = [&](std::string_view what) {
        return fail(Code::invalid,
                    fmt::format("'{}' is no list of indexes from 0 to {}; write 0-15, 1,3,5-7, "
                                "0-15:4 or 0-15%4 (at most 4 at the same time)",
                                what, array_index_max));
    };
    JobArray array;
    std::string_view list = value;
    if (const auto percent = list.find('%'); percent != list.npos) {
        std::string_view rest = list.substr(percent + 1);
        const auto at_most = take(rest);
        if (!at_most || *at_most < 1 || !rest.empty()) return bad(value);
        array.at_most = *at_most;
        list = list.substr(0, percent);
    }
    if (list.size() > 1 && list.front() == '[' && list.back() == ']') list = list.substr(1, list.size() - 2);
    std::int64_t elements = 0;
    for (bool more = true; more;) {
        const auto comma = list.find(',');
        const auto range = read_range(list.substr(0, comma));
        if (!range) return bad(list.substr(0, comma));
        array.ranges.push_back(*range);
        elements += range->size();
        if (elements > array_elements_max)
            return fail(Code::invalid,
                        fmt::format("'{}' has more than {} elements; submit several smaller arrays", value,
                                    array_elements_max));
        more = comma != list.npos;
        if (more) list.remove_prefix(comma + 1);
    }
    make_unique(array.ranges);
    return array;
}

std::string text_of(const JobArray& array) {
    std::string text;
    for (const ArrayRange& range : array.ranges) {
        text += fmt::format("{}{}", text.empty() ? "" : ",", range.first);
        if (range.last > range.first) text += fmt::format("-{}", range.last);
        if (range.step > 1 && range.last > range.first) text += fmt::format(":{}", range.step);
    }
    if (array.at_most > 0) text += fmt::format("%{}", array.at_most);
    return text;
}

}  // namespace hostler
