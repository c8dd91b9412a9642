// Serves console/dist as a master does (src/roles/master/browser/console.cpp, src/http/static_files.cpp), and the API of a
// simulated cloud. It counts what each answer has on the wire: head and body as they were sent.
import { createServer } from "node:http";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { createHash } from "node:crypto";
import { extname, join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { plainAnswer } from "./cloud.mjs";

const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml" };
const policy =
    "default-src 'none'; script-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data:; style-src 'self' 'unsafe-inline'; " +
    "font-src 'self'; worker-src 'self'; manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
const keepAliveMs = 15_000;
const compressedMin = 1024;
const compressedMax = 4 * 1024 * 1024;

function filesOf(folder) {
    const files = new Map();
    for (const name of readdirSync(folder, { recursive: true })) {
        const path = join(folder, name);
        if (!statSync(path).isFile()) continue;
        const plain = readFileSync(path);
        const etag = `"${createHash("sha256").update(plain).digest("hex").slice(0, 32)}"`;
        files.set(relative(folder, path), { plain, etag, gzip: gzipSync(plain, { level: 9 }), type: types[extname(name)] ?? "application/octet-stream" });
    }
    return files;
}

export class Server {
    // Of each answer that was sent whole: path, query, bytes on the wire, bytes of the body before compression.
    answers = [];
    watchers = new Set();
    changes = 0;

    constructor(cloud, dist) {
        this.cloud = cloud;
        this.files = filesOf(dist);
    }

    async start() {
        this.server = createServer((request, response) => this.answer(request, response));
        await new Promise((done) => this.server.listen(0, "127.0.0.1", done));
        this.url = `http://127.0.0.1:${this.server.address().port}`;
    }

    stop() {
        this.server.close();
        this.server.closeAllConnections();
    }

    // The answers since then.
    since(mark) {
        return this.answers.slice(mark);
    }

    get mark() {
        return this.answers.length;
    }

    count(request, response, raw) {
        const { socket } = request;
        const before = socket.bytesWritten;
        const url = new URL(request.url, this.url);
        response.on("finish", () => this.answers.push({ path: url.pathname, query: url.searchParams, wire: socket.bytesWritten - before, raw: raw.length }));
    }

    send(request, response, status, headers, plain, zipped) {
        this.count(request, response, plain);
        const body = zipped ?? plain;
        response.writeHead(status, { ...headers, ...(zipped ? { "Content-Encoding": "gzip" } : {}), "Content-Length": body.length });
        response.end(body);
    }

    json(request, response, value, status = 200) {
        const plain = Buffer.from(JSON.stringify(value));
        const small = plain.length <= compressedMin || plain.length > compressedMax || request.method !== "GET";
        const headers = { "Content-Type": status < 400 ? "application/json" : "application/problem+json", "Cache-Control": "no-store", Vary: "Accept-Encoding" };
        this.send(request, response, status, headers, plain, small ? undefined : gzipSync(plain, { level: 1 }));
    }

    file(request, response, name) {
        const isAsset = name.startsWith("assets/");
        const known = this.files.get(name);
        if (!known && isAsset) return this.json(request, response, { status: 404, detail: "no such file" }, 404);
        const isPage = !known || name === "index.html";
        const { type, etag, plain, gzip } = known ?? this.files.get("index.html");
        const headers = { "Content-Type": type, "Cache-Control": isAsset ? "public, max-age=31536000, immutable" : "no-cache", ETag: etag, Vary: "Accept-Encoding", "X-Content-Type-Options": "nosniff" };
        if (isPage) Object.assign(headers, { "Content-Security-Policy": policy, "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin" });
        return this.send(request, response, 200, headers, plain, gzip);
    }

    watch(request, response) {
        response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
        response.write(`event: synced\nid: 7-${this.changes}\ndata: {}\n\n`);
        this.watchers.add(response);
        const alive = setInterval(() => response.write(":\n\n"), keepAliveMs);
        request.on("close", () => {
            clearInterval(alive);
            this.watchers.delete(response);
        });
    }

    // One change of an object, to all who watch.
    tell(change) {
        this.changes += 1;
        for (const watcher of this.watchers) watcher.write(`event: change\nid: 7-${this.changes}\ndata: ${JSON.stringify(change)}\n\n`);
    }

    answer(request, response) {
        const url = new URL(request.url, this.url);
        const path = url.pathname;
        if (path.startsWith("/console/")) return this.file(request, response, path.slice("/console/".length));
        if (path === "/v1/watch") return this.watch(request, response);
        const made = this.made(path, url.searchParams) ?? plainAnswer(path);
        if (request.method !== "GET") return this.json(request, response, { status: 503, code: "unavailable", detail: "this cloud is simulated" }, 503);
        return made ? this.json(request, response, made) : this.json(request, response, { status: 404, code: "not_found", detail: `no ${path}` }, 404);
    }

    made(path, query) {
        const { cloud } = this;
        const one = path.match(/^\/v1\/instances\/([^/]+)$/)?.[1];
        if (one) return cloud.instances.find((it) => it.id === one);
        switch (path) {
            case "/v1/whoami": return cloud.whoami();
            case "/v1/overview": return cloud.overview();
            case "/v1/instances": return cloud.listInstances(query);
            case "/v1/fleet": return cloud.fleet(query);
            case "/v1/templates": return cloud.templates();
            case "/v1/zones": return cloud.zoneList();
            case "/v1/series": return cloud.series(query);
            default: return undefined;
        }
    }
}
