// A member submits a job by the form, sees it end well and reads its output, holds and releases one that waits, and
// cancels one that runs by its name.
import { check, equal } from "../stage.mjs";

const shell = "localhost/hostler/shell:1";
const demo = "localhost/hostler-demo:latest";
const longest = 540_000; // The first start of an image takes its time.

const stateOf = async (cloud, id) => (await cloud.api("GET", `/v1/jobs/${id}`)).state;
const reaches = (cloud, id, state) => cloud.until(async () => (await stateOf(cloud, id)) === state, `job ${id} is ${state}`, longest);

const shows = ({ page }, state) => page.getByRole("main").getByText(state, { exact: true }).first().waitFor();

// By the form, to its page; its id.
async function submit(person, { name, image, command, hold }) {
    const { page } = person;
    await person.heading("Submit a job");
    await person.fill(person.text("Name"), name);
    await person.fill(person.text("Image"), image);
    if (command) await person.fill(person.text("Command"), command);
    await person.click(page.getByRole("radio", { name: /^demo in/ }));
    if (hold) {
        await person.click(person.button("More options").last());
        await person.click(page.getByRole("switch", { name: "Hold" }));
    }
    await person.click(person.button("Submit"));
    await page.waitForURL(/\/console\/jobs\/j-/);
    await person.heading(name);
    return new URL(page.url()).pathname.split("/").pop();
}

async function endsWell(pat) {
    const { cloud, page } = pat;
    const id = await submit(pat, { name: "hello", image: shell, command: `/bin/sh -c "echo the job is at work; exit 0"` });
    await reaches(cloud, id, "succeeded");
    await shows(pat, "succeeded");
    await pat.click(page.getByRole("tab", { name: "Tasks" }));
    await page.getByRole("table", { name: "Attempts that are over" }).getByText("completed").waitFor();
    await pat.click(pat.link("Logs"));
    await page.getByLabel("Log", { exact: true }).getByText("the job is at work").waitFor();
    await pat.click(pat.link("Submit again", page.getByRole("main")));
    await pat.heading("Submit a job");
    equal(await pat.text("Name").inputValue(), "hello", "the name of a job that is submitted again");
    equal(await pat.text("Image").inputValue(), shell, "its image");
}

// It does not begin before it is released.
async function waitsHeld(pat) {
    const { cloud, page } = pat;
    await pat.open("/jobs/new");
    const id = await submit(pat, { name: "kept", image: demo, hold: true });
    await page.getByText(/is held/).first().waitFor();
    equal(await stateOf(cloud, id), "pending", "the state of a held job");
    await pat.click(pat.button("Release"));
    await pat.click(pat.button("Release", page.getByRole("dialog")));
    await reaches(cloud, id, "running");
    await shows(pat, "running");
    return id;
}

async function isCancelled(pat, id, name) {
    const { cloud, page } = pat;
    await pat.click(pat.link("Jobs", page.locator("nav")));
    await pat.heading("Jobs");
    const row = page.getByRole("row").filter({ has: pat.link(name) });
    await pat.click(pat.button("Cancel job", row));
    const dialog = page.getByRole("dialog");
    await dialog.getByText(`1 task of ${name} ends`).waitFor();
    const confirm = pat.button("Cancel job", dialog);
    check(await confirm.isDisabled(), "a cancellation asks for the name");
    await pat.fill(dialog.getByRole("textbox", { name: /^Type/ }), name);
    await pat.click(confirm);
    await reaches(cloud, id, "cancelled");
    await row.getByText("cancelled").waitFor();
}

export default async function (stage) {
    const { cloud } = stage;
    const tenant = await cloud.tenant();
    await cloud.user(`pat@${tenant}`, "a horse that is right", [{ role: "member", tenantID: tenant }]);
    const { secret } = await cloud.api("POST", "/v1/sign-in", { login: `pat@${tenant}`, password: "a horse that is right" });
    const pat = await stage.person();
    await pat.signIn(secret);
    await pat.click(pat.link("Jobs", pat.page.locator("nav")));
    await pat.page.getByText(/A job is a program that waits/).waitFor();
    await pat.click(pat.link("Submit a job", pat.page.getByRole("main")).first());
    await endsWell(pat);
    const id = await waitsHeld(pat);
    await isCancelled(pat, id, "kept");
}
