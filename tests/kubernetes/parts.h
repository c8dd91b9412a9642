// Where the Kubernetes is that the tests run: `./dev kubernetes` builds it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace hostler::kube {

// The folder of the program and of its names; $HOSTLER_KUBERNETES, or build/kubernetes of this repository.
std::string parts();
std::string part(std::string_view name);  // "kubectl"; "workload" for what pods run.

enum class Needs { control_plane, nodes };
// Why a test cannot run here, "" when it can.
std::string missing(Needs needs);

}  // namespace hostler::kube

// At the start of a test. Where CI runs, everything is there.
#define HOSTLER_NEEDS_KUBERNETES(needs)                                                      \
    if (const std::string why = ::hostler::kube::missing(needs); !why.empty()) {             \
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): nothing changes the environment. */        \
        if (const char* ci = std::getenv("CI"); ci != nullptr && *ci != '\0') FAIL() << why; \
        GTEST_SKIP() << why;                                                                 \
    }
