// The load of ./dev bench telemetry: into our store in this process, or by remote-write to a peer; and how
// much there is in it.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <iostream>

#include "adapters/series/block.h"
#include "adapters/series/bytes.h"
#include "adapters/series/store.h"
#include "bench/telemetry_load.h"
#include "core/task_group.h"

namespace {

using namespace hostler;
using namespace hostler::series;
using namespace hostler::bench;

struct Options {
    std::size_t gpus = 5000;
    std::size_t steps = 360;
    std::uint64_t seed = 1;
    Millis begin = 0;
    std::string folder;
    int port = 0;
    std::size_t per_request = 2000;  // Series of a remote-write request.
};
constexpr Millis interval = 10'000;
constexpr std::size_t gpus_per_host = 8;

class Fleet {
public:
    explicit Fleet(const Options& options) {
        for (std::size_t i = 0; i < options.gpus; ++i) gpus_.emplace_back(options.seed * 1'000'003 + i);
    }
    // All samples of the next moment, GPU by GPU.
    const std::vector<Cell>& next() {
        const auto width = gpu_columns().size();
        cells_.resize(gpus_.size() * width);
        for (std::size_t i = 0; i < gpus_.size(); ++i)
            gpus_[i].next(std::span(cells_).subspan(i * width, width));
        return cells_;
    }

private:
    std::vector<Gpu> gpus_;
    std::vector<Cell> cells_;
};

double cpu_seconds() {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

template <class T>
Result<T> run(Loop& loop, Task<T> task) {
    std::optional<Result<T>> answer;
    TaskGroup group{loop};
    group.start("bench", [](std::optional<Result<T>>& into, Task<T> inner) -> Task<> {
        into.emplace(co_await std::move(inner));
        co_return Result<>{};
    }(answer, std::move(task)));
    loop.restart();
    while (group.size() > 0 && loop.run_one() > 0) {
    }
    return std::move(*answer);
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

std::uint64_t folder_bytes(const std::string& folder) {
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.is_regular_file()) bytes += entry.file_size();
    return bytes;
}

// `where` the rows are then stands behind each name.
void time_queries(Loop& loop, SeriesStore& store, const Options& options, std::string_view where) {
    const Millis end = options.begin + static_cast<Millis>(options.steps) * interval;
    const auto time = [&](const std::string& name, const Query& query) {
        std::vector<double> took;
        std::size_t lines = 0;
        for (int turn = 0; turn < 5; ++turn) {
            const auto begun = std::chrono::steady_clock::now();
            lines = run(loop, store.query(query)).value().size();
            took.push_back(
                std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count());
        }
        fmt::print("query {}{} {:.3f} {}\n", name, where, median(took), lines);
    };
    Query query{.metric = "power_mw", .from = end - 3'600'000, .to = end, .step = 60'000};
    query.where = {{.label = "gpu", .values = {gpu_id(options.gpus / 2)}}};
    time("one-gpu-hour", query);
    query.where = {};
    query.across = Across::avg;
    query.by = {"zone"};
    time("avg-by-zone", query);
    query.across = Across::none;
    query.from = end - 300'000;
    query.step = 300'000;
    query.top = 10;
    time("top-10", query);
}

// Ours: a report a host, those of one moment at once; the CPU of both its threads and of the loop between
// them.
int ours(const Options& options) {
    Loop loop;
    const auto writer = make_worker(loop, "series", 1 << 20);
    const auto reader = make_worker(loop, "queries");
    auto store = open_store(*writer, *reader, options.folder).value();
    std::vector<DeviceNumber> numbers;
    const double described = cpu_seconds();
    for (std::size_t i = 0; i < options.gpus; ++i)
        numbers.push_back(
            run(loop,
                store->describe({.id = "gpu/" + gpu_id(i), .columns = gpu_columns(), .labels = gpu_labels(i)},
                                options.begin))
                .value());
    double cpu = cpu_seconds() - described;
    Fleet fleet{options};
    const auto width = gpu_columns().size();
    const auto begun = std::chrono::steady_clock::now();
    for (std::size_t step = 0; step < options.steps; ++step) {
        const auto& cells = fleet.next();
        const Millis time = options.begin + static_cast<Millis>(step) * interval;
        const double before = cpu_seconds();
        TaskGroup group{loop};
        for (std::size_t gpu = 0; gpu < options.gpus; gpu += gpus_per_host) {
            const auto end = std::min(options.gpus, gpu + gpus_per_host);
            SampleBatch batch;
            for (auto i = gpu; i < end; ++i) batch.rows.push_back({numbers[i], time});
            batch.cells.assign(cells.begin() + static_cast<std::ptrdiff_t>(gpu * width),
                               cells.begin() + static_cast<std::ptrdiff_t>(end * width));
            group.start("append", store->append(std::move(batch)));
        }
        loop.restart();
        while (group.size() > 0 && loop.run_one() > 0) {
        }
        cpu += cpu_seconds() - before;
    }
    const double appended = cpu;
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun;
    const auto memory = run(loop, store->stats()).value().memory_bytes;
    time_queries(loop, *store, options, "");
    const double before = cpu_seconds();
    if (auto flushed = run(loop, store->flush()); !flushed) {
        fmt::print(stderr, "{}\n", flushed.error().message);
        return 1;
    }
    cpu += cpu_seconds() - before;
    const auto stats = run(loop, store->stats()).value();
    if (stats.rows != options.gpus * options.steps) {
        fmt::print(stderr, "{} rows were not stored\n", options.gpus * options.steps - stats.rows);
        return 1;
    }
    fmt::print("cpu {:.6f}\nappend-cpu {:.6f}\nwall {:.3f}\nbytes {}\nwritten {}\nrows {}\nhead {}\n", cpu,
               appended, wall.count(), folder_bytes(options.folder), stats.written_bytes, stats.rows, memory);
    time_queries(loop, *store, options, "-sealed");
    return 0;
}

// Protocol buffers and snappy's frame without compression, as remote-write wants them.
void add_field(std::string& to, unsigned number, std::string_view value) {
    add_varint(to, number << 3 | 2);
    add_text(to, value);
}

std::string as_snappy(std::string_view bytes) {
    std::string to;
    add_varint(to, bytes.size());
    while (!bytes.empty()) {
        const auto size = std::min<std::size_t>(bytes.size(), 65'536);
        to += static_cast<char>(61 << 2);
        to += static_cast<char>((size - 1) & 0xFF);
        to += static_cast<char>((size - 1) >> 8);
        to += bytes.substr(0, size);
        bytes.remove_prefix(size);
    }
    return to;
}

class Sender {
public:
    explicit Sender(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(static_cast<std::uint16_t>(port));
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
            fmt::print(stderr, "nobody listens on port {}\n", port);
            std::exit(1);
        }
        const int on = 1;
        ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    ~Sender() { ::close(socket_); }
    Sender(const Sender&) = delete;
    Sender& operator=(const Sender&) = delete;

    void send(const std::string& body) {
        std::string request = fmt::format(
            "POST /api/v1/write HTTP/1.1\r\nHost: bench\r\nContent-Encoding: snappy\r\nContent-Type: "
            "application/x-protobuf\r\n"
            "X-Prometheus-Remote-Write-Version: 0.1.0\r\nContent-Length: {}\r\n\r\n",
            body.size());
        request += body;
        for (std::string_view left = request; !left.empty();) {
            const auto sent = ::send(socket_, left.data(), left.size(), MSG_NOSIGNAL);
            if (sent <= 0) give_up("the connection broke");
            left.remove_prefix(static_cast<std::size_t>(sent));
        }
        std::string answer;
        char piece[4096];
        while (answer.find("\r\n\r\n") == answer.npos) {
            const auto got = ::recv(socket_, piece, sizeof piece, 0);
            if (got <= 0) give_up("no answer");
            answer.append(piece, static_cast<std::size_t>(got));
        }
        if (!answer.starts_with("HTTP/1.1 20")) give_up(answer);
    }

private:
    [[noreturn]] static void give_up(const std::string& why) {
        fmt::print(stderr, "remote-write: {}\n", why);
        std::exit(1);
    }
    int socket_;
};

int send(const Options& options) {
    const auto& columns = gpu_columns();
    std::vector<std::string> labels;  // Of each series, as it is sent.
    for (std::size_t gpu = 0; gpu < options.gpus; ++gpu) {
        for (const auto& column : columns) {
            auto all = gpu_labels(gpu);
            all["__name__"] = column.name;  // Sorted, as the protocol wants it.
            std::string text;
            for (const auto& [name, value] : all) {
                std::string label;
                add_field(label, 1, name);
                add_field(label, 2, value);
                add_field(text, 1, label);
            }
            labels.push_back(std::move(text));
        }
    }
    Sender sender{options.port};
    Fleet fleet{options};
    for (std::size_t step = 0; step < options.steps; ++step) {
        const auto& cells = fleet.next();
        const auto time = static_cast<std::uint64_t>(options.begin + static_cast<Millis>(step) * interval);
        std::string body;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            std::string sample;
            sample += static_cast<char>(1 << 3 | 1);
            add_fixed(sample, std::bit_cast<std::uint64_t>(static_cast<double>(cells[i])));
            sample += static_cast<char>(2 << 3);
            add_varint(sample, time);
            std::string series = labels[i];
            add_field(series, 2, sample);
            add_field(body, 1, series);
            if ((i + 1) % options.per_request != 0 && i + 1 < cells.size()) continue;
            sender.send(as_snappy(body));
            body.clear();
        }
    }
    return 0;
}

double entropy(std::vector<Cell>& symbols) {
    std::ranges::sort(symbols);
    double bits = 0;
    const auto all = static_cast<double>(symbols.size());
    for (std::size_t i = 0, end = 0; i < symbols.size(); i = end) {
        while (end < symbols.size() && symbols[end] == symbols[i]) ++end;
        const auto count = static_cast<double>(end - i);
        bits -= count * std::log2(count / all);
    }
    return symbols.empty() ? 0 : bits / all;
}

// Of each column: bits of entropy of a difference and of a second difference (as they are distributed over
// all GPUs; at most log2 of their number), and how many bits a sample the store takes.
int describe(const Options& options) {
    const auto& columns = gpu_columns();
    Fleet fleet{options};
    std::vector<std::vector<Cell>> rows;
    for (std::size_t step = 0; step < options.steps; ++step) rows.push_back(fleet.next());
    double sum = 0;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        std::vector<Cell> first;
        std::vector<Cell> second;
        std::size_t stored = 0;
        for (std::size_t gpu = 0; gpu < options.gpus; ++gpu) {
            const auto at = [&](std::size_t step) { return rows[step][gpu * columns.size() + c]; };
            std::vector<Cell> cells;
            for (std::size_t step = 0; step < options.steps; ++step) {
                cells.push_back(at(step));
                if (step > 0) first.push_back(at(step) - at(step - 1));
                if (step > 1) second.push_back(at(step) - 2 * at(step - 1) + at(step - 2));
            }
            std::string bytes;
            add_column(bytes, cells, columns[c].form);
            stored += bytes.size();
        }
        const double bits =
            8.0 * static_cast<double>(stored) / static_cast<double>(options.gpus * options.steps);
        sum += bits;
        fmt::print("column {} {:.2f} {:.2f} {:.2f}\n", columns[c].name, entropy(first), entropy(second),
                   bits);
    }
    fmt::print("mean {:.3f}\n", sum / static_cast<double>(columns.size()));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app{"The load of ./dev bench telemetry"};
    app.require_subcommand(1);
    app.add_option("--gpus", options.gpus);
    app.add_option("--steps", options.steps);
    app.add_option("--seed", options.seed);
    app.add_option("--begin", options.begin, "milliseconds since 1970 of the first sample");
    int status = 0;
    auto* store = app.add_subcommand("ours", "into a new store in this process");
    store->add_option("folder", options.folder)->required();
    store->callback([&] { status = ours(options); });
    auto* peer = app.add_subcommand("send", "by remote-write to a port of this machine");
    peer->add_option("port", options.port)->required();
    peer->add_option("--per-request", options.per_request);
    peer->callback([&] { status = send(options); });
    app.add_subcommand("gpu", "the one that a query asks for")->callback([&] {
        fmt::print("{}\n", gpu_id(options.gpus / 2));
    });
    app.add_subcommand("describe", "what is in each column")->callback([&] { status = describe(options); });
    CLI11_PARSE(app, argc, argv);
    return status;
}
