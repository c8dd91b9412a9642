// A provider makes a token, starts an agent with the command that the page shows, and sees its host join.
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { equal } from "../flow.mjs";

// A host like one that is there, with GPUs and a place of its own.
function startAgent(cloud, like, token) {
    const [{ words }] = cloud.processes(`host-${like}`);
    const from = `${cloud.data}/hosts/${like}`;
    const to = `${cloud.data}/hosts/of-provider`;
    mkdirSync(to, { recursive: true });
    for (const part of ["nvml.state", "sys", "proc", "cdi"]) cpSync(`${from}/${part}`, `${to}/${part}`, { recursive: true });
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
    await cloud.user("flo", "a horse that is right", [{ role: "provider", provider: "farm" }]);
    const { secret } = await cloud.api("POST", "/v1/sign-in", { login: "flo", password: "a horse that is right" });
    const flo = await stage.person();
    const { page } = flo;
    await flo.signIn(secret);
    await page.locator("nav").getByRole("link", { name: /join|add a host/i }).first().click();
    await page.getByRole("main").getByRole("button", { name: /make|token|command/i }).first().click();
    const token = (await page.getByText(/ht_\w+/).first().innerText()).match(/ht_\w+/)[0];
    equal((await cloud.api("GET", "/v1/hosts", undefined, secret)).items.length, 0, "hosts of the provider so far");
    const agent = startAgent(cloud, "nj-1", token);
    try {
        await page.getByText(/it has joined|joined/i).first().waitFor({ timeout: 60_000 });
    } finally {
        agent.kill("SIGKILL");
        rmSync(`${cloud.data}/hosts/of-provider`, { recursive: true, force: true });
    }
}
