// What the API shows of volumes.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct Volume;
}  // namespace hostler::api

namespace hostler::master {

api::Volume view(const Desk& desk, const Volume& volume);

// How full what is shown is: a volume, or the layer of an instance.
template <class Shown>
void show_use(const DiskUse& use, Shown& shown) {
    shown.used_bytes = use.used_bytes;
    shown.total_bytes = use.total_bytes;
    shown.used_inodes = use.used_inodes;
    shown.total_inodes = use.total_inodes;
}

}  // namespace hostler::master
