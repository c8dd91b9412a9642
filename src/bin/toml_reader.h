// Reads tables of TOML, and remembers what it did not understand.
#pragma once

#include <fmt/format.h>
#include <toml++/toml.h>

#include <boost/describe/enum_from_string.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hostler::bin {

// One table. Its destructor reports keys that were not read.
class Reader {
public:
    Reader(const toml::table& table, std::string where, std::vector<std::string>& faults)
        : table_(table), where_(std::move(where)), faults_(faults) {}
    ~Reader() {
        for (const auto& [key, value] : table_)
            if (!asked_.contains(std::string{key.str()}))
                faults_.push_back(fmt::format("{}{} is not known", where_, key.str()));
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    template <class T>
    std::optional<T> get(const char* key) {
        asked_.insert(key);
        const auto* node = table_.get(key);
        if (!node) return std::nullopt;
        if (auto value = node->value_exact<T>()) return value;
        faults_.push_back(fmt::format("{}{} is of another type than it should be", where_, key));
        return std::nullopt;
    }
    std::string text(const char* key) { return get<std::string>(key).value_or(""); }
    std::vector<std::string> texts(const char* key) {
        asked_.insert(key);
        std::vector<std::string> found;
        if (const auto* list = table_.get_as<toml::array>(key))
            for (const auto& one : *list) found.push_back(one.value_exact<std::string>().value_or(""));
        return found;
    }
    // Calls `each` with a reader of every table of the list `key`.
    template <class Each>
    void tables(const char* key, Each each) {
        asked_.insert(key);
        const auto* list = table_.get_as<toml::array>(key);
        if (!list) return;
        for (std::size_t i = 0; i < list->size(); ++i)
            if (const auto* table = list->get_as<toml::table>(i)) {
                Reader reader{*table, fmt::format("{}{}[{}].", where_, key, i), faults_};
                each(reader);
            }
    }
    // Calls `each` with a reader of the table `key`, if it is there.
    template <class Each>
    void table(const char* key, Each each) {
        asked_.insert(key);
        if (const auto* table = table_.get_as<toml::table>(key)) {
            Reader reader{*table, fmt::format("{}{}.", where_, key), faults_};
            each(reader);
        }
    }
    std::map<std::string, std::string> named_texts(const char* key) {
        asked_.insert(key);
        std::map<std::string, std::string> found;
        if (const auto* table = table_.get_as<toml::table>(key))
            for (const auto& [name, value] : *table)
                found[std::string{name.str()}] = value.value_exact<std::string>().value_or("");
        return found;
    }
    // One of the names that `T` has; nothing is said: `otherwise`.
    template <class T>
    T choice(const char* key, T otherwise) {
        const std::string name = text(key);
        if (!name.empty() && !boost::describe::enum_from_string(name.c_str(), otherwise))
            fault(key, fmt::format("cannot be '{}'", name));
        return otherwise;
    }
    void fault(std::string_view key, std::string_view what) {
        faults_.push_back(fmt::format("{}{} {}", where_, key, what));
    }

private:
    const toml::table& table_;
    std::string where_;
    std::vector<std::string>& faults_;
    std::set<std::string> asked_;
};

}  // namespace hostler::bin
