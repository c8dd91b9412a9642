// A provider makes a token, starts an agent with the command that the page shows, and sees its host join.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { equal } from "../stage.mjs";

// A host like one that is there, with GPUs and a place of its own.
function startAgent(cloud, like, token) {
    const [{ words }] = cloud.processes(`host-${like}`);
    const from = `${cloud.data}/hosts/${like}`;
    const to = `${cloud.data}/hosts/of-provider`;
    mkdirSync(to, { recursive: true });
    for (const part of ["sys", "proc"]) cpSync(`${from}/${part}`, `${to}/${part}`, { recursive: true });
    const state = readFileSync(`${from}/nvml.state`, "utf8");
    writeFileSync(`${to}/nvml.state`, state.replaceAll("uuid = GPU-", `uuid = GPU-${randomBytes(2).toString("hex")}`).replaceAll(/^serial = .*\n/gm, ""));
    const own = words.map((word) => word.replaceAll(from, to));
    const named = own.map((word, at) => (own[at - 1] === "--hostname" ? "of-provider" : word));
    const environment = { ...process.env, HOSTLER_SIMULATED_NVML: `${to}/nvml.state` };
    const at = named.indexOf("--token");
    if (at >= 0) named[at + 1] = token;
    else named.push("--token", token);
    return spawn(named[0], named.slice(1), { env: environment, stdio: "ignore" });
}

export default async function (stage) {
    const { cloud } = stage;
    const login = `flo-${Math.random().toString(36).slice(2, 8)}`;
    await cloud.user(login, "a horse that is right", [{ role: "provider", provider: "farm" }]);
    const { secret } = await cloud.api("POST", "/v1/sign-in", { login, password: "a horse that is right" });
    const flo = await stage.person();
    const { page } = flo;
    await flo.signIn(secret);
    await flo.click(page.locator("nav").getByRole("link", { name: "Add a host" }));
    await flo.choose("Zone", "nj");
    await flo.click(flo.button("Make the command"));
    const token = (await page.getByText(/ht_\S+/).first().innerText()).match(/ht_\S+/)[0];
    equal((await cloud.api("GET", "/v1/hosts", undefined, secret)).items.length, 0, "hosts of the provider so far");
    const agent = startAgent(cloud, "nj-1", token);
    try {
        await page.getByText(/has joined, 8 × H100/).waitFor({ timeout: 60_000 });
    } finally {
        agent.kill("SIGKILL");
        for (const { id } of (await cloud.api("GET", "/v1/hosts", undefined, secret)).items)
            await cloud.until(async () => (await cloud.ask("DELETE", `/v1/hosts/${id}`)).status < 300, "the host is removed");
        rmSync(`${cloud.data}/hosts/of-provider`, { recursive: true, force: true });
    }
}
