#include "roles/master/sign_in/devices.h"

#include <algorithm>

#include "domain/tenancy/device_code.h"

namespace hostler::master {

namespace {

std::unexpected<Error> unknown() {
    return fail(Code::not_found, "this code is unknown: it was used, has expired, or is mistyped",
                "device_code_unknown");
}

}  // namespace

void Devices::forget(Instant now) {
    std::erase_if(devices_, [now](const auto& one) { return one.second.until <= now; });
}

Result<Devices::Begun> Devices::begin(Device like, Random& random, const Digest& digest, Instant now) {
    forget(now);
    const auto of_address =
        std::ranges::count_if(devices_, [&](const auto& one) { return one.second.from == like.from; });
    if (devices_.size() >= devices_max || static_cast<std::size_t>(of_address) >= devices_address_max)
        return fail(Code::exhausted, "too many programs wait for a person to confirm them; try again later",
                    "too_many_sign_ins");
    Begun made{.secret = new_secret(random, "hv"), .letters = device_code_of(random_number(random))};
    while (waiting(made.letters, now)) made.letters = device_code_of(random_number(random));
    like.letters = made.letters;
    like.until = now + device_life;
    devices_.insert_or_assign(digest.sha256(made.secret), std::move(like));
    return made;
}

Device* Devices::waiting(std::string_view letters, Instant now) {
    for (auto& [hash, device] : devices_)
        if (device.letters == letters && device.until > now && !device.decided()) return &device;
    return nullptr;
}

Result<Device> Devices::take(const std::string& secret, const Digest& digest, Instant now) {
    forget(now);
    const auto found = devices_.find(digest.sha256(secret));
    if (found == devices_.end()) return unknown();
    Device& device = found->second;
    // A clock of another machine may be a little fast.
    constexpr std::chrono::milliseconds tolerance{500};
    if (device.asked && now - *device.asked < device_interval - tolerance)
        return fail(Code::exhausted, "this program asks too often; keep to the interval", "slow_down");
    device.asked = now;
    if (!device.decided())
        return fail(Code::conflict, "nothing was confirmed in the browser yet", "authorization_pending");
    Device taken = std::move(device);
    devices_.erase(found);
    if (taken.denied) return fail(Code::conflict, "the sign-in was denied in the browser", "access_denied");
    return taken;
}

Devices& devices_of(Term& term) {
    return term.part<Devices>([] { return std::make_shared<Devices>(); });
}

Task<Device> waiting_device(TermPtr term, std::string typed, std::string address) {
    // No login has a space in it. Each address has a budget apart from that of others.
    constexpr std::string_view codes = "device code";
    const Attempt tried =
        CO_TRY(co_await attempt(term, {std::string{codes}, std::move(address), /*known=*/true}));
    const auto letters = device_code_typed(typed);
    const Device* device =
        letters ? devices_of(*term).waiting(*letters, term->ports().timers.now()) : nullptr;
    if (!device) co_return unknown();
    attempt_succeeded(*term, tried);
    co_return *device;
}

}  // namespace hostler::master
