// Leases in a folder that an agent and its supervisor share: a file for each one's list, and the lock of the
// supervisor that runs.
#pragma once

#include <functional>
#include <memory>

#include "core/worker.h"
#include "ports/leases.h"

namespace hostler::disk {

// Starts a supervisor for this boot, that takes the lock of the folder and outlives us.
using StartSupervisor = std::function<Result<>(const std::string& boot)>;

// Makes the folder, private to its owner. The worker outlives the book. Errors: unavailable.
Result<std::unique_ptr<LeaseBook>> open_leases(Worker& worker, std::string folder, StartSupervisor start);

// The one supervisor of a folder, as long as it lives: its process id is in the lock.
class SupervisorLock {
public:
    // Errors: conflict (another one runs), unavailable.
    static Result<SupervisorLock> take(const std::string& folder);
    SupervisorLock(SupervisorLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    SupervisorLock& operator=(SupervisorLock&&) = delete;
    ~SupervisorLock();

private:
    explicit SupervisorLock(int fd) : fd_(fd) {}
    int fd_;
};

// The process id of the supervisor that runs; 0: none does.
int supervisor_of(const std::string& folder);

}  // namespace hostler::disk
