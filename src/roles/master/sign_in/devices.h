// Programs that wait for a person to confirm in a browser that they may sign in. They are in memory alone:
// when another master leads, the program is told that its code is unknown, and begins again.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/random.h"
#include "core/timers.h"
#include "domain/tenancy/user.h"
#include "ports/digest.h"
#include "roles/master/leader/term.h"
#include "roles/master/sign_in/own.h"

namespace hostler::master {

inline constexpr std::chrono::seconds device_life{600};
inline constexpr std::chrono::seconds device_interval{2};  // Between two questions of a program.
inline constexpr std::size_t devices_max = 1'000;
inline constexpr std::size_t devices_address_max = 10;  // Of one address, or of one /64 of IPv6.

struct Device {
    std::string letters;  // Of the user's code.
    std::string host;     // Name of the machine, as it says; may be empty.
    std::string address;  // Of the program, without a port,
    std::string client;   // and how it calls itself.
    std::string from;     // What counts as one address.
    Instant until{};
    std::optional<Instant> asked{};  // For its session, the last time that was not too soon.
    std::string user{};              // Id of the person who confirmed; empty: none has yet.
    bool denied = false;
    std::function<void(Login&)> mark{};  // As of BrowserExtras.
    bool decided() const { return denied || !user.empty(); }
};

class Devices {
public:
    struct Begun {
        std::string secret;
        std::string letters;
    };
    // `like`: host, address, client and from. Errors: exhausted (too_many_sign_ins).
    Result<Begun> begin(Device like, Random& random, const Digest& digest, Instant now);
    // One that waits for a person; nullptr: none has this code.
    Device* waiting(std::string_view letters, Instant now);
    // One that a person has confirmed; it is taken out, as is one that was denied. Errors: not_found
    // (device_code_unknown), exhausted (slow_down), conflict (authorization_pending, access_denied).
    Result<Device> take(const std::string& secret, const Digest& digest, Instant now);
    std::size_t size() const { return devices_.size(); }

private:
    void forget(Instant now);
    std::map<std::string, Device> devices_;  // By the hash of the secret.
};

Devices& devices_of(Term& term);
// As Devices::waiting, for a code that was typed. Whoever tries wrong codes is slowed by address, as with
// passwords. Errors: not_found (device_code_unknown), exhausted (too_many_sign_ins), cancelled.
Task<Device> waiting_device(TermPtr term, std::string typed, std::string address);

}  // namespace hostler::master
