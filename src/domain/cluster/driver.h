// A distribution of Kubernetes as data: the steps that make a host a node of a cluster and take it out again.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "domain/cluster/life.h"

namespace hostler {

// When a step is done.
enum class StepPhase {
    prepare,  // Before a host joins.
    create,   // On the first host of the control plane.
    join,     // On every other one.
    refresh,  // On each node, when the addresses of the control plane have changed.
    settle,   // On the control plane, once a node has joined or the cluster is made.
    drain,    // Before a node leaves.
    leave,    // The cluster forgets it.
    clean,    // Nothing of it stays on its host. Done also where none of the others was.
    save,
    restore,  // In the place of create: the cluster is made of a save.
    erase,    // Nothing of a save stays in its folder. Done on any host that has that.
};
BOOST_DESCRIBE_ENUM(StepPhase, prepare, create, join, refresh, settle, drain, leave, clean, save, restore,
                    erase)

// On which host it is done.
enum class StepPlace {
    node,     // On the node's own.
    control,  // On one of the control plane that is ready; not on the node's own unless that is the only one.
};
BOOST_DESCRIBE_ENUM(StepPlace, node, control)

struct StepFile {
    std::string path;  // Absolute, or below "{{agent.folder}}/".
    std::string text;  // With {{values}}.
    std::int64_t mode = 0600;
    bool operator==(const StepFile&) const = default;
};
BOOST_DESCRIBE_STRUCT(StepFile, (), (path, text, mode))

// Commands are arguments, no shell reads them. Texts have {{values}}: of the cluster, the node, and outputs
// of earlier steps.
struct DriverStep {
    std::string name;  // Unique in its driver: "kubeadm-init".
    std::string help;  // For people: "Create the control plane."
    StepPhase phase = StepPhase::prepare;
    std::vector<NodeRole> roles;  // Whose; empty: of all.
    StepPlace place = StepPlace::node;
    std::vector<StepFile> files;   // Written before it runs.
    std::vector<std::string> run;  // Empty: it only writes files.
    std::vector<std::string>
        start;  // A program that keeps running after the step, as the kubelet; empty: none.
    std::vector<std::string> done;  // Exit code 0: it is done, and is not run. Asked before and after it.
                                    // Empty: it is done once it ended with 0.
    std::int64_t deadline_s = 120;
    std::int64_t tries = 3;
    std::vector<std::string> undo;  // Before it is tried again; empty: nothing.
    std::vector<std::string>
        outputs;  // Names of values that it prints, a line "NAME=VALUE" each; kept as secrets.
    bool operator==(const DriverStep&) const = default;
};
BOOST_DESCRIBE_STRUCT(DriverStep, (),
                      (name, help, phase, roles, place, files, run, start, done, deadline_s, tries, undo,
                       outputs))

// What must not be left on a host, each as a pattern that fits a whole name ('*' for any characters).
struct Leftovers {
    std::vector<std::string> processes;   // Names of executables.
    std::vector<std::string> mounts;      // Folders.
    std::vector<std::string> interfaces;  // Of the network.
    std::vector<std::string>
        tables;  // Tables of nftables, "ip6 kube-proxy", and chains of iptables, "KUBE-*".
    std::vector<std::string> files;  // Files and folders.
    std::vector<std::string> cgroups;
    std::vector<std::string> images;  // Of the container runtime.
    bool operator==(const Leftovers&) const = default;
};
BOOST_DESCRIBE_STRUCT(Leftovers, (), (processes, mounts, interfaces, tables, files, cgroups, images))

struct Driver {
    std::string name;  // "kubeadm"
    std::string title;
    std::vector<std::string> versions;  // That it can make, the newest first: "v1.36.3".
    std::vector<std::string> images;    // That hosts need, with {{version}}.
    std::vector<std::string>
        ports;  // That have to be free on a host: "control 6443/tcp", "worker 10250/tcp".
    std::map<std::string, std::string> values;  // Defaults that an operator may change: "podSubnet".
    std::vector<DriverStep> steps;              // Those of a phase in their order.
    Leftovers leftovers;
    bool operator==(const Driver&) const = default;
};
BOOST_DESCRIBE_STRUCT(Driver, (), (name, title, versions, images, ports, values, steps, leftovers))

// What is wrong with a driver, a field and a sentence each. Errors: invalid.
Result<> check(const Driver& driver);

// The steps of a phase for a role, in their order.
std::vector<const DriverStep*> steps_of(const Driver& driver, StepPhase phase, NodeRole role);
const DriverStep* step_named(const Driver& driver, std::string_view name);

using StepValues = std::map<std::string, std::string>;

// Names that a text asks for, "cluster.name" of "{{cluster.name}}". Errors: invalid (a mark is not closed, a
// name is empty or has other characters than letters, digits, '.', '-').
Result<std::vector<std::string>> names_in(std::string_view text);

// `text` with its values. Errors: invalid, which names each value that is missing.
Result<std::string> filled(std::string_view text, const StepValues& values);

}  // namespace hostler
