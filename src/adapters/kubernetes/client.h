// The verbs of the Kubernetes API.
#pragma once

#include "adapters/kubernetes/codec.h"
#include "adapters/kubernetes/connection.h"
#include "adapters/kubernetes/kinds.h"

namespace hostler::kubernetes {

// Which objects of a kind.
struct Selection {
    std::string ns{};      // Empty: of all namespaces.
    std::string labels{};  // "app=x,tier in (a,b)"
    std::string fields{};  // "spec.nodeName=n1"
};

// An object as it is, with the fields that its struct lacks.
template <class T>
struct Kept {
    T value;
    json::object raw;
    // `raw` with what was changed in `value`.
    json::object changed() const { return write_onto(value, raw); }
};

struct Page {
    std::vector<json::object> objects;
    std::string resource_version;  // Of the whole list, on each of its pages.
    std::string next;              // For page(); empty: this is the last one.
};

struct ApplyOptions {
    std::string field_manager = "hostler";
    bool force = false;  // Takes fields from other managers; otherwise they are a conflict.
    bool dry_run = false;
    std::string subresource{};  // "status", "scale".
};

// What becomes of the objects that one owns.
enum class Propagation { background, foreground, orphan };

struct RemoveOptions {
    Propagation propagation = Propagation::background;
    std::string uid{};               // Only the object with this one; conflict otherwise.
    std::string resource_version{};  // Only while it has this one; conflict otherwise.
    std::optional<std::int64_t> grace_s{};
};

class Client {
public:
    static constexpr std::int64_t page_size = 500;
    static constexpr int list_tries_max = 5;

    Client(Net& net, Timers& timers, Worker& worker, Access access, ConnectionSettings settings = {});

    // Errors of all: those of Connection; not_found (the object, or the kind) and forbidden among them.

    Task<json::object> get(Kind kind, ObjectKey key);

    // `next`: of the page before. Errors: conflict with reason `expired`: the page is too old; begin again.
    Task<Page> page(Kind kind, Selection which, std::string next = {}, std::int64_t size = page_size);
    // All pages. A page that is too old begins the list again, at most list_tries_max times. Errors:
    // exhausted: more than objects_max.
    Task<Page> list(Kind kind, Selection which, std::int64_t size = page_size,
                    std::size_t objects_max = 200'000);

    // Server-side apply: creates the object or changes the fields that it names, and the manager owns them
    // from then on; fields that it named before and no longer names go. Name and namespace are those of its
    // metadata; managedFields is left out; a resourceVersion must be the present one. Gives the object as it
    // is then. Errors: conflict (another manager owns a field: Error::fields names them), invalid.
    Task<json::object> apply(Kind kind, json::object object, ApplyOptions options = {});
    // The same for what controllers tell of an object.
    Task<json::object> patch_status(Kind kind, json::object object, ApplyOptions options = {});

    // Until the server has taken it; finalizers may keep the object for a while.
    Task<> remove(Kind kind, ObjectKey key, RemoveOptions options = {});

    // Errors: conflict with reason `disruption_budget` while a PodDisruptionBudget refuses it; conflict:
    // another pod has that name by now (uid).
    Task<> evict(ObjectKey pod, std::string uid = {}, std::optional<std::int64_t> grace_s = {});

    // Any other call with a JSON answer: "GET", "/version".
    Task<json::object> call(std::string method, std::string target, json::object body = {});

    template <class T>
    Task<Kept<T>> get(ObjectKey key) {
        auto raw = CO_TRY(co_await get(T::kind, std::move(key)));
        auto value = CO_TRY(read_object<T>(raw));
        co_return Kept<T>{std::move(value), std::move(raw)};
    }
    template <class T>
    Task<std::vector<T>> list(Selection which = {}) {
        std::vector<T> all;
        for (const auto& raw : CO_TRY(co_await list(T::kind, std::move(which))).objects)
            all.push_back(CO_TRY(read_object<T>(raw)));
        co_return all;
    }
    // The fields of `value` that differ from their initialisers.
    template <class T>
    Task<Kept<T>> apply(T value, ApplyOptions options = {}) {
        auto raw = CO_TRY(co_await apply(T::kind, write_onto(value), std::move(options)));
        auto seen = CO_TRY(read_object<T>(raw));
        co_return Kept<T>{std::move(seen), std::move(raw)};
    }

    Connection& connection() { return connection_; }

private:
    Connection connection_;
};

// "?labelSelector=...&limit=500"; pairs without a value are left out.
std::string query_of(const std::vector<std::pair<std::string_view, std::string>>& pairs);
ObjectKey key_of(const json::object& object);
// A list in the body of the answer to `ask`. Errors: unavailable: it is none.
Result<Page> parse_page(std::string_view body, const Ask& ask);

}  // namespace hostler::kubernetes
