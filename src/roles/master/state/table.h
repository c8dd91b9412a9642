// One kind of objects in memory: what is changed is noted for the next commit, and for those who keep
// something up to date beside it.
#pragma once

#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "roles/master/state/index.h"
#include "roles/master/state/kinds.h"

namespace hostler::master {

// All rows of a table, by id. Each that is looked at is counted.
template <class T>
class Rows {
    using Map = std::map<std::string, T>;

public:
    class iterator {
    public:
        using iterator_concept = std::bidirectional_iterator_tag;
        using iterator_category = std::bidirectional_iterator_tag;
        using value_type = typename Map::value_type;
        using difference_type = std::ptrdiff_t;
        using pointer = const value_type*;
        using reference = const value_type&;

        iterator() = default;
        iterator(typename Map::const_iterator at, std::uint64_t* visited) : at_(at), visited_(visited) {}
        reference operator*() const { return ++*visited_, *at_; }
        pointer operator->() const { return &**this; }
        iterator& operator++() { return ++at_, *this; }
        iterator operator++(int) { return {at_++, visited_}; }
        iterator& operator--() { return --at_, *this; }
        iterator operator--(int) { return {at_--, visited_}; }
        bool operator==(const iterator& other) const { return at_ == other.at_; }

    private:
        typename Map::const_iterator at_;
        std::uint64_t* visited_ = nullptr;
    };

    Rows(const Map& rows, std::uint64_t& visited) : rows_(&rows), visited_(&visited) {}
    iterator begin() const { return {rows_->begin(), visited_}; }
    iterator end() const { return {rows_->end(), visited_}; }
    // The first whose id is not below this one.
    iterator from(const std::string& id) const { return {rows_->lower_bound(id), visited_}; }
    std::size_t size() const { return rows_->size(); }
    bool empty() const { return rows_->empty(); }
    const Map& as_map() const { return *rows_; }  // Nobody counts what is looked at there.

private:
    const Map* rows_;
    std::uint64_t* visited_;
};

// The objects of one kind, by id.
template <class T>
class Table {
public:
    const T* find(const std::string& id) const {
        const auto row = rows_.find(id);
        if (row == rows_.end()) return nullptr;
        ++visited_;
        return &row->second;
    }
    const T& at(const std::string& id) const {
        const T* row = find(id);
        HOSTLER_ASSERT(row);
        return *row;
    }
    // For lists and for what is done once: a call or a sweep that needs some of them finds these by().
    Rows<T> all() const { return {rows_, visited_}; }
    // The indexes, up to date.
    const auto& by() const
        requires HasIndexes<T>
    {
        for (const std::string& id : std::exchange(stale_, {})) {
            const auto at = rows_.find(id);
            const T* row = at == rows_.end() ? nullptr : &at->second;
            const auto& entry = indexed_.note(id, row);
            Indexes<T>::each(indexes_, [&](auto& index) { index.put(entry); });
            if (!row) indexed_.erase(id);
        }
        return indexes_;
    }

    // To be changed: it will be part of the next commit. That it changed is noted at the call, so the change
    // is to be made before anyone asks.
    T& edit(const std::string& id) {
        const auto row = rows_.find(id);
        HOSTLER_ASSERT(row != rows_.end());
        if (trial_) trial_->before.try_emplace(id, row->second);
        changed_.insert(id);
        note(id);
        return row->second;
    }
    const T& add(T row) {
        const std::string id = Kind<T>::id(row);
        const auto [at, added] = rows_.emplace(id, std::move(row));
        HOSTLER_ASSERT(added);
        if (trial_) trial_->before.try_emplace(id, std::nullopt);
        changed_.insert(id);
        note(id);
        return at->second;
    }
    // It has ended: the store keeps it to be read, memory does not.
    void retire(const std::string& id) {
        const auto row = rows_.find(id);
        HOSTLER_ASSERT(row != rows_.end());
        if (trial_) trial_->before.try_emplace(id, row->second);
        retired_.push_back(std::move(row->second));
        note(row->first);
        changed_.erase(row->first);
        rows_.erase(row);
    }
    // Gone for good.
    void erase(const std::string& id) {
        const auto row = rows_.find(id);
        HOSTLER_ASSERT(row != rows_.end());
        const std::string gone = row->first;  // The caller's may be a part of the row.
        if (trial_) trial_->before.try_emplace(gone, row->second);
        if (row->second.meta.created != 0) erased_.try_emplace(gone, std::move(row->second));
        rows_.erase(row);
        changed_.erase(gone);
        if (!trial_) beyond_.erase(gone);
        note(gone);
    }

