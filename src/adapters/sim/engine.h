// A container engine without containers: what it starts are small HTTP servers in this process.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "adapters/sim/dice.h"
#include "core/signal.h"
#include "core/stream.h"
#include "core/task_group.h"
#include "domain/inventory/sample.h"
#include "ports/engine.h"
#include "ports/engine_events.h"
#include "ports/images.h"
#include "ports/processes.h"

namespace hostler::sim {

struct EngineTimes {
    Duration call = std::chrono::milliseconds{2};
    Duration pull = std::chrono::seconds{3};  // Of an image that is not there.
    Duration start = std::chrono::milliseconds{200};
    Duration ready = std::chrono::milliseconds{300};  // Until it answers with 200 instead of 503.
    Duration stop = std::chrono::milliseconds{100};
    Duration measured = std::chrono::milliseconds{400};  // From its start until it is measured.
    Duration news = std::chrono::milliseconds{150};      // Until what happens is told.
    Duration untold = std::chrono::milliseconds{300};    // A follower misses events of its first moments.
};

struct EngineFaults {
    bool down = false;               // No call is answered.
    Duration slow{};                 // Added to each call.
    double refuse_start = 0;         // Chance that a start fails with the engine's own words.
    Duration late_news{};            // Added to each thing that is told.
    std::set<std::string> unseen{};  // Names of containers that it cannot look at.
    double end_news = 0;             // Chance that it ends telling, instead of telling a thing,
    double drop_news = 0;            // and that it tells nothing more and does not say so.
};

// An image's name says what it does: with "missing" or "nobody-has" in it nobody has it; "refused": the
// engine refuses it; "exits": ends after a second, with code 1; "never-ready": answers 503 for ever; "slow":
// is ready after 30 s; "stubborn": ignores SIGTERM; "loopback": listens on 127.0.0.1 only. Any other serves
// until it is stopped. The command {"exit", "7"} ends it with that code, {"work", "20", "7"} after 20 s.
//
// Each container answers GET on whatever port: 200 and "NAME PATH". It is reached through container_net().
// What a container has written is the generations that ran on it, as its labels tell them: "1 2 ". It is kept
// over power cuts.
class SimEngine final : public Engine,
                        public Images,
                        public KeptLayers,
                        public EngineEvents,
                        public Processes {
public:
    SimEngine(Loop& loop, Timers& timers, Net& net, Dice dice);
    ~SimEngine() override;

    Task<EngineFacts> describe() override;
    Task<> pull(ImageWanted image, PullSeen seen) override;
    Task<Container> launch(ContainerSpec spec) override;
    Task<StopEnd> stop(std::string name, Duration grace) override;
    Task<> remove(std::string name, LayerEnd layer) override;
    using Engine::remove;
    Task<std::vector<Container>> list(std::string label, std::string value) override;
    Task<LogPart> logs(std::string name, LogsWanted wanted) override;
    Task<std::vector<std::string>> image_names() override;
    Task<std::vector<KeptLayer>> kept() override;
    Task<std::map<std::string, DiskUse>> uses() override;
    Task<std::size_t> make_ahead(std::size_t count, std::uint64_t bytes) override;
    Task<> follow(std::string label, std::string value, std::function<void(EngineNews)> tell) override;
    Task<> answers() override { return answer(); }
    Task<std::vector<std::string>> listening(std::string container, std::uint16_t port) override;
    Task<std::map<std::string, MemoryKills>> memory_kills(std::vector<std::string> containers) override;

    // A Net that also reaches the containers at the addresses they were given; all else goes to `below`.
    std::unique_ptr<Net> container_net(Net& below);
    Task<> close();  // Ends everything; await it before the loop goes.

    EngineTimes times;
    EngineFaults faults;
    std::set<std::string> devices;                     // CDI names that exist.
    std::set<std::string>* networks_in_use = nullptr;  // Kept up to date, when set.
    std::function<void(std::string_view)> note;        // Told of each thing that happens.

    // What stands on it, for checkers.
    struct Box;
    struct Standing {
        ContainerSpec spec;
        ContainerState state;
        std::string written;
    };
    std::vector<Standing> standing() const;
    // What a running container uses, by the engine's id of it; its counters begin again with each start.
    // nullopt: it does not run, or has just begun, and the kernel does not tell of it yet.
    std::optional<InstanceSample> sample_of(const std::string& id) const;
    bool runs(const std::string& name) const;
    const std::map<std::string, std::string>& kept_written() const { return kept_; }
    void lose_layer(const std::string& name) { kept_.erase(name); }  // Somebody else did.
    std::size_t layers_ahead = 0;                                    // As last asked for.
    std::set<std::string> layers_missed;  // Containers that should have begun with what was not kept.
    Signal ended;                         // Some container has ended.
    void kill(const std::string& name, int code);                          // A container dies by itself.
    void kill_child(const std::string& name, std::string process);         // For want of memory; it lives on.
    void remove_image(const std::string& image) { images_.erase(image); }  // Somebody else did.
    void power_cut();  // All that ran has ended when the machine is back.
    std::string responder(
        const std::string& address) const;           // Where the container at `address` answers; "" nowhere.
    bool refuses(const std::string& address) const;  // It runs there and does not listen there.

private:
    using BoxPtr = std::shared_ptr<Box>;
    Task<> answer();  // What every call begins with.
    Result<> admit(const ContainerSpec& spec);
    Task<> bring_up(BoxPtr box);
    Task<> serve(BoxPtr box, StreamPtr stream);
    Task<> end_later(BoxPtr box, Duration time, int code);
    void end(const BoxPtr& box, int code);
    void say(const BoxPtr& box, std::string_view what);
    struct Follower;
    void count_networks();

    Loop& loop_;
    Timers& timers_;
    Net& net_;
    Dice dice_, news_dice_;
    std::vector<Follower*> followers_;
    TaskGroup tasks_;
    std::map<std::string, BoxPtr> boxes_;
    std::set<std::string> images_;
    std::map<std::string, std::string> kept_;  // What containers wrote that are no more, by name.
};

}  // namespace hostler::sim
