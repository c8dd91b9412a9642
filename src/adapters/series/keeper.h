// The store on its own thread: devices with their newest rows, the log, the segments; takes rows, seals,
// thins.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>

#include "adapters/series/head.h"
#include "adapters/series/record.h"
#include "adapters/series/segment.h"
#include "ports/series.h"
#include "ports/series_mirror.h"

namespace hostler::series {

struct Limits {
    // Rows are sealed into a segment when they span so much time, or take so much memory. While a segment is
    // being written there may be twice as much; beyond that rows are refused.
    Millis segment_span = 60 * 60 * 1000;
    std::size_t head_bytes_max = 256 << 20;
    std::size_t devices_per_slice = 64;  // Sealed or thinned between two appends.
};

using Eras = std::shared_ptr<const std::vector<Era>>;
using Columns = std::shared_ptr<const std::vector<Column>>;  // Shared by all devices that have them.

// What a reader on another thread sees of the store at one moment.
struct View {
    struct Device {
        std::shared_ptr<const std::string> id;
        Columns columns;
        Eras eras;
        std::array<RowBytes, 2> rows;  // Older ones first; of either there may be none.
    };
    std::vector<Device> devices;  // Of those with rows in memory and the metric.
    std::vector<SegmentPtr> segments;
};

// How far a follower is in another store. All of earlier logs it has, or is never to have.
struct Place {
    std::uint64_t log = 0;
    std::uint64_t at = 0;      // Bytes of that log;
    std::uint64_t device = 0;  // or, where a segment has it by now, devices of that.
    bool operator==(const Place&) const = default;
};

// What others are answered from, at one moment.
struct Offer {
    struct Log {
        std::uint64_t number = 0;
        std::uint64_t size = 0;
        std::shared_ptr<const ReadFile> file;
    };
    std::string store;
    std::vector<SegmentPtr> segments;
    std::vector<Log> logs;       // That no segment has yet, by number.
    std::uint64_t next_log = 0;  // Which is not begun.
};

class Keeper {
public:
    // Reads what is there; followers know it by `identity` if it had none. Errors: conflict, unavailable.
    static Result<std::unique_ptr<Keeper>> open(std::unique_ptr<Folder> folder, Limits limits,
                                                std::string identity = "series");

    Result<DeviceNumber> describe(const Device& device, Millis from);
    // One log record and one sync for all of them; an answer for each.
    std::vector<Result<>> append(std::span<const SampleBatch> batches);  // Of who leads.
    // Work that is due is done a slice at a time: true while there is more.
    bool due() const { return sealing_ || full(); }
    Result<bool> seal_slice();
    Result<> freeze();  // Rows so far are to be sealed.
    Result<bool> keep_slice(const SeriesPolicy& policy, Millis now);
    View view(const Query& query) const;
    SeriesStats stats() const;

    // The SeriesMirror port; mirror.h has how answers are made of an offer.
    Result<std::string> ask(const std::string& master);
    Result<Offer> offer();
    Result<Mirrored> take(const std::string& master, std::string_view answer);

private:
    struct Known {
        std::shared_ptr<const std::string> id;
        Columns columns;
        Eras eras;
        Head head;
        RowBytes frozen;  // Being sealed.
        Millis frozen_newest = 0;
        std::uint64_t marked_in = 0;                               // The last round that brought rows.
        std::uint64_t told_in = 0;                                 // The log that knows it, with these eras.
        Millis sealed_until = std::numeric_limits<Millis>::min();  // Rows up to here may be in a segment.
    };
    struct Undo {  // A device as it was before a round.
        DeviceNumber number = 0;
        std::uint64_t told_in = 0;
        Head::Mark mark;
    };
    struct Thinning {
        SegmentPtr from;
        SegmentIndex index;
        std::size_t next = 0;
        std::unique_ptr<SegmentWriter> writer;
    };

