// For tests: an API server in memory that has ConfigMaps in the namespace "ns", with their whole history. It
// pages, watches, compacts and cuts as the real one does; anything else is answered by `other`.
#pragma once

#include <list>
#include <map>
#include <set>

#include "adapters/kubernetes/codec.h"
#include "core/signal.h"
#include "core/task_group.h"
#include "core/testing/memory_stream.h"
#include "http/server.h"

namespace hostler::kubernetes::testing {

class ModelServer : public Net {
public:
    struct Seen {
        http::Request request;  // With its body.
        std::map<std::string, std::string> query;
    };
    struct Object {
        std::string uid, value;
        std::int64_t version = 0;
        bool operator==(const Object&) const = default;
    };
    using Objects = std::map<std::string, Object>;
    enum class Cut { none, clean, torn };

    ModelServer(Loop& loop, Timers& timers) : timers_(timers), tasks_(loop) {}
    // Ends all connections; to be followed by a turn of the loop.
    void stop() {
        cut(Cut::torn);
        tasks_.cancel();
    }

    // ---- the world
    void put(const std::string& name, std::string value) {
        const auto found = now_.find(name);
        const bool fresh = found == now_.end();
        record(
            fresh ? "ADDED" : "MODIFIED", name,
            {fresh ? "uid-" + std::to_string(++uids_) : found->second.uid, std::move(value), version_ + 1});
    }
    void remove(const std::string& name) {
        if (const auto found = now_.find(name); found != now_.end()) {
            Object last = found->second;
            last.version = version_ + 1;
            record("DELETED", name, std::move(last));
        }
    }
    void compact() { compacted_ = version_; }
    // Ends all watches: as a stream that ends in the middle of a line, or in good order.
    void cut(Cut how) {
        cut_ = how;
        ++cuts_;
        changed_.notify_all();
    }
    // All watches learn that their version is too old.
    void expire_watches() {
        ++expiries_;
        changed_.notify_all();
    }
    void bookmark() {
        ++bookmarks_;
        changed_.notify_all();
    }

    const Objects& now() const { return now_; }
    std::int64_t version() const { return version_; }
    std::size_t watches() const { return watches_; }

    // ---- its habits
    bool streaming_lists = true;    // Else sendInitialEvents is refused with 422.
    bool expired_as_event = false;  // A watch of a compacted version: 200 and an ERROR event, else 410.
    std::function<void(const Seen&)> on_request{};                      // Before it is answered.
    std::function<std::optional<http::Response>(const Seen&)> other{};  // nullopt: as usual.
    bool away = false;                                                  // Refuses connections.
    std::size_t write_max = SIZE_MAX;                                   // Bytes at a time.
    std::vector<Seen> seen{};
    std::vector<Secure> secured{};
    std::vector<std::string> dialled{};

    // ---- Net
    Task<StreamPtr> dial(std::string address, Duration) override {
        dialled.push_back(address);
        if (away) co_return fail(Code::unavailable, "refused");
        auto [client, server] = hostler::testing::memory_pair();
        server->write_max = write_max;
        tasks_.start("connection", serve_one(std::move(server)));
        co_return std::move(client);
    }
    Task<ListenerPtr> listen(std::string) override { co_return fail(Code::internal, "not here"); }
    Task<StreamPtr> secure(StreamPtr raw, Secure how, Side, Duration) override {
        secured.push_back(std::move(how));
        co_return std::move(raw);
    }

    static http::Response status(int code, std::string_view reason, std::string_view message = "said no",
                                 std::string_view details = "{}", http::Headers headers = {}) {
        return {code, std::move(headers),
                fmt::format(
                    R"({{"kind":"Status","apiVersion":"v1","status":"Failure","message":"{}","reason":"{}",)"
                    R"("details":{},"code":{}}})",
                    message, reason, details, code)};
    }
    static std::string text_of(const std::string& name, const Object& object) {
        return fmt::format(
            R"({{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"{}","namespace":"ns",)"
            R"("uid":"{}","resourceVersion":"{}"}},"data":{{"v":"{}"}}}})",
            name, object.uid, object.version, object.value);
    }

private:
    struct Record {
        std::string type, name;
        Object object;
    };

    void record(std::string type, const std::string& name, Object object) {
        ++version_;
        if (type == "DELETED")
            now_.erase(name);
        else
            now_[name] = object;
        history_.push_back({std::move(type), name, std::move(object)});
        changed_.notify_all();
    }
    Objects at(std::int64_t version) const {
        Objects objects;
        for (const auto& [type, name, object] : history_) {
            if (object.version > version) break;
            if (type == "DELETED")
                objects.erase(name);
            else
                objects[name] = object;
        }
        return objects;
    }

    Task<> serve_one(StreamPtr stream) {
        const http::Handler handler = [this](http::Exchange& exchange) { return answer(exchange); };
        const http::ServerLimits limits;
        co_return co_await http::serve(std::move(stream), timers_, limits, handler);
    }

