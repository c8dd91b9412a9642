// The state behind a page's form, kept here under a random name that the form carries in a hidden field. It
// needs neither a cookie, which each page of the origin would send, nor a key to sign with, and it is gone at
// once when it was used. Only a browser that got the page knows the name, so no other site can send the form.
#pragma once

#include <map>
#include <string>

#include "core/random.h"
#include "core/timers.h"
#include "ports/digest.h"

namespace hostler::master {

inline constexpr std::chrono::seconds form_life{300};
inline constexpr std::size_t forms_max = 1'000;
inline constexpr std::size_t forms_user_max = 8;  // The oldest makes room.

// `Kept` has `std::string user`, whose it is.
template <class Kept>
class OneTimeForms {
public:
    // The name of the form. Only people who have shown their password get here, so that the oldest of all
    // makes room.
    std::string keep(Kept what, Random& random, const Digest& digest, Instant now) {
        std::erase_if(forms_, [now](const auto& one) { return one.second.until <= now; });
        make_room(forms_max, [](const Form&) { return true; });
        make_room(forms_user_max, [&](const Form& one) { return one.what.user == what.user; });
        std::string name = new_secret(random, "hf");
        forms_.insert_or_assign(digest.sha256(name), Form{std::move(what), now + form_life});
        return name;
    }
    // nullptr: it was used, or is too old.
    Kept* find(const std::string& name, const Digest& digest, Instant now) {
        const auto found = forms_.find(digest.sha256(name));
        return found != forms_.end() && found->second.until > now ? &found->second.what : nullptr;
    }
    void erase(const std::string& name, const Digest& digest) { forms_.erase(digest.sha256(name)); }

private:
    struct Form {
        Kept what;
        Instant until;
    };
    void make_room(std::size_t max, auto counts) {
        std::size_t count = 0;
        auto oldest = forms_.end();
        for (auto one = forms_.begin(); one != forms_.end(); ++one) {
            if (!counts(one->second)) continue;
            ++count;
            if (oldest == forms_.end() || one->second.until < oldest->second.until) oldest = one;
        }
        if (count >= max) forms_.erase(oldest);
    }
    std::map<std::string, Form> forms_;  // By the hash of the name.
};

}  // namespace hostler::master
