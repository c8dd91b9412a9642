// What features keep in memory beside the estate while a term lasts. The kernel does not know their types.
#pragma once

#include <map>
#include <memory>
#include <typeindex>

namespace hostler::master {

// A part that is derived from the estate, and notices by itself what a trial undoes: it is not copied.
template <class T>
concept FollowsEstate = T::follows_estate;

// One of each type, made when it is first asked for. Copies share their parts until one changes a part.
class Parts {
public:
    template <class T>
    T& of() {
        auto& held = held_[typeid(T)];
        if (!held) held = std::make_shared<Part<T>>();
        if constexpr (!FollowsEstate<T>)
            if (held.use_count() > 1) held = std::make_shared<Part<T>>(static_cast<const Part<T>&>(*held));
        return static_cast<Part<T>&>(*held).value;
    }
    template <class T>
    const T& of() const {
        auto& held = held_[typeid(T)];
        if (!held) held = std::make_shared<Part<T>>();
        return static_cast<const Part<T>&>(*held).value;
    }
    // Parts that the estate decides stay as they have become; the others are as they were in `before`.
    void restore(Parts before) {
        for (auto& [type, held] : held_)
            if (held->follows) before.held_.insert_or_assign(type, std::move(held));
        held_ = std::move(before.held_);
    }

    // Those that follow the estate: they begin again, as in a new term, until they are put back.
    Parts take_followers() {
        Parts taken;
        std::erase_if(held_, [&](auto& held) {
            if (!held.second->follows) return false;
            taken.held_.emplace(held.first, std::move(held.second));
            return true;
        });
        return taken;
    }
    void put(Parts parts) {
        for (auto& [type, held] : parts.held_) held_.insert_or_assign(type, std::move(held));
    }

private:
    struct AnyPart {
        bool follows = false;
        virtual ~AnyPart() = default;
    };
    template <class T>
    struct Part : AnyPart {
        Part() { follows = FollowsEstate<T>; }
        T value{};
    };
    mutable std::map<std::type_index, std::shared_ptr<AnyPart>> held_;
};

}  // namespace hostler::master
