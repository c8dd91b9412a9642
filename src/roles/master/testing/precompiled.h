// What nearly every test of the master includes; see CONTRIBUTING.
#pragma once

#include "core/testing/precompiled.h"
#include "roles/master/testing/api_rig.h"
