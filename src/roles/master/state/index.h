// Rows of a table by something else than their id, so that nobody looks at a whole table for a few of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
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

// A row that the indexes of its table know.
template <class T>
struct Indexed {
    std::size_t number = 0;
    const T* row = nullptr;  // nullptr: it is not there any more.
};

// Those of a table, by id. An entry stays where it is, and the indexes point to it, so that each has a row
// once and an update needs one search by id.
template <class T>
class IndexedRows {
public:
    using Entry = std::pair<const std::string, Indexed<T>>;
    // The row is as it is now; nullptr: it is not there any more. Then erase() follows.
    const Entry& note(const std::string& id, const T* row) {
        const auto [at, fresh] = rows_.try_emplace(id);
        if (fresh && free_.empty()) at->second.number = rows_.size() - 1;
        if (fresh && !free_.empty()) at->second.number = free_.back(), free_.pop_back();
        at->second.row = row;
        return *at;
    }
    void erase(const std::string& id) {
        const auto at = rows_.find(id);
        free_.push_back(at->second.number);
        rows_.erase(at);
    }

private:
    std::map<std::string, Indexed<T>> rows_;
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
    using Entry = typename IndexedRows<T>::Entry;
    explicit Index(KeysOf keys_of) : keys_of_(keys_of) {}

    // In the order of their ids, as in the table. They are there until the table erases them, whatever else
    // changes.
    std::vector<const T*> of(const Key& key, std::size_t most = SIZE_MAX) const {
        std::vector<const T*> found;
        const auto at = rows_.find(key);
        if (at == rows_.end()) return found;
        found.reserve(std::min(most, at->second.size()));
        for (const Entry* entry : at->second) {
            if (found.size() == most) break;
            found.push_back(entry->second.row);
        }
        visited_ += found.size();
        return found;
    }
    // The one with the lowest id; nullptr: none.
    const T* first(const Key& key) const {
        const auto at = rows_.find(key);
        if (at == rows_.end()) return nullptr;
        ++visited_;
        return (*at->second.begin())->second.row;
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
            for (const Entry* entry : at->second) found.emplace(entry->first, entry->second.row), ++visited_;
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
            for (const Entry* entry : at->second) {
                if (found.size() == most) return found;
                ++visited_;
                found.push_back(entry->second.row);
            }
        return found;
    }
    std::size_t entries() const { return entries_; }  // Pairs of a row and one of its keys.

    // This row is as it is now. Its entry is there until the row is put without keys.
    void put(const Entry& entry) {
        const auto& [number, row] = entry.second;
        if (number >= keys_.size()) keys_.resize(number + 1);
        Keys& known = keys_[number];
        std::vector<Key> now;
        if (row) now = keys_of_(*row);
        if (known.are(now)) return;
        known.each([&](Place& at) { remove(at, entry); });
        known = {};
        for (const Key& key : now) known.add(add(key, entry));
    }
    std::uint64_t visited() const { return visited_; }
    // The same rows, which two tables may have as two entries.
    bool same_as(const Index& other) const {
        return std::ranges::equal(rows_, other.rows_, [](const auto& one, const auto& two) {
            return one.first == two.first &&
                   std::ranges::equal(one.second, two.second, [](const Entry* a, const Entry* b) {
                       return a->first == b->first && a->second.row == b->second.row;
                   });
        });
    }

private:
    struct ById {
        bool operator()(const Entry* one, const Entry* two) const { return one->first < two->first; }
    };
    using Found = std::set<const Entry*, ById>;
    using ByKey = std::map<Key, Found>;
    using Place = typename ByKey::value_type;
    // Of a row. Most have one at most, so the others have their room only where there are some.
    class Keys {
    public:
        void add(Place& at) {
            if (!first_) {
                first_ = &at;
                return;
            }
            if (!others_) others_ = std::make_unique<std::vector<Place*>>();
            others_->push_back(&at);
        }
        void each(auto visit) const {
            if (first_) visit(*first_);
            if (others_)
                for (Place* at : *others_) visit(*at);
        }
        bool are(const std::vector<Key>& keys) const {
            std::size_t count = 0;
            bool same = true;
            each([&](const Place& at) {
                same = same && count < keys.size() && at.first == keys[count];
                ++count;
            });
            return same && count == keys.size();
        }

    private:
        Place* first_ = nullptr;
        std::unique_ptr<std::vector<Place*>> others_;
    };
    struct None {};

    Place& add(const Key& key, const Entry& entry) {
        const auto [at, fresh] = rows_.try_emplace(key);
        at->second.insert(&entry);
        ++entries_;
        if (touching_) touched_.insert(key);
        if constexpr (std::is_same_v<Key, std::uint32_t>)
            if (fresh) numbers_.add(key);
        return *at;
    }
    void remove(Place& at, const Entry& entry) {
        at.second.erase(&entry);
        --entries_;
        if (touching_) touched_.insert(at.first);
        if (!at.second.empty()) return;
        if constexpr (std::is_same_v<Key, std::uint32_t>) numbers_.remove(at.first);
        rows_.erase(rows_.find(at.first));
    }

    KeysOf keys_of_;
    ByKey rows_;
    std::vector<Keys> keys_;  // That a row is found by, by its number.
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
