// A simulated cloud: instances, hosts and GPUs in the shapes of openapi.json, and the fleet in columns.
import { readFileSync } from "node:fs";

const root = new URL("../..", import.meta.url).pathname;
const openapi = JSON.parse(readFileSync(`${root}/openapi.json`, "utf8"));

// As boost::describe lists them: an answer's numbers are places in these lists.
const hostStates = ["joining", "ready", "unreachable", "lost", "cordoned", "draining", "retired", "faulty", "quarantined", "unmeasured", "refused", "drained"];
const gpuStates = ["healthy", "degraded", "faulty", "unresponsive", "gone"];
const uses = ["idle", "stock", "instance", "foreign", "unavailable"];
const unknown = 255;

const epoch = Date.UTC(2026, 0, 1);
const timeAt = (seconds) => new Date(epoch + seconds * 1000).toISOString();

// The same numbers in each run.
function numbersFrom(seed) {
    let state = seed >>> 0;
    return (below) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor((state / 2 ** 32) * below);
    };
}

function idsOf(prefix, count, seed) {
    const next = numbersFrom(seed);
    const letters = "0123456789abcdefghjkmnpqrstvwxyz";
    const made = new Set();
    while (made.size < count) made.add(`${prefix}-${Array.from({ length: 6 }, () => letters[next(letters.length)]).join("")}`);
    return [...made];
}

// An object of a schema: each required member has its example.
function exampleOf(schema) {
    if (schema.$ref) {
        const own = schema.examples?.[0];
        return own ?? exampleOf(openapi.components.schemas[schema.$ref.split("/").pop()]);
    }
    if (schema.examples) return schema.examples[0];
    if (schema.enum) return schema.enum[0];
    if (schema.format === "date-time") return timeAt(0);
    if (schema.type === "array") return [];
    if (schema.type === "object")
        return Object.fromEntries((schema.required ?? []).map((name) => [name, exampleOf(schema.properties[name])]));
    return { boolean: false, integer: 0, number: 0 }[schema.type] ?? "";
}

const example = (name) => exampleOf(openapi.components.schemas[name]);

