// Rows of a table by something else than their id, so that nobody looks at a whole table for a few of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace hostler::master {

// A tenant, and a name, a host or an owner of it.
using OfTenant = std::pair<std::string, std::string>;
// A tenant, a project of it, and a host or another thing of the project.
using OfProject = std::tuple<std::string, std::string, std::string>;

// Numbers in use, kept as runs without gaps: the lowest free one is found however many there are.
class NumbersInUse {
public:
    void add(std::uint32_t number) {
        std::uint64_t begin = number, end = begin + 1;
        auto next = runs_.upper_bound(begin);
        if (next != runs_.begin())
            if (const auto before = std::prev(next); before->second == begin) {
                begin = before->first;
                runs_.erase(before);
            }
        if (next != runs_.end() && next->first == end) {
            end = next->second;
            runs_.erase(next);
        }
        runs_[begin] = end;
    }
    void remove(std::uint32_t number) {
        const auto run = std::prev(runs_.upper_bound(number));
        const auto [begin, end] = *run;
        runs_.erase(run);
        if (begin < number) runs_[begin] = number;
        if (std::uint64_t{number} + 1 < end) runs_[std::uint64_t{number} + 1] = end;
    }
    std::uint64_t lowest_free(std::uint32_t from) const {
        const auto next = runs_.upper_bound(from);
        if (next == runs_.begin()) return from;
        return std::max<std::uint64_t>(from, std::prev(next)->second);
    }

private:
    std::map<std::uint64_t, std::uint64_t> runs_;  // Begin and end of each; the end is free.
};

// Numbers the rows of a table. All indexes store what they know of a row under its number, so that an update
// needs one search by id.
class RowNumbers {
public:
    std::size_t of(const std::string& id) {
        const auto [at, fresh] = numbers_.try_emplace(id, free_.empty() ? numbers_.size() : free_.back());
        if (fresh && !free_.empty()) free_.pop_back();
        return at->second;
    }
    void erase(const std::string& id) {
        const auto at = numbers_.find(id);
        free_.push_back(at->second);
        numbers_.erase(at);
    }

private:
    std::map<std::string, std::size_t> numbers_;
    std::vector<std::size_t> free_;
};

// Follows the table that it is part of (Table::by), whatever happens to its rows: a row is found by the keys
// that it has when it is asked for. A row that is being edited must have its new keys before anyone asks.
// Reading costs what was changed since the last time, and the rows that are found.
template <class T, class Key = std::string>
class Index {
public:
    // What a row is to be found by: nothing, one key or several different ones.
    using KeysOf = std::vector<Key> (*)(const T&);
    explicit Index(KeysOf keys_of) : keys_of_(keys_of) {}

    // In the order of their ids, as in the table. They are there until the table erases them, whatever else
    // changes.
    std::vector<const T*> of(const Key& key, std::size_t most = SIZE_MAX) const {
        std::vector<const T*> found;
        const auto at = rows_.find(key);
        if (at == rows_.end()) return found;
        found.reserve(std::min(most, at->second.size()));
        for (const auto& [id, row] : at->second) {
            if (found.size() == most) break;
            found.push_back(row);
        }
        visited_ += found.size();
        return found;
    }
    // The one with the lowest id; nullptr: none.
    const T* first(const Key& key) const {
        const auto at = rows_.find(key);
        if (at == rows_.end()) return nullptr;
        ++visited_;
        return at->second.begin()->second;
    }
    // These look at no row.
    bool has(const Key& key) const { return rows_.contains(key); }
    std::size_t count(const Key& key) const {
        const auto at = rows_.find(key);
        return at == rows_.end() ? 0 : at->second.size();
    }
    // Of this key and all lower ones, in the order of their ids.
    std::vector<const T*> up_to(const Key& key) const {
        std::map<std::string_view, const T*> found;
        for (auto at = rows_.begin(); at != rows_.end() && !(key < at->first); ++at)
            for (const auto& [id, row] : at->second) found.emplace(id, row), ++visited_;
        std::vector<const T*> rows;
        for (const auto& [id, row] : found) rows.push_back(row);
        return rows;
    }
    // The highest key below this one that a row has; nullptr: none.
    const Key* last_below(const Key& key) const {
        const auto at = rows_.lower_bound(key);
        return at == rows_.begin() ? nullptr : &std::prev(at)->first;
    }
    // The lowest number from there on that no row has.
    std::uint64_t lowest_free(std::uint32_t from) const
        requires std::is_same_v<Key, std::uint32_t>
    {
        return numbers_.lowest_free(from);
    }

