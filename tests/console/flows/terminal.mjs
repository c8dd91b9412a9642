// A member starts a shell, opens its terminal, and types into it while the access point of its host is killed. The
// presses are counted as the console promises them: start 3, terminal 1, stop 2. By keyboard it leaves the terminal,
// which takes every Tab, in place of the killing.
import { equal } from "../stage.mjs";

const secret = () => Math.random().toString(36).slice(2, 10);

// A terminal takes the focus when it is opened.
async function type(page, text) {
    await page.waitForFunction(() => document.activeElement?.matches(".xterm-helper-textarea"));
    await page.keyboard.type(`${text}\n`);
}

async function says(page, text, milliseconds = 30_000) {
    await page.waitForFunction(
        (wanted) => document.querySelector(".xterm-rows")?.textContent?.includes(wanted),
        text,
        { timeout: milliseconds },
    );
}

// Its host speaks through one access point; the other stands by. The terminal is the same one after each.
async function loseAccessPoints({ cloud }, page) {
    await type(page, "cd /tmp && kept=yes");
    for (const role of ["access-nj", "access-lon"].filter((one) => cloud.processes(one).length > 0)) {
        const word = secret();
        cloud.kill(role);
        await type(page, `echo b-${word}-$kept-$PWD`);
        await says(page, `b-${word}-yes-/tmp`, 90_000);
        await cloud.until(() => cloud.processes(role).length > 0 && cloud.isUp(role), `${role} is back`);
    }
    await page.reload();
    const last = secret();
    await says(page, "@"); // Of the prompt.
    await type(page, `echo c-${last}-$kept`);
    await says(page, `c-${last}-yes`);
}

// Tab is the program's: it completes. A key of the page leads out.
async function leave(tom) {
    const { page } = tom;
    const word = secret();
    await type(page, `touch /tmp/${word}-whole`);
    await page.keyboard.type(`ls /tmp/${word}`);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await says(page, `ls /tmp/${word}-whole`);
    await page.keyboard.press("Control+Shift+Enter");
    await page.waitForFunction(() => document.activeElement?.matches("[role=tab][aria-selected=true]"));
    await tom.click(page.getByRole("tab", { name: "Events" }));
    await page.getByRole("heading", { name: "Events" }).waitFor();
    // Arrows over the tabs open none of them.
    await tom.click(page.getByRole("tab", { name: "Metrics" }));
    await page.getByRole("heading", { name: "Use", exact: true }).waitFor();
}

export default async function (stage) {
    const { cloud } = stage;
    const tenant = await cloud.tenant();
    await cloud.user(`tom@${tenant}`, "a horse that is right", [{ role: "member", tenantID: tenant }]);
    const { secret: key } = await cloud.api("POST", "/v1/sign-in", { login: `tom@${tenant}`, password: "a horse that is right" });
    const tom = await stage.person();
    const { page } = tom;
    stage.expectCuts();
    await tom.signIn(key);

    const begun = await tom.clicksOf(async () => {
        await tom.click(page.getByRole("main").getByRole("link", { name: "Shell" }));
        await tom.heading("Start an instance");
        await tom.click(page.getByRole("radio", { name: /demo in/ }).first());
        await tom.click(tom.button("Start"));
    });
    equal(begun, 3, "presses from home until an instance starts");
    await page.waitForURL(/\/console\/instances\/[^/]+\?/);
    const name = decodeURIComponent(new URL(page.url()).pathname.split("/").at(-1));
    // Its host makes the image of the template first.
    await cloud.running(name, tenant, 540_000);

    await tom.go("/");
    const opened = await tom.clicksOf(() => tom.click(tom.link("Terminal", page.getByRole("main"))));
    equal(opened, 1, "presses from home to a terminal");
    const first = secret();
    await says(page, "@"); // Of the prompt.
    await type(page, `echo a-${first}-$((6*7))`);
    await says(page, `a-${first}-42`);

    if (stage.hands === "keyboard") await leave(tom);
    else await loseAccessPoints(stage, page);

    await tom.go("/");
    const stopped = await tom.clicksOf(async () => {
        await tom.click(tom.button("Stop"));
        const dialog = page.getByRole("dialog");
        await dialog.getByText(/releases/).waitFor(); // It says what stopping does.
        await tom.click(tom.button("Stop", dialog));
    });
    equal(stopped, 2, "presses from home until an instance stops");
    await cloud.until(async () => (await cloud.api("GET", `/v1/instances/${name}?tenantID=${tenant}`)).state === "stopped", "it stops");
}
