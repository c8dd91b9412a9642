// Indexes of volumes.
#pragma once

#include "domain/volume/volume.h"
#include "roles/master/state/index.h"

namespace hostler::master {

enum class VolumeWork { act };  // Its host is to make it, let it grow or delete it.

template <>
struct Indexes<Volume> {
    Index<Volume> host, tenant, name;
    Index<Volume, OfTenant> tenant_name;
    Index<Volume, VolumeWork> work;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.host), visit(self.tenant), visit(self.name), visit(self.tenant_name), visit(self.work);
    }
};

}  // namespace hostler::master
