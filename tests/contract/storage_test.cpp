// The Journal, HostVolumes, LogStore and LeaseBook ports on the disk and in the simulation.
#include <sys/statvfs.h>
#include <unistd.h>

#include "adapters/disk/journal.h"
#include "adapters/disk/leases.h"
#include "adapters/disk/logs.h"
#include "adapters/disk/volumes.h"
#include "core/testing/temp_folder.h"
#include "journal_contract.h"
#include "leases_contract.h"
#include "logs_contract.h"
#include "volumes_contract.h"
#include "world_rig.h"

namespace hostler::contract {

namespace {

// What is opened in a folder, and may be opened again.
template <class Rig, class Port, auto open>
class DiskRig : public RealRig<Rig> {
public:
    DiskRig() { restart(); }
    void restart() override {
        port_.reset();
        port_ = open(*worker_, folder_.path() + "/kept").value();
    }

protected:
    testing::TempFolder folder_;
    std::unique_ptr<Worker> worker_ = make_worker(this->loop_, "disk");
    std::unique_ptr<Port> port_;
};

constexpr auto open_journal = [](Worker& worker, std::string path) {
    return disk::open_journal(worker, std::move(path));
};
constexpr auto open_logs = [](Worker& worker, std::string path) {
    return disk::open_logs(worker, std::move(path), {.files_max = LogsRig::kept_max});
};

constexpr auto open_volumes = [](Worker& worker, std::string path) {
    return disk::open_volumes(worker, worker, {.folder = std::move(path)});
};

class DiskJournalRig : public DiskRig<JournalRig, Journal, open_journal> {
public:
    Journal& journal() override { return *port_; }
};
class DiskVolumesRig : public DiskRig<VolumesRig, HostVolumes, open_volumes> {
public:
    ~DiskVolumesRig() override {
        port_.reset();
        worker_.reset();
        auto left = disk::VolumeStore::open({.folder = folder_.path() + "/kept"}, disk::loop_images());
        if (left) (void)left->release();
    }
    HostVolumes& volumes() override { return *port_; }
    std::uint64_t bytes_in(const std::string&, const std::string& folder) override {
        struct statvfs space{};
        EXPECT_EQ(::statvfs(folder.c_str(), &space), 0);
        return static_cast<std::uint64_t>(space.f_blocks) * space.f_frsize;
    }
};
class DiskLogsRig : public DiskRig<LogsRig, LogStore, open_logs> {
public:
    LogStore& logs() override { return *port_; }
};

class DiskLeasesRig : public RealRig<LeasesRig> {
public:
    DiskLeasesRig() { restart(); }
    LeaseBook& leases() override { return *port_; }
    void restart() override {
        port_.reset();
        port_ =
            disk::open_leases(*worker_, folder_.path() + "/leases", [this](const std::string&) -> Result<> {
                ++supervisors;
                return {};
            }).value();
    }
    std::string folder() const { return folder_.path() + "/leases"; }

private:
    testing::TempFolder folder_;
    std::unique_ptr<Worker> worker_ = make_worker(this->loop_, "leases");
    std::unique_ptr<LeaseBook> port_;
};

class SimJournalRig : public WorldRig<JournalRig> {
public:
    Journal& journal() override { return life().journal; }
    void restart() override { reboot(); }
};
class SimVolumesRig : public WorldRig<VolumesRig> {
public:
    HostVolumes& volumes() override { return life().volumes; }
    std::uint64_t bytes_in(const std::string& id, const std::string&) override {
        return machine_.disk.volumes.at(id);
    }
    void restart() override { reboot(); }
};
class SimLogsRig : public WorldRig<LogsRig> {
public:
    SimLogsRig() { machine_.disk.logs_max = kept_max; }
    LogStore& logs() override { return life().logs; }
    void restart() override { reboot(); }
};

class SimLeasesRig : public WorldRig<LeasesRig> {
public:
    SimLeasesRig() {
        machine_.lease_files.supervise = [this](const std::string&) { ++supervisors; };
    }
    LeaseBook& leases() override { return life().leases; }
    void restart() override { reboot(); }
};

TEST(Leases, OneSupervisorHasTheFolderForAsLongAsItLives) {
    DiskLeasesRig rig;
    EXPECT_EQ(disk::supervisor_of(rig.folder()), 0);
    {
        const auto lock = disk::SupervisorLock::take(rig.folder());
        ASSERT_TRUE(lock);
        EXPECT_EQ(disk::supervisor_of(rig.folder()), ::getpid());
        EXPECT_EQ(disk::SupervisorLock::take(rig.folder()).error().code, Code::conflict);
    }
    EXPECT_EQ(disk::supervisor_of(rig.folder()), 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, LeasesContract,
    ::testing::Values(Kind<LeasesRig>{"disk", [] { return std::make_unique<DiskLeasesRig>(); }},
                      Kind<LeasesRig>{"sim", [] { return std::make_unique<SimLeasesRig>(); }}),
    kind_name);
INSTANTIATE_TEST_SUITE_P(
    All, JournalContract,
    ::testing::Values(Kind<JournalRig>{"disk", [] { return std::make_unique<DiskJournalRig>(); }},
                      Kind<JournalRig>{"sim", [] { return std::make_unique<SimJournalRig>(); }}),
    kind_name);
INSTANTIATE_TEST_SUITE_P(
    All, VolumesContract,
    ::testing::Values(Kind<VolumesRig>{"disk", [] { return std::make_unique<DiskVolumesRig>(); }},
                      Kind<VolumesRig>{"sim", [] { return std::make_unique<SimVolumesRig>(); }}),
    kind_name);
INSTANTIATE_TEST_SUITE_P(
    All, LogsContract,
    ::testing::Values(Kind<LogsRig>{"disk", [] { return std::make_unique<DiskLogsRig>(); }},
                      Kind<LogsRig>{"sim", [] { return std::make_unique<SimLogsRig>(); }}),
    kind_name);

}  // namespace

}  // namespace hostler::contract