    // Keys that a row got or lost since this was asked last; at first all that there are. One may ask.
    std::set<Key> take_touched() const {
        if (std::exchange(touching_, true)) return std::exchange(touched_, {});
        std::set<Key> all;
        for (const auto& [key, rows] : rows_) all.insert(key);
        return all;
    }

    // Rows with keys from `first` to `last`, in key order; at most `most`, the lowest keys first.
    std::vector<const T*> between(const Key& first, const Key& last, std::size_t most = SIZE_MAX) const {
        std::vector<const T*> found;
        for (auto at = rows_.lower_bound(first); at != rows_.end() && !(last < at->first); ++at)
            for (const auto& [id, row] : at->second) {
                if (found.size() == most) return found;
                ++visited_;
                found.push_back(row);
            }
        return found;
    }
    std::size_t entries() const { return entries_; }  // Pairs of a row and one of its keys.

    // The row with this id is as it is now; nullptr: it is not there any more. `number`: see RowNumbers.
    void put(std::size_t number, const std::string& id, const T* row) {
        if (number >= known_.size()) known_.resize(number + 1);
        Known& known = known_[number];
        std::vector<Key> now;
        if (row) now = keys_of_(*row);
        if (known.row == row &&
            std::ranges::equal(known.at, now, {}, [](const auto at) -> const Key& { return at->first; }))
            return;
        for (const auto at : known.at) remove(at, id);
        known = {.row = row};
        known.at.reserve(now.size());
        for (const Key& key : now) known.at.push_back(add(key, id, row));
    }
    std::uint64_t visited() const { return visited_; }
    bool same_as(const Index& other) const { return rows_ == other.rows_; }

private:
    using Found = std::map<std::string, const T*>;  // By id.
    using ByKey = std::map<Key, Found>;
    struct Known {
        std::vector<typename ByKey::iterator> at{};  // Keys that it is found by.
        const T* row = nullptr;
    };
    struct None {};

    typename ByKey::iterator add(const Key& key, const std::string& id, const T* row) {
        const auto [at, fresh] = rows_.try_emplace(key);
        at->second.insert_or_assign(id, row);
        ++entries_;
        if (touching_) touched_.insert(key);
        if constexpr (std::is_same_v<Key, std::uint32_t>)
            if (fresh) numbers_.add(key);
        return at;
    }
    void remove(typename ByKey::iterator at, const std::string& id) {
        at->second.erase(id);
        --entries_;
        if (touching_) touched_.insert(at->first);
        if (!at->second.empty()) return;
        if constexpr (std::is_same_v<Key, std::uint32_t>) numbers_.remove(at->first);
        rows_.erase(at);
    }

    KeysOf keys_of_;
    ByKey rows_;
    std::vector<Known> known_;  // Of each row, by its number.
    std::size_t entries_ = 0;
    [[no_unique_address]] std::conditional_t<std::is_same_v<Key, std::uint32_t>, NumbersInUse, None> numbers_;
    mutable bool touching_ = false;  // Somebody asks for what is touched.
    mutable std::set<Key> touched_;
    mutable std::uint64_t visited_ = 0;
};

// Those of a kind of rows; the indexes.h of a feature says which of its kinds have some.
template <class T>
struct Indexes;

template <class T>
concept HasIndexes = requires { sizeof(Indexes<T>); };

}  // namespace hostler::master