const permissionsDef = readFileSync(`${root}/src/domain/tenancy/permissions.def`, "utf8");
const permissions = Array.from(permissionsDef.matchAll(/^PERMISSION\(\w+,\s*"([^"]+)"/gm), ([, name]) => name);

// What a GET of this path answers without a cloud behind it: an empty list, or the example; undefined: no such path.
export function plainAnswer(path) {
    const call = Object.entries(openapi.paths).find(([name]) => new RegExp(`^${name.replace(/\{\w+\}/g, "[^/]+")}$`).test(path))?.[1].get;
    const schema = call?.responses?.["200"]?.content?.["application/json"]?.schema;
    return schema && exampleOf(schema);
}

export class Cloud {
    constructor({ instances, hosts, gpusPerHost }) {
        this.gpusPerHost = gpusPerHost;
        this.hostIds = idsOf("h", hosts, 1).sort();
        this.instances = this.makeInstances(idsOf("i", instances, 2));
        this.makeFleet();
        this.change = 0;
        this.changedAt = new Array(hosts).fill(0);
    }

    makeInstances(ids) {
        const whole = example("Instance");
        const states = ["running", "running", "running", "ready", "stopped", "failed"];
        return ids.map((id, i) => {
            const state = states[i % states.length];
            const name = `${["notebook", "train", "serve", "etl"][i % 4]}-${i}`;
            const zone = ["nj", "lon", "fra"][i % 3];
            return {
                ...whole, id, state, zone, instanceID: name, project: i % 5 ? "default" : "lab", phase: state === "ready" ? "pulling" : state,
                reason: state === "failed" ? "image_unavailable" : "", message: state === "failed" ? "its registry does not have the image" : "",
                urls: [{ port: 8888, url: `http://8888-${id}.gateway.example:7490/lab`, public: false }], host: this.hostIds[i % this.hostIds.length],
                gpus: [`g-${id.slice(2)}`], runs: [{ generation: 1, host: this.hostIds[i % this.hostIds.length], reason: "" }],
                simulated: true, resumable: state === "stopped", createdAt: timeAt(-i * 60), startedAt: timeAt(20 - i * 60), readyAt: timeAt(25 - i * 60),
            };
        });
    }

    makeFleet() {
        const next = numbersFrom(3);
        const gpus = this.hostIds.length * this.gpusPerHost;
        this.zones = this.hostIds.map((_, i) => Math.floor((i * 3) / this.hostIds.length));
        this.states = this.hostIds.map(() => (next(100) < 97 ? 1 : [2, 4, 5][next(3)]));
        const column = (of) => Uint8Array.from({ length: gpus }, of);
        const state = column(() => (next(1000) < 990 ? 0 : 1 + next(2)));
        const use = column(() => [0, 1, 2, 2, 2, 2, 2, 3][next(8)]);
        this.columns = { use, state, utilization: column(() => (next(200) ? next(101) : unknown)), temperature: column(() => 30 + next(55)), power: column(() => next(141)) };
    }

    // A page of the instances, by the cursor that names the last one.
    listInstances(query) {
        const limit = Number(query.get("limit") ?? 100);
        const first = Number(query.get("cursor") ?? 0);
        const last = first + limit;
        const chosen = this.instances.filter((it) => ["state", "zone", "project"].every((name) => !query.get(name) || it[name] === query.get(name)));
        return { items: chosen.slice(first, last), ...(last < chosen.length ? { nextCursor: String(last) } : {}) };
    }

    // Other hosts have other values from now on.
    changeHosts(count) {
        const next = numbersFrom(100 + this.change);
        this.change += 1;
        for (let k = 0; k < count; k += 1) {
            const host = Math.floor((k * this.hostIds.length) / count);
            this.changedAt[host] = this.change;
            for (let gpu = host * this.gpusPerHost; gpu < (host + 1) * this.gpusPerHost; gpu += 1) {
                this.columns.use[gpu] = (this.columns.use[gpu] + 1) % uses.length;
                this.columns.utilization[gpu] = next(101);
            }
        }
    }

    column(name, hosts) {
        const all = this.columns[name];
        const own = Buffer.concat(hosts.map((host) => all.subarray(host * this.gpusPerHost, (host + 1) * this.gpusPerHost)));
        const words = { use: uses, state: gpuStates }[name] ?? [];
        const unit = { utilization: "percent", temperature: "celsius", power: "watts" }[name] ?? "";
        return { name, words, width: 1, step: name === "power" ? 5 : 1, unit, data: own.toString("base64") };
    }

    // As types_fleet.h: all hosts, or those that changed since.
    fleet(query) {
        const since = query.get("since")?.split("-")[1];
        const hosts = this.hostIds.map((_, i) => i).filter((i) => since === undefined || this.changedAt[i] > Number(since));
        const bytes = (of) => Buffer.from(hosts.map(of)).toString("base64");
        const column = (name, words, of) => ({ name, words, width: 1, step: 1, unit: "", data: bytes(of) });
        const wanted = (query.get("values") ?? "use,state,utilization").split(",").filter((name) => this.columns[name]);
        return {
            at: timeAt(this.change), cursor: `7-${this.change}`, whole: since === undefined,
            hosts: hosts.map((i) => this.hostIds[i]), names: hosts.map((i) => `gpu-${String(i).padStart(5, "0")}`),
            hostColumns: [column("zone", ["fra", "lon", "nj"], (i) => this.zones[i]), column("state", hostStates, (i) => this.states[i]), column("gpus", [], () => this.gpusPerHost)],
            columns: wanted.map((name) => this.column(name, hosts)), removed: [],
        };
    }

    overview() {
        const named = ({ id, instanceID, tenantID, project }) => ({ id, name: instanceID, tenantID, project });
        const gpus = ["fra", "lon", "nj"].map((zone) => ({ zone, model: "NVIDIA H100 80GB HBM3", total: 26664, free: 3333, claimed: 16000, stock: 3333, foreign: 3333, outOfService: 665 }));
        return {
            instances: ["running", "ready", "stopped", "failed"].map((state) => ({ state, count: this.instances.filter((it) => it.state === state).length })),
            waiting: this.instances.slice(3, 5).map((it) => ({ ...named(it), state: it.state, reason: "no_room", sentence: "No host in lon has 8 free H100.", since: timeAt(-400) })),
            stopping: [], costs: [{ currency: "USD", perHour: "7.47" }], gpus, quotas: [{ tenantID: "acme", project: "", subject: "", name: "", resource: "gpus", limit: "16", used: "14" }],
            alerts: [{ severity: "critical", count: 1 }], hosts: [{ state: "ready", count: this.hostIds.length }], truncated: false, asOf: timeAt(0),
        };
    }

    whoami() {
        return { ...example("Whoami"), isOperator: true, simulated: true, scopes: [{ level: "cloud", permissions }] };
    }

    templates() {
        return { items: ["shell", "jupyter", "web"].map((name) => ({ ...example("InstanceTemplate"), name, title: name })) };
    }

    zoneList() {
        return { items: ["fra", "lon", "nj"].map((name) => ({ ...example("Zone"), name })) };
    }

    series(query) {
        const values = Array.from({ length: 240 }, (_, i) => 50 + 30 * Math.sin(i / 9));
        return { ...example("SeriesAnswer"), metric: query.get("metric"), unit: "percent", from: timeAt(-3600), to: timeAt(0), step: 15, lines: [{ labels: { workload: "notebook-0" }, values }] };
    }
}
