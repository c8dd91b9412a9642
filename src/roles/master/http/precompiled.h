// What nearly every source of the master includes; see CONTRIBUTING.
#pragma once

#include "core/precompiled.h"
#include "roles/master/http/api.h"
#include "roles/master/http/lookup.h"
#include "roles/master/state/feature.h"
#include "roles/master/state/views.h"
