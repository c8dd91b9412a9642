// Podman begins a log file anew when it is full and throws the old one away, so that a program that ends
// right then has left no word. The old one is kept here: beside each log lies a second name of its file, and
// that of the file before it.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace hostler::docker {

class HeldLogs {
public:
    HeldLogs() = default;
    ~HeldLogs();
    HeldLogs(const HeldLogs&) = delete;

    // From now on, until its folder is removed. May be repeated. Blocks for a moment. A log that cannot be
    // held is read without what was before.
    void hold(const std::string& path);

private:
    bool start();
    void watch();
    void read_events();

    std::mutex mutex_;
    std::map<int, std::string> paths_;  // By the number of the watch on its folder.
    int events_ = -1, end_ = -1;        // inotify; written to when the thread is to end.
    std::thread thread_;                // The kernel's word must be acted on at once, whatever the loop does.
};

}  // namespace hostler::docker