    Keeper(std::unique_ptr<Folder> folder, Limits limits, std::string identity)
        : folder_(std::move(folder)), limits_(limits), identity_(std::move(identity)) {}
    Result<> load();
    Result<> load_segments(const std::vector<std::uint64_t>& numbers);
    // The devices in a log. Whoever goes on with it after a restart may give them other numbers.
    struct ToldDevices {
        std::map<std::uint64_t, DeviceNumber> numbers;  // Of a number in the log: the one here,
        std::map<DeviceNumber, Previous> before;        // and of this the row before.
    };
    struct Replay {
        std::function<Result<DeviceNumber>(Told)> device;
        std::function<void(DeviceNumber, const Previous&)> row;
    };
    Result<> load_log(std::uint64_t number);
    static Result<> replay(std::string_view payload, ToldDevices& told, const Replay& on);
    void replay_row(DeviceNumber number, const Previous& row);
    Result<> check(const std::string& id, const std::vector<Column>& columns) const;
    Result<> check(const SampleBatch& batch) const;
    void note_before(DeviceNumber number);
    Result<> write_log(std::string_view payload);
    Result<> begin_log();
    void tell(std::string& to, DeviceNumber number);
    DeviceNumber known(const std::string& id, const std::vector<Column>& columns);
    Columns shared(const std::vector<Column>& columns) const;  // Null: no device has them.
    bool full() const;
    void freeze_heads();
    static void forget_eras(Known& device);
    void drop_stored(Rows& rows, const Known& device);
    Result<> end_sealing();
    Result<bool> begin_thinning(const SeriesPolicy& policy, Millis now);
    Result<> thin_device(const SegmentIndex::IndexDevice& device);
    Result<> end_thinning();
    Result<> drop(const SegmentPtr& segment);
    void add_segment(SegmentPtr segment);

    // Another store that is followed, and how far it is.
    struct Followed {
        std::string master, store;
        Place place;
        Millis newest = std::numeric_limits<Millis>::min();  // Row that came from it.
    };
    // How rows in the log that is being followed differ from those before.
    struct Following {
        std::string master, store;
        Place place;
        ToldDevices told;
        // Of devices of which rows came that are not the newest: when there are rows here, in order.
        std::map<DeviceNumber, std::vector<Millis>> held;
    };
    Result<> load_followed();
    Result<> save_followed();
    Millis since() const;
    Result<DeviceNumber> learn(const Told& told, Millis until);
    std::vector<Result<>> store_rows(std::span<const SampleBatch> batches);
    Result<> store_taken(SampleBatch& batch, std::uint64_t& rows);
    bool holds(Following& following, DeviceNumber number, Millis time) const;
    Result<std::uint64_t> take_records(const std::string& body, Following& following);
    Result<std::uint64_t> take_devices(const std::string& body);

    std::unique_ptr<Folder> folder_;
    Limits limits_;
    std::vector<Known> devices_;
    std::vector<Columns> schemas_;                                         // Each once.
    std::map<std::pair<std::string, const void*>, DeviceNumber> numbers_;  // By id and one of them.
    std::vector<SegmentPtr> segments_;                                     // By number.
    std::uint64_t next_segment_ = 1;
    Millis thinned_until_ = std::numeric_limits<Millis>::min();  // Rows before this come too late.

    std::uint64_t log_ = 0;  // Number of the one that is written; 0: none yet.
    std::uint64_t log_size_ = 0;
    bool log_broken_ = false;
    std::uint64_t old_logs_ = 0;  // Bytes of those that are being sealed.
    Millis log_first_ = 0;        // Of the rows in it.
    Millis log_last_ = 0;
    std::size_t log_rows_ = 0;
    std::size_t head_memory_ = 0;
    std::size_t frozen_memory_ = 0;

    std::uint64_t round_ = 0;
    std::vector<Undo> undos_;  // As many as a round had devices at most; of these are used:
    std::size_t undos_used_ = 0;

    bool sealing_ = false;
    std::size_t seal_next_ = 0;
    std::unique_ptr<SegmentWriter> seal_writer_;
    std::map<std::uint64_t, std::unique_ptr<SegmentIndex>> seal_indexes_;  // By segment: read while sealing.
    Millis found_until_ =
        std::numeric_limits<Millis>::min();  // The newest row in segments when it was opened.
    std::optional<Thinning> thinning_;
    SeriesStats stats_;

    Millis newest_ = std::numeric_limits<Millis>::min();  // Of all rows.
    std::string identity_;
    bool identity_kept_ = false;
    std::vector<Followed> followed_;  // The one that was asked last stands last.
    bool follows_ = false;            // What came last came from there.
    // Up to its newest row it lacks nothing; else up to `reached_`, and is catching up.
    bool caught_up_ = true;
    Millis reached_ = std::numeric_limits<Millis>::min();
    std::optional<Following> following_;
    bool asked_ = false;  // The last of `followed_`, and its answer has not come.
};

std::string log_name(std::uint64_t number);

}  // namespace hostler::series
