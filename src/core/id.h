// Names that cannot be mistaken for one another.
#pragma once

#include <compare>
#include <functional>
#include <string>

namespace hostler {

template <class Tag>
struct Id {
    std::string text;
    auto operator<=>(const Id&) const = default;
    bool operator==(const Id&) const = default;
    bool empty() const { return text.empty(); }
};

}  // namespace hostler

template <class Tag>
struct std::hash<hostler::Id<Tag>> {
    std::size_t operator()(const hostler::Id<Tag>& id) const noexcept {
        return std::hash<std::string>{}(id.text);
    }
};
