// Stands between an agent and its journal and engine, and compares what it does with what it was told.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "findings.h"
#include "ports/engine.h"
#include "ports/journal.h"

namespace hostler::simulation {

// What one host was told and did, over all lives of its agent.
class Obedience {
public:
    Obedience(std::string host, Findings& found) : host_(std::move(host)), found_(found) {}

    void writing(const std::string& key, const std::string& value);  // Into the journal; it may yet fail.
    void written(const std::string& key, const std::string& value);
    void launching(const ContainerSpec& spec);
    void stopping(const std::string& container);
    std::size_t begun() const { return begun_.size(); }
    std::uint64_t epoch() const { return epoch_; }  // The highest that it has obeyed.
    std::function<void(std::string)> tell;          // The story.

private:
    bool under_way(const std::string& subject) const;

    std::string host_;
    Findings& found_;
    std::uint64_t epoch_ = 0;
    std::map<std::string, std::uint64_t> generations_;  // By subject.
    std::set<std::string> begun_;                       // Commands.
    std::map<std::string, std::string> open_;           // Subjects, by command.
    std::map<std::string, IdRange> ids_;                // By tenant: what its containers had first.
};

class WatchedJournal final : public Journal {
public:
    WatchedJournal(Journal& journal, Obedience& obedience) : journal_(journal), obedience_(obedience) {}
    const std::map<std::string, std::string>& all() const override { return journal_.all(); }
    Task<> put_all(std::vector<Entry> entries) override;
    Task<> erase(std::string key) override { return journal_.erase(std::move(key)); }

private:
    Journal& journal_;
    Obedience& obedience_;
};

class WatchedEngine final : public Engine {
public:
    WatchedEngine(Engine& engine, Obedience& obedience) : engine_(engine), obedience_(obedience) {}
    Task<EngineFacts> describe() override { return engine_.describe(); }
    Task<> pull(ImageWanted image, PullSeen seen) override {
        return engine_.pull(std::move(image), std::move(seen));
    }
    Task<Container> launch(ContainerSpec spec) override {
        obedience_.launching(spec);
        return engine_.launch(std::move(spec));
    }
    Task<StopEnd> stop(std::string name, Duration grace) override {
        obedience_.stopping(name);
        return engine_.stop(std::move(name), grace);
    }
    Task<> remove(std::string name, LayerEnd layer) override {
        obedience_.stopping(name);
        return engine_.remove(std::move(name), layer);
    }
    Task<std::vector<Container>> list(std::string label, std::string value) override {
        return engine_.list(std::move(label), std::move(value));
    }
    Task<LogPart> logs(std::string name, LogsWanted wanted) override {
        return engine_.logs(std::move(name), wanted);
    }

private:
    Engine& engine_;
    Obedience& obedience_;
};

}  // namespace hostler::simulation
