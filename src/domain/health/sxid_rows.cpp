#include "domain/health/table.h"

namespace hostler::health {

namespace {

using enum Severity;

constexpr auto nothing = Remedy::none;
constexpr auto look = Remedy::watch;
constexpr auto reboot = Remedy::reboot;  // Of all GPUs and switches; rebooting the host does it.

constexpr Row rows[] = {
    {10001, 10002, degraded, reboot, "an access to the switch that is not allowed, or that never ended"},
    {10003, 10003, faulty, reboot, "an interrupt of the switch that nothing handles"},
    {10004, 10005, degraded, reboot, "the switch is hot: look at its cooling"},
    {11001, 11001, degraded, reboot, "packets in the switch were damaged or mixed up"},
    {11004, 11004, watch, look, "a packet that the routing does not allow"},
    {11009, 11009, degraded, reboot, "packets in the switch were damaged or mixed up"},
    {11012, 11012, note, nothing, "a memory error in the switch was corrected"},
    {11013, 11013, degraded, reboot, "an uncorrectable memory error in the switch"},
    {11018, 11019, degraded, reboot, "an uncorrectable memory error in the switch"},
    {11020, 11020, degraded, reboot, "a parity error in the switch"},
    {11021, 11023, note, nothing, "a memory error in the switch was corrected"},
    {12001, 12001, degraded, reboot, "a buffer of the switch ran over or empty"},
    {12002, 12002, degraded, reboot, "packets in the switch were damaged or mixed up"},
    {12020, 12020, faulty, reboot, "packets in the switch were damaged or mixed up"},
    {12021, 12021, note, nothing, "a memory error in the switch was corrected"},
    {12022, 12022, degraded, reboot, "an uncorrectable memory error in the switch"},
    {12023, 12023, note, nothing, "a memory error in the switch was corrected"},
    {12024, 12024, degraded, reboot, "an uncorrectable memory error in the switch"},
    {12025, 12025, degraded, reboot, "a buffer of the switch ran over or empty"},
    {12026, 12027, degraded, reboot, "packets in the switch were damaged or mixed up"},
    {12028, 12028, watch, look, "an access to the switch that is not allowed, or that never ended"},
    {12030, 12031, degraded, reboot, "a parity error in the switch"},
    {12032, 12032, degraded, reboot, "packets in the switch were damaged or mixed up"},
    {14017, 14017, degraded, reboot, "something in the switch did not end in time"},
    {15001, 15001, degraded, reboot, "a buffer of the switch ran over or empty"},
    {15006, 15006, degraded, reboot, "a buffer of the switch ran over or empty"},
    {15008, 15008, note, nothing, "a memory error in the switch was corrected"},
    {15009, 15009, degraded, reboot, "an uncorrectable memory error in the switch"},
    {15010, 15010, degraded, reboot, "a parity error in the switch"},
    {15011, 15011, note, nothing, "a memory error in the switch was corrected"},
    {15012, 15012, degraded, reboot, "an uncorrectable memory error in the switch"},
    {15013, 15013, degraded, reboot, "a parity error in the switch"},
    {19047, 19048, degraded, reboot, "an uncorrectable memory error in the switch"},
    {19049, 19049, note, nothing, "a memory error in the switch was corrected"},
    {19054, 19054, degraded, reboot, "an uncorrectable memory error in the switch"},
    {19055, 19055, note, nothing, "a memory error in the switch was corrected"},
    {19056, 19056, degraded, reboot, "an uncorrectable memory error in the switch"},
    {19057, 19057, note, nothing, "a memory error in the switch was corrected"},
    {19058, 19058, degraded, reboot, "an uncorrectable memory error in the switch"},
    {19059, 19059, note, nothing, "a memory error in the switch was corrected"},
    {19060, 19061, degraded, reboot, "an uncorrectable memory error in the switch"},
    {19062, 19062, note, nothing, "a memory error in the switch was corrected"},
    {19063, 19064, degraded, reboot, "an uncorrectable memory error in the switch"},
    {19065, 19065, note, nothing, "a memory error in the switch was corrected"},
    {19066, 19067, degraded, reboot, "an uncorrectable memory error in the switch"},
    {19068, 19068, note, nothing, "a memory error in the switch was corrected"},
    {19069, 19070, degraded, reboot, "an uncorrectable memory error in the switch"},
    {19071, 19071, note, nothing, "a memory error in the switch was corrected"},
    {19084, 19084, faulty, reboot, "something in the switch did not end in time"},
    {20001, 20001, watch, look, "a link of the switch repeats transfers"},
    {20009, 20009, watch, look, "a link of the switch repeats transfers"},
    {20012, 20012, watch, look, "a link of the switch changed its state"},
    {20034, 20034, degraded, reboot, "a link of the switch changed its state"},
    {22003, 22003, faulty, reboot, "the controller of the switch's links stopped"},
    {22011, 22011, faulty, reboot, "the controller of the switch's links stopped"},
    {22012, 22012, degraded, reboot, "a link of the switch changed its state"},
    {22013, 22013, watch, look, "a link of the switch changed its state"},
    {23001, 23004, faulty, reboot, "a buffer of the switch ran over or empty"},
    {23005, 23008, faulty, reboot, "packets in the switch were damaged or mixed up"},
    {23009, 23009, faulty, reboot, "a parity error in the switch"},
    {23010, 23013, faulty, reboot, "a buffer of the switch ran over or empty"},
    {23014, 23016, faulty, reboot, "packets in the switch were damaged or mixed up"},
    {23017, 23017, faulty, reboot, "a parity error in the switch"},
    {24001, 24003, note, nothing, "a memory error in the switch was corrected"},
    {24004, 24006, degraded, reboot, "an uncorrectable memory error in the switch"},
    {24007, 24007, degraded, reboot, "something in the switch did not end in time"},
};

}  // namespace

std::span<const Row> sxids() { return rows; }

}  // namespace hostler::health