    // From here on the ids of rows that are added, edited or erased are noted there, as long as somebody
    // keeps it (see Follower).
    using Noted = std::set<std::string>;
    std::shared_ptr<Noted> follow() const {
        std::erase_if(noted_, [](const auto& noted) { return noted.expired(); });
        auto noted = std::make_shared<Noted>();
        noted_.push_back(noted);
        return noted;
    }

    // How many rows were looked at by find(), all() and by() so far.
    std::uint64_t rows_visited() const {
        std::uint64_t visited = visited_;
        if constexpr (HasIndexes<T>)
            Indexes<T>::each(indexes_, [&](const auto& index) { visited += index.visited(); });
        return visited;
    }

private:
    friend class Estate;
    // As the store has it. `beyond`: its body, if there is more in it than this release knows.
    void load(const std::string& id, T row, std::string beyond) {
        rows_.insert_or_assign(id, std::move(row));
        beyond_.erase(id);
        if (!beyond.empty()) beyond_.emplace(id, std::move(beyond));
        note(id);
    }
    void forget(const std::string& id) {
        rows_.erase(id);
        beyond_.erase(id);
        note(id);
    }
    void note(const std::string& id) {
        for (const auto& one : noted_)
            if (const auto noted = one.lock()) noted->insert(id);
        if constexpr (HasIndexes<T>) stale_.insert(id);
    }
    void begin_trial() {
        trial_ = std::make_unique<Trial>(std::exchange(changed_, {}), std::exchange(retired_, {}),
                                         std::exchange(erased_, {}), std::move(trial_));
    }
    void end_trial() {
        const auto trial = std::move(trial_);
        trial_ = std::move(trial->outer);
        changed_ = std::move(trial->changed);
        retired_ = std::move(trial->retired);
        erased_ = std::move(trial->erased);
        for (auto& [id, row] : trial->before) {
            if (row)
                rows_.insert_or_assign(id, std::move(*row));
            else
                rows_.erase(id);
            note(id);
        }
    }

    // What is to be undone.
    struct Trial {
        std::set<std::string> changed;
        std::vector<T> retired;
        std::map<std::string, T> erased;
        std::unique_ptr<Trial> outer;                      // The one within which it is.
        std::map<std::string, std::optional<T>> before{};  // Rows as they were; nullopt: not there.
    };
    struct NoIndexes {};
    template <class U>
    struct IndexesOf {
        using type = NoIndexes;
    };
    template <HasIndexes U>
    struct IndexesOf<U> {
        using type = Indexes<U>;
    };

    std::map<std::string, T> rows_;
    std::set<std::string> changed_;
    std::vector<T> retired_;
    std::map<std::string, T> erased_;                  // As they were.
    mutable std::vector<std::weak_ptr<Noted>> noted_;  // One for each follower.
    mutable std::set<std::string> stale_;              // Ids that the indexes do not know yet.
    mutable typename IndexesOf<T>::type indexes_;
    mutable IndexedRows<T> indexed_;
    mutable std::uint64_t visited_ = 0;
    std::unique_ptr<Trial> trial_;
    std::map<std::string, std::string>
        beyond_;  // Bodies as they came that have more in them than this release knows.
};

// Tells what changed in a table since the last question, for a structure that follows the table. What a trial
// undoes counts as changed. Copies share their questions.
template <class T>
class Follower {
public:
    // Ids of rows that were added, edited or erased since the last call; at first the ids of all rows.
    std::set<std::string> changed(const Table<T>& table) {
        if (noted_) return std::exchange(*noted_, {});
        noted_ = table.follow();
        std::set<std::string> all;
        for (const auto& [id, row] : table.all()) all.insert(id);
        return all;
    }

private:
    std::shared_ptr<typename Table<T>::Noted> noted_;
};

}  // namespace hostler::master
