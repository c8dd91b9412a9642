// How fast the ways between hosts and access points are: who is to be measured next, and what became of it.
#pragma once

#include <optional>
#include <string>

#include "roles/master/state/desk.h"

namespace hostler::master {

inline constexpr std::chrono::seconds speed_look{2};       // Between two looks for who is next.
inline constexpr std::chrono::seconds speed_deadline{60};  // For an access point's answer.

// Who is connected there, can be measured, and is due for the longest; nullopt: nobody.
std::optional<std::string> host_to_measure(const Desk& desk, const std::string& access);
void note_speed(Desk& desk, const std::string& host, const std::string& access,
                const Result<SpeedFigures>& figures);
// All its ways anew, by an operator's word.
void want_speeds(Desk& desk, const std::string& host);

}  // namespace hostler::master
