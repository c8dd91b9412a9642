// What a volume waits for, where it is, what uses it and how full it is.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct Explanation;
}  // namespace hostler::api

namespace hostler::master {

// What a volume that is to be made, grown or deleted waits for: its host, and the instance that still has it
// mounted or that it is made for. Empty: it waits for nothing.
std::string what_waits(const Desk& desk, const Volume& volume);
// Writes that into the messages of running operations and of volumes that are being made.
void tell_waiting(Desk& desk);

api::Explanation explain_volume(const Desk& desk, const Volume& volume);

}  // namespace hostler::master
