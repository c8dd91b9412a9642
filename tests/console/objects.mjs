import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// Agents of hosts that are made for clusters, by the host's name.
const agents = new Map();

// A cluster takes whole hosts: this one has no GPUs, and its engine is simulated, so that no step changes this machine.
async function makeClusterHost(cloud, name) {
    const { token, command } = await cloud.api("POST", "/v1/host-tokens", { zone: "nj" });
    const access = command.match(/--access (\S+)/)[1];
    const folder = mkdtempSync(join(tmpdir(), "hostler-console-"));
    for (const part of ["sys", "proc"]) cpSync(`${cloud.data}/hosts/nj-1/${part}`, join(folder, part), { recursive: true });
    writeFileSync(join(folder, "proc/sys/kernel/hostname"), `${name}\n`);
    const machine = ["--sysfs-root", join(folder, "sys"), "--proc-root", join(folder, "proc"), "--nvml-lib", "none"];
    const words = ["run", "--data", join(folder, "data"), "--access", access, "--engine", "sim", "--clusters", ...machine];
    const agent = spawn(join(cloud.programs, "hostler-agent"), words, { env: { ...process.env, HOSTLER_TOKEN: token }, stdio: "ignore" });
    const end = () => {
        agent.kill("SIGKILL");
        rmSync(folder, { recursive: true, force: true });
    };
    process.once("exit", end);
    const host = async () => (await cloud.api("GET", "/v1/hosts?state=ready&limit=1000")).items.find((one) => one.name === name);
    agents.set(name, { id: (await cloud.until(host, `host ${name} is ready`)).id, end });
}

async function endClusterHost(cloud, name) {
    const { id, end } = agents.get(name);
    end();
    agents.delete(name);
    await cloud.api("DELETE", `/v1/hosts/${id}?force=true`);
}

// Objects that addresses of the console name: one for each page of pages.ts with an id.
// Each of them has the word in what its address does not tell: in its name, or beside it.
export async function makeObjects(cloud, tenantID, word) {
    const make = (path, body) => cloud.api("POST", path, { tenantID, ...body });
    const name = `${word}-one`;
    const summary = `of ${word}`;
    await make("/gpu-instances", {
        instanceID: name, tenantName: word, image: "localhost/hostler-demo:latest", specName: "demo", template: { ports: [], envs: [], cmd: "", volumes: [] },
    });
    const job = await make("/v1/jobs", { name: `${word}-job`, image: "localhost/hostler-demo:latest", specName: "demo" });
    await makeClusterHost(cloud, `${word}-host`);
    const cluster = await make("/v1/clusters", { name: `${word}-cluster`, control: 1, controlHosts: [`${word}-host`] });
    await make("/v1/alert-rules", { name: "hot", metric: "gpu_memory_used_percent", threshold: -1, forSeconds: 0, summary });
    await make("/v1/projects", { name: "lab", displayName: summary });
    await make("/v1/roles", { name: "own", permissions: ["instance.read"], description: summary });
    await make("/v1/alert-receivers", { name: "box", type: "webhook", url: `https://${word}.example.com/` });
    await cloud.api("PATCH", `/v1/tenants/${tenantID}`, { displayName: summary });
    const made = {
        "/jobs": job.id,
        "/clusters": cluster.id,
        "/volumes": (await make("/v1/volumes", { name, size: "1Gi" })).id,
        "/secrets": (await make("/v1/secrets", { name, values: [{ key: word, value: word }] })).id,
        "/groups": (await make("/v1/groups", { name })).id,
        "/accounts": (await make("/v1/service-accounts", { name })).id,
        "/identity-providers": (await make("/v1/identity-providers", { name: "idp", issuer: `https://${word}.example.com`, clientID: word })).id,
        "/policies": (await cloud.api("PUT", "/v1/policies", { tenantID, images: [`${word}.example.com/*`] })).id,
        "/members": (await cloud.user(`${word}@${tenantID}`, "a horse that is right", [{ role: "member", tenantID }])).id,
        "/projects": "lab",
        "/roles": "own",
        "/alert-rules": "hot",
        "/receivers": "box",
        "/tenants": tenantID,
    };
    await cloud.running(name, tenantID);
    await cloud.until(async () => (await cloud.api("GET", `/v1/jobs/${job.id}`)).state === "running", "the job runs");
    const alerts = async () => (await cloud.api("GET", `/v1/alerts?tenantID=${tenantID}`)).items[0];
    made["/alerts"] = (await cloud.until(alerts, "an alert of the tenant")).id;
    return { ...made, "/instances": (await cloud.api("GET", `/v1/instances/${name}?tenantID=${tenantID}`)).id };
}

// Of those that hold hosts or GPUs.
export async function endObjects(cloud, tenantID, word, { "/jobs": job, "/clusters": cluster }) {
    await cloud.api("DELETE", `/v1/clusters/${cluster}?force=true&reason=the%20flow%20ends`);
    await endClusterHost(cloud, `${word}-host`);
    await cloud.api("POST", `/v1/jobs/${job}/cancel`, { tenantID });
    await cloud.api("DELETE", `/gpu-instances/${word}-one?tenantID=${tenantID}`);
}

// Of the cloud, which a tenant does not see either.
export async function cloudObjects(cloud) {
    const first = async (path, key = "id") => (await cloud.api("GET", path)).items[0][key];
    return {
        "/hosts": await first("/v1/hosts"),
        "/gpus": await first("/v1/gpus"),
        "/access-points": await first("/v1/access-points"),
        "/stock": await first("/v1/stocks", "specName"),
        "/consolidations": "co-0000000000", // None can be made here; without the permission the page asks for none.
    };
}

// Everyone may open them.
export async function catalogueObjects(cloud) {
    const first = async (path) => (await cloud.api("GET", path)).items[0].name;
    return { "/zones": await first("/v1/zones"), "/specs": await first("/v1/specs") };
}

// "/volumes" of "/volumes/:id".
export const areaOf = ({ path }) => path.slice(0, path.indexOf("/:"));

const tabs = { "/instances": ["", "/terminal", "/logs", "/metrics", "/events"], "/jobs": ["", "/tasks", "/logs", "/events"], "/clusters": ["", "/nodes", "/events"] };

// Of a page "/instances/:id/:tab?"; a page without tabs is one.
export function tabsOf(page) {
    if (!page.path.includes(":tab")) return [""];
    if (!tabs[areaOf(page)]) throw new Error(`${page.path} has tabs: objects.mjs has none of them`);
    return tabs[areaOf(page)];
}

export const views = ["usage", "waste"];
