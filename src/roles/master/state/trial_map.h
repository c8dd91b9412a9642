// A map in memory that can undo what was changed in a trial.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace hostler::master {

// As std::map. Between begin_trial() and end_trial() it keeps each row as it was before anybody could change
// it, so that a trial costs what it touches, however large the map is. One trial may be within another.
template <class Key, class T>
class TrialMap {
    using Map = std::map<Key, T>;

public:
    using iterator = typename Map::iterator;
    using const_iterator = typename Map::const_iterator;

    T& operator[](const Key& key) { return keep(key), rows_[key]; }
    T& at(const Key& key) { return keep(key), rows_.at(key); }
    const T& at(const Key& key) const { return rows_.at(key); }
    iterator find(const Key& key) { return keep(key), rows_.find(key); }
    const_iterator find(const Key& key) const { return rows_.find(key); }
    bool contains(const Key& key) const { return rows_.contains(key); }
    std::size_t size() const { return rows_.size(); }
    bool empty() const { return rows_.empty(); }

    iterator begin() { return keep_all(), rows_.begin(); }
    iterator end() { return rows_.end(); }
    const_iterator begin() const { return rows_.begin(); }
    const_iterator end() const { return rows_.end(); }

    std::size_t erase(const Key& key) { return keep(key), rows_.erase(key); }
    iterator erase(const_iterator at) { return keep(at->first), rows_.erase(at); }
    template <class Predicate>
    void erase_if(Predicate gone) {
        keep_all();
        std::erase_if(rows_, gone);
    }
    void clear() { keep_all(), rows_.clear(); }

    void begin_trial() { before_.emplace_back(); }
    void end_trial() {
        Before before = std::move(before_.back());
        before_.pop_back();
        for (auto& [key, row] : before) {
            if (row)
                rows_.insert_or_assign(key, std::move(*row));
            else
                rows_.erase(key);
        }
    }

private:
    using Before = std::map<Key, std::optional<T>>;  // nullopt: there was none.
    void keep(const Key& key) {
        if (before_.empty() || before_.back().contains(key)) return;
        const auto row = rows_.find(key);
        before_.back().emplace(key, row == rows_.end() ? std::nullopt : std::optional{row->second});
    }
    void keep_all() {
        if (before_.empty()) return;
        for (const auto& [key, row] : rows_) before_.back().try_emplace(key, row);
    }

    Map rows_;
    std::vector<Before> before_;  // Of each trial, the innermost last.
};

}  // namespace hostler::master
