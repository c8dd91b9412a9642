#include "bin/remote_write.h"

#include <CLI/CLI.hpp>

#include "adapters/remote_write/forwarded_store.h"
#include "adapters/remote_write/sender.h"

namespace hostler::bin {

namespace {

Result<remote_write::Target> target_of(const RemoteWriteOptions& options) {
    remote_write::Target target{.url = options.url, .token_file = options.token_file};
    for (const std::string& header : options.headers) {
        const auto colon = header.find(':');
        if (colon == std::string::npos)
            return fail(Code::invalid, "--remote-write-header is NAME:VALUE, not \"" + header + "\"");
        const auto value = header.find_first_not_of(' ', colon + 1);
        target.headers.emplace_back(header.substr(0, colon),
                                    value == std::string::npos ? "" : header.substr(value));
    }
    TRY(check(HttpCall{.url = target.url, .headers = target.headers}));
    if (!options.authority_file.empty()) {
        target.authorities = read_file(options.authority_file);
        if (target.authorities.empty())
            return fail(Code::invalid, "--remote-write-ca: cannot read " + options.authority_file);
    }
    if (!options.token_file.empty() && read_file(options.token_file).empty())
        return fail(Code::invalid, "--remote-write-token-file: cannot read " + options.token_file);
    return target;
}

class Nothing final : public RemoteWrite {
public:
    explicit Nothing(SeriesStore& store) : store_(store) {}
    SeriesStore& store() override { return store_; }
    void start(TaskGroup&) override {}
    void write_metrics(MetricsPage&) const override {}

private:
    SeriesStore& store_;
};

class Forwarding final : public RemoteWrite {
public:
    Forwarding(Process& process, Outgoing& outgoing, std::unique_ptr<remote_write::Outbox> outbox,
               remote_write::Target target, SeriesStore& store)
        : worker_(make_worker(process.loop, "remote-write")),
          backlog_(*worker_, std::move(outbox)),
          store_(store, backlog_),
          sender_(*process.timers, outgoing, backlog_, std::move(target)) {}

    SeriesStore& store() override { return store_; }
    void start(TaskGroup& group) override { group.start("remote-write", sender_.run()); }
    void write_metrics(MetricsPage& page) const override { sender_.write_metrics(page); }

private:
    std::unique_ptr<Worker> worker_;
    remote_write::Backlog backlog_;
    remote_write::ForwardedStore store_;
    remote_write::Sender sender_;
};

}  // namespace

void RemoteWriteOptions::add_to(CLI::App& app) {
    app.add_option(
        "--remote-write", url,
        "Where samples of GPUs and hosts are sent, too, by Prometheus' remote-write: http(s)://HOST/PATH");
    app.add_option("--remote-write-header", headers, "NAME:VALUE of a header to send with them");
    app.add_option("--remote-write-token-file", token_file,
                   "File of a token to send with them (Authorization: Bearer); read each time");
    app.add_option("--remote-write-ca", authority_file,
                   "File of certificates that the receiver's must lead to (PEM)");
    app.add_option("--remote-write-backlog", backlog_gib,
                   "GiB on disk of samples that are not sent yet; then the oldest are given up")
        ->check(CLI::Range(0.1, 10'000.0))
        ->capture_default_str();
}

Result<std::unique_ptr<RemoteWrite>> RemoteWrite::open(Process& process, Outgoing& outgoing,
                                                       const std::filesystem::path& data,
                                                       const RemoteWriteOptions& options,
                                                       SeriesStore& store) {
    if (options.url.empty()) return std::make_unique<Nothing>(store);
    auto target = TRY(target_of(options));
    const remote_write::OutboxLimits limits{
        .bytes_max = static_cast<std::uint64_t>(options.backlog_gib * static_cast<double>(1 << 30))};
    TRY(make_own_folder(data / "remote-write"));
    auto outbox = TRY(remote_write::Outbox::open(data / "remote-write", limits));
    return std::make_unique<Forwarding>(process, outgoing, std::move(outbox), std::move(target), store);
}

}  // namespace hostler::bin
