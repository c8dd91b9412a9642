// The cloud of a flow, as a cloud test tells of it in the environment.
import { execFile } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { promisify } from "node:util";

export const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

export class Cloud {
    apiUrl = process.env.HOSTLER_API;
    gatewayUrl = process.env.HOSTLER_GATEWAY;
    key = process.env.HOSTLER_KEY;
    data = process.env.HOSTLER_DATA;
    programs = process.env.HOSTLER_PROGRAMS;

    // The body of the answer; throws on a refusal.
    async api(method, path, body, key = this.key) {
        const { status, json } = await this.ask(method, path, body, key);
        if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`);
        return json;
    }
    async ask(method, path, body, key = this.key) {
        const response = await fetch(this.apiUrl + path, {
            method,
            headers: { Authorization: `Bearer ${key}`, ...(body ? { "Content-Type": "application/json" } : {}) },
            body: body && JSON.stringify(body),
        });
        return { status: response.status, json: await response.json().catch(() => ({})) };
    }
    // Until `so` gives something, at most so long.
    async until(so, what, milliseconds = 60_000) {
        const end = Date.now() + milliseconds;
        while (Date.now() < end) {
            const found = await so();
            if (found) return found;
            await sleep(100);
        }
        throw new Error(`it took too long: ${what}`);
    }
    running(name, tenant, milliseconds) {
        return this.until(
            async () => {
                const { json } = await this.ask("GET", `/v1/instances/${name}?tenantID=${tenant}`);
                if (json.state === "failed") throw new Error(`${name} failed: ${json.message}`);
                return json.state === "running" && json;
            },
            `${name} runs`,
            milliseconds,
        );
    }

    // A tenant that no other run has.
    async tenant() {
        const name = `t-${Math.random().toString(36).slice(2, 8)}`;
        await this.api("POST", "/v1/tenants", { name });
        return name;
    }
    // A user with a password, and what they may.
    async user(login, password, grants) {
        const made = await this.api("POST", "/v1/users", { login, ...(grants[0].tenantID ? { tenantID: grants[0].tenantID } : {}) });
        await this.api("POST", "/v1/password-reset", { secret: made.secret, newPassword: password });
        for (const grant of grants) await this.api("POST", "/v1/grants", { subject: `user/${made.id}`, ...grant });
        return made;
    }

    // Words of the command line of each process of this cloud: "access-nj" has --data DATA/access-nj.
    processes(role) {
        const place = role.startsWith("host-") ? `${this.data}/hosts/${role.slice(5)}` : `${this.data}/${role}`;
        const found = [];
        for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
            let words;
            try {
                words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
            } catch {
                continue; // It has ended.
            }
            if (words.some((word, at) => word === "--data" && words[at + 1] === place)) found.push({ pid: Number(pid), words });
        }
        return found;
    }
    // Whether an access point, "access-nj", is linked to the master.
    async isUp(role) {
        const points = (await this.api("GET", "/v1/access-points")).items;
        return points.some(({ id, state }) => role.startsWith(`access-${id.replace(/-\d+$/, "")}`) && state === "up");
    }
    // As a pulled plug; the supervisor starts it again.
    kill(role) {
        const found = this.processes(role);
        if (found.length === 0) throw new Error(`${role} does not run`);
        for (const { pid } of found) process.kill(pid, "SIGKILL");
    }
    run(program, words, environment = {}) {
        return promisify(execFile)(`${this.programs}/${program}`, words, { env: { ...process.env, ...environment } });
    }
}