    Task<> answer(http::Exchange& exchange) {
        Seen one{exchange.request, {}};
        one.request.body = CO_TRY(co_await exchange.read_all(1 << 20));
        http::each_item(
            one.request.query(),
            [&](std::string_view pair) {
                const auto equals = pair.find('=');
                one.query[std::string{pair.substr(0, equals)}] = unescaped(pair.substr(equals + 1));
            },
            '&');
        seen.push_back(one);
        if (on_request) on_request(one);
        if (other)
            if (auto response = other(one)) co_return co_await exchange.respond(std::move(*response));
        if (one.request.path() != "/api/v1/namespaces/ns/configmaps")
            co_return co_await exchange.respond(status(404, "NotFound"));
        if (one.query.contains("watch")) co_return co_await watch(exchange, std::move(one.query));
        co_return co_await exchange.respond(page(one.query));
    }

    static std::string unescaped(std::string_view text) {
        std::string plain;
        for (std::size_t i = 0; i < text.size(); ++i)
            if (text[i] == '%' && i + 2 < text.size()) {
                plain += static_cast<char>(std::stoi(std::string{text.substr(i + 1, 2)}, nullptr, 16));
                i += 2;
            } else {
                plain += text[i];
            }
        return plain;
    }

    // A continue token is "version:name of the last object before".
    http::Response page(std::map<std::string, std::string>& query) const {
        const std::string token = query["continue"];
        const auto colon = token.find(':');
        const std::int64_t version = token.empty() ? version_ : std::stoll(token);
        if (version < compacted_) return status(410, "Expired", "the continue parameter is too old");
        const std::string after = token.empty() ? "" : token.substr(colon + 1);
        const std::size_t limit = query["limit"].empty() ? SIZE_MAX : std::stoull(query["limit"]);
        const Objects objects = at(version);
        std::string items, last;
        std::size_t count = 0;
        auto next = objects.upper_bound(after);
        for (; next != objects.end() && count < limit; ++next, ++count) {
            items += (count > 0 ? "," : "") + text_of(next->first, next->second);
            last = next->first;
        }
        return {
            200,
            {},
            fmt::format(
                R"({{"kind":"ConfigMapList","metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})",
                version, next == objects.end() ? "" : fmt::format("{}:{}", version, last), items)};
    }

    Task<> watch(http::Exchange& exchange, std::map<std::string, std::string> query) {
        const bool initial = query["sendInitialEvents"] == "true";
        if (initial && !streaming_lists)
            co_return co_await exchange.respond(status(422, "Invalid", "sendInitialEvents is forbidden"));
        std::int64_t sent =
            initial || query["resourceVersion"].empty() ? version_ : std::stoll(query["resourceVersion"]);
        const std::string too_old = status(410, "Expired", "too old resource version").body;
        if (sent < compacted_) {
            if (!expired_as_event) co_return co_await exchange.respond(status(410, "Expired"));
            CO_TRY(co_await exchange.start({200, {}, {}}));
            CO_TRY(co_await exchange.write(event("ERROR", too_old)));
            co_return co_await exchange.end();
        }
        CO_TRY(co_await exchange.start({200, {}, {}}));
        const Objects first = initial ? at(sent) : Objects{};
        for (const auto& [name, object] : first)
            CO_TRY(co_await exchange.write(event("ADDED", text_of(name, object))));
        if (initial) CO_TRY(co_await exchange.write(event("BOOKMARK", mark(sent, true))));
        struct Count {
            std::size_t& of;
            explicit Count(std::size_t& size) : of(size) { ++of; }
            ~Count() { --of; }
        };
        const Count count{watches_};
        const auto cuts = cuts_, expiries = expiries_;
        auto bookmarks = bookmarks_;
        while (true) {
            if (cuts_ != cuts && cut_ == Cut::clean) co_return co_await exchange.end();
            if (cuts_ != cuts) {
                (void)co_await exchange.write(R"({"type":"DELETED","object":{"metadata":{"name":"torn)");
                exchange.cut();
                co_return fail(Code::unavailable, "cut");
            }
            if (expiries_ != expiries) {
                CO_TRY(co_await exchange.write(event("ERROR", too_old)));
                co_return co_await exchange.end();
            }
            const auto next =
                std::ranges::find_if(history_, [&](const Record& one) { return one.object.version > sent; });
            if (next != history_.end()) {
                const Record one = *next;
                sent = one.object.version;
                CO_TRY(co_await exchange.write(event(one.type, text_of(one.name, one.object))));
            } else if (bookmarks != bookmarks_) {
                bookmarks = bookmarks_;
                CO_TRY(co_await exchange.write(event("BOOKMARK", mark(sent, false))));
            } else {
                CO_TRY(co_await changed_.wait());
            }
        }
    }

    static std::string event(std::string_view type, std::string_view object) {
        return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object);
    }
    static std::string mark(std::int64_t version, bool end) {
        return fmt::format(R"({{"kind":"ConfigMap","metadata":{{"resourceVersion":"{}"{}}}}})", version,
                           end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "");
    }

    Timers& timers_;
    Objects now_;
    std::vector<Record> history_;
    std::int64_t version_ = 100;
    std::int64_t compacted_ = 0;
    int uids_ = 0;
    int cuts_ = 0, expiries_ = 0, bookmarks_ = 0;
    Cut cut_ = Cut::none;
    std::size_t watches_ = 0;
    Signal changed_;
    TaskGroup tasks_;
};

}  // namespace hostler::kubernetes::testing
