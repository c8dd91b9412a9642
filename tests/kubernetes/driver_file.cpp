#include "driver_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>
#include <boost/describe.hpp>
#include <boost/mp11.hpp>

#include <cctype>
#include <filesystem>
#include <map>
#include <set>

namespace hostler::kube {

namespace {

// "deadline_s" is "deadlineS" in files.
std::string in_file(std::string_view member) {
    std::string name;
    bool upper = false;
    for (const char c : member) {
        if (c != '_') name += upper ? static_cast<char>(std::toupper(c)) : c;
        upper = c == '_';
    }
    return name;
}

class Reader {
public:
    void read(const toml::node& from, std::string& into, const std::string& at) {
        if (const auto text = from.value_exact<std::string>()) return void(into = *text);
        fault(at, "is no text");
    }
    void read(const toml::node& from, std::int64_t& into, const std::string& at) {
        if (const auto number = from.value_exact<std::int64_t>()) return void(into = *number);
        fault(at, "is no number");
    }
    void read(const toml::node& from, std::map<std::string, std::string>& into, const std::string& at) {
        const auto* table = from.as_table();
        if (!table) return fault(at, "is no table");
        for (const auto& [name, value] : *table)
            read(value, into[std::string{name.str()}], fmt::format("{}.{}", at, name.str()));
    }
    template <class T>
    void read(const toml::node& from, std::vector<T>& into, const std::string& at) {
        const auto* list = from.as_array();
        if (!list) return fault(at, "is no list");
        for (const auto& one : *list)
            read(one, into.emplace_back(), fmt::format("{}[{}]", at, into.size() - 1));
    }
    template <class T>
        requires std::is_enum_v<T>
    void read(const toml::node& from, T& into, const std::string& at) {
        const auto text = from.value_exact<std::string>().value_or("");
        if (!boost::describe::enum_from_string(text.c_str(), into)) fault(at, "has no meaning: " + text);
    }
    template <class T, class Members = boost::describe::describe_members<T, boost::describe::mod_public>>
        requires std::is_class_v<T>
    void read(const toml::node& from, T& into, const std::string& at) {
        const auto* table = from.as_table();
        if (!table) return fault(at, "is no table");
        std::set<std::string> known;
        boost::mp11::mp_for_each<Members>([&](auto member) {
            const std::string name = in_file(member.name);
            known.insert(name);
            const std::string path = at.empty() ? name : at + "." + name;
            if (const auto* node = table->get(name)) read(*node, into.*member.pointer, path);
        });
        for (const auto& [name, value] : *table)
            if (!known.contains(std::string{name.str()})) fault(at, fmt::format("has no '{}'", name.str()));
    }
    const std::string& faults() const { return faults_; }

private:
    void fault(const std::string& at, const std::string& what) {
        faults_ += fmt::format("{} {}\n", at, what);
    }
    std::string faults_;
};

}  // namespace

Result<Driver> read_driver(const std::string& folder) {
    const std::string file = folder + "/driver.toml";
    if (!std::filesystem::exists(file)) return fail(Code::not_found, "there is no " + file);
    try {
        Driver driver;
        Reader reader;
        reader.read(toml::parse_file(file), driver, "");
        if (!reader.faults().empty()) return fail(Code::invalid, reader.faults());
        TRY(check(driver));
        return driver;
    } catch (const toml::parse_error& bad) {
        return fail(Code::invalid, fmt::format("{}, line {}: {}", file, bad.source().begin.line,
                                               std::string{bad.description()}));
    }
}

}  // namespace hostler::kube
