// An admin invites a member, who takes the invitation in a browser, signs in, and sees one project alone.
import { check, equal } from "../flow.mjs";

export default async function (stage) {
    const { cloud } = stage;
    await cloud.api("POST", "/v1/tenants", { name: "guests" });
    for (const project of ["shown", "hidden"]) {
        await cloud.api("POST", "/v1/projects", { name: project, tenantID: "guests" });
        await cloud.api("POST", "/v1/volumes", { name: `of-${project}`, size: "1Gi", tenantID: "guests", project });
    }
    await cloud.user("ada@guests", "a horse that is right", [{ role: "tenant-admin", tenantID: "guests" }]);
    const { secret } = await cloud.api("POST", "/v1/sign-in", { login: "ada@guests", password: "a horse that is right" });
    const ada = await stage.person();
    await ada.signIn(secret);
    await ada.link("Invitations").click();
    await ada.heading("Invitations");
    await ada.page.getByRole("main").getByRole("link", { name: /invite|new invitation/i }).or(ada.page.getByRole("button", { name: /invite|new invitation/i })).first().click();
    const form = ada.page.getByRole("main");
    await form.getByLabel(/login|e-mail/i).first().fill("bob@guests");
    await form.getByLabel(/role/i).first().fill("member");
    await form.getByLabel(/project/i).first().fill("shown");
    await form.getByRole("button", { name: /invite|make|create/i }).last().click();
    const link = await ada.page.getByText(/\/sign-in\/invitation/).first().innerText();
    const url = link.match(/https?:\/\/\S+/)[0];

    const bob = await stage.person();
    stage.expectRefusal(401, "/v1/");
    await bob.page.goto(url);
    await bob.page.locator("input[name=login]").fill("bob@guests").catch(() => undefined);
    for (const field of await bob.page.locator("input[type=password]").all()) await field.fill("a horse of my own");
    await bob.page.locator("form button").first().click();
    await bob.go("/volumes");
    await bob.page.locator("#login").fill("bob@guests");
    await bob.page.locator("#password").fill("a horse of my own");
    await bob.page.locator("#sign-in").click();
    await bob.heading("Volumes");
    await bob.page.getByText("of-shown").first().waitFor();
    equal(await bob.page.getByText("of-hidden").count(), 0, "volumes of the other project");
    for (const absent of ["Members", "Tenants", "Hosts", "Fleet"])
        equal(await bob.link(absent, bob.page.locator("nav")).count(), 0, `the menu's ${absent}`);

    // Ids of others in the address show nothing of them.
    const hidden = (await cloud.api("GET", "/v1/volumes?tenantID=guests")).items.find(({ name }) => name === "of-hidden");
    stage.expectRefusal(404, "/v1/");
    stage.expectRefusal(403, "/v1/");
    await bob.go(`/volumes/${hidden.id}`);
    await bob.page.getByRole("alert").first().waitFor();
    check(!(await bob.page.getByRole("main").innerText()).includes("of-hidden"), "another project's volume is shown");

    await cloud.api("POST", "/v1/users/bob@guests/disable", {});
    await bob.page.reload();
    await bob.page.locator("#login").waitFor();
}
