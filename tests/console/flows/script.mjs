// Scripts, links and terminal sequences where people and programs may write what they like: all of it is text.
import { equal } from "../stage.mjs";

const tag = "<img src=x onerror=window.hit=1><script>window.hit=1</script>";
const link = "javascript:window.hit=1";
const image = "localhost/hostler/shell:1";

// What a program writes: a title, a link and colours for terminals.
const sequences = `\\033]0;${tag}\\007\\033]8;;${link}\\007click-me\\033]8;;\\007 \\033[31m${tag}\\033[0m`;

// In each field that takes it; a name does not.
async function write(cloud, tenantID) {
    const make = (path, body) => cloud.api("POST", path, { tenantID, ...body });
    equal((await cloud.ask("POST", "/v1/volumes", { tenantID, name: tag, size: "1Gi" })).status, 400, "a tag as a name");
    await cloud.api("PATCH", `/v1/tenants/${tenantID}`, { displayName: tag });
    await make("/v1/projects", { name: "lab", displayName: tag });
    await make("/v1/roles", { name: "own", permissions: ["instance.read"], description: tag });
    await make("/v1/alert-rules", {
        name: "hot", metric: "gpu_memory_used_percent", threshold: -1, forSeconds: 0, summary: tag, description: tag, runbook: link,
    });
    await make("/v1/silences", { matchers: ["zone=nowhere"], comment: tag, forSeconds: 600 });
    const { id } = await make("/v1/users", { login: `eve@${tenantID}`, name: tag });
    return id;
}

const begin = (cloud, tenantID, instanceID, command) =>
    cloud.api("POST", "/gpu-instances", {
        instanceID, tenantID, tenantName: tag, image, specName: "demo", template: { ports: [], envs: [], cmd: `/bin/sh -c "${command}"`, volumes: [] },
    });

// Nothing runs, and nothing that could has become a part of the page: the policy of the page is a second fence.
async function checkText(page, where) {
    const found = await page.evaluate(() => ({
        hit: window.hit,
        made: document.querySelector("img[src='x'], script:not([src]), [onerror], a[href^='javascript:']")?.outerHTML,
    }));
    equal(found.hit, undefined, `${where}: a script ran`);
    equal(found.made, undefined, `${where}: a text became a part of the page`);
}

async function lookAt(person, paths) {
    for (const [path, shows] of paths) {
        await person.open(path);
        if (shows) await person.page.getByRole("main").getByText(shows).first().waitFor();
        await checkText(person.page, path);
    }
}

async function searchPalette({ page }, name) {
    for (const typed of [tag, name]) {
        await page.keyboard.press("Control+k");
        await page.getByRole("textbox", { name: "Search", exact: true }).fill(typed);
        if (typed === name) await page.getByText(/^instance · /).first().waitFor();
        else await page.getByText("Nothing has this name.").waitFor();
        await checkText(page, "the search");
        await page.keyboard.press("Escape");
        await page.getByRole("dialog").waitFor({ state: "detached" });
    }
}

// A link of a program asks first, and only to the web.
async function readTerminal({ page }) {
    page.on("dialog", (dialog) => dialog.dismiss());
    const title = await page.title();
    const rows = page.locator(".xterm-rows");
    await rows.getByText("@").first().waitFor();
    await page.keyboard.type(`printf '${sequences}'\n`);
    await page.waitForFunction(() => document.querySelectorAll(".xterm-rows")[0]?.textContent.match(/(?<!07)click-me/));
    const box = await rows.getByText("click-me").last().boundingBox();
    await page.mouse.move(box.x + 8, box.y + box.height / 2, { steps: 3 });
    await page.mouse.click(box.x + 8, box.y + box.height / 2);
    await page.waitForTimeout(200);
    equal(await page.title(), title, "the title of the page");
    equal(page.context().pages().length, 1, "pages that a link of a program opened");
    await checkText(page, "the terminal");
}

export default async function (stage) {
    const { cloud } = stage;
    const tenant = await cloud.tenant();
    const name = `text-${tenant.slice(2)}`;
    await begin(cloud, tenant, name, `printf '${sequences.replaceAll("\\", "\\\\")}\\\\n'; sleep 10000`);
    await begin(cloud, tenant, `${name}-ends`, `printf '${tag}\\\\n' >&2; exit 3`);
    const user = await write(cloud, tenant);
    const { id } = await cloud.running(name, tenant, 540_000);
    const alerts = async () => (await cloud.api("GET", `/v1/alerts?tenantID=${tenant}`)).items[0];
    const alert = await cloud.until(alerts, "an alert of the tenant");
    await cloud.user(`ada@${tenant}`, "a horse that is right", [{ role: "tenant-admin", tenantID: tenant }]);
    const { secret } = await cloud.api("POST", "/v1/sign-in", { login: `ada@${tenant}`, password: "a horse that is right" });
    const ada = await stage.person();
    await ada.signIn(secret);
    const of = `?tenantID=${tenant}`;
    await lookAt(ada, [
        ["/home"], ["/instances"], [`/instances/${id}${of}`], [`/instances/${id}/events${of}`], [`/instances/${name}-ends${of}`],
        ["/tenants", tag], [`/tenants/${tenant}`, tag], ["/projects", tag], [`/projects/lab${of}`, tag],
        [`/roles/own${of}`, tag], ["/alerts", tag], [`/alerts/${alert.id}`, link], [`/alert-rules/hot${of}`, tag], ["/silences", tag],
        ["/members", tag], [`/members/${user}${of}`, tag], ["/audit"], [`/reports/usage?by=instance&where=tenant%3D${tenant}`],
        [`/instances/${name}-ends/logs${of}`, tag], [`/instances/${id}/logs${of}`, `click-me ${tag}`],
    ]);
    await searchPalette(ada, name);
    await ada.open(`/instances/${id}/terminal${of}`);
    await readTerminal(ada);
    for (const one of [name, `${name}-ends`]) await cloud.api("DELETE", `/gpu-instances/${one}${of}`);
}
