// An admin invites a member, who takes the invitation in a browser, signs in, and sees one project alone.
import { check, equal } from "../stage.mjs";

export default async function (stage) {
    const { cloud } = stage;
    const tenant = await cloud.tenant();
    for (const project of ["shown", "hidden"]) {
        await cloud.api("POST", "/v1/projects", { name: project, tenantID: tenant });
        await cloud.api("POST", "/v1/volumes", { name: `of-${project}`, size: "1Gi", tenantID: tenant, project });
    }
    await cloud.user(`ada@${tenant}`, "a horse that is right", [{ role: "tenant-admin", tenantID: tenant }]);
    const { secret } = await cloud.api("POST", "/v1/sign-in", { login: `ada@${tenant}`, password: "a horse that is right" });
    const ada = await stage.person();
    await ada.signIn(secret);
    const { page } = ada;
    await ada.click(ada.link("Members", page.locator("nav")));
    await ada.click(ada.link("Invitations", page.getByRole("main")));
    await ada.heading("Invitations");
    await ada.click(page.getByRole("main").getByText("Invite", { exact: true }).first());
    await ada.fill(ada.text("E-mail"), "bob@guests.example");
    await ada.choose("Project", "shown");
    await ada.click(ada.button("Invite"));
    const link = await page.getByText(/\/sign-in\/invitation/).first().innerText();
    const url = link.match(/https?:\/\/\S+/)[0];

    const bob = await stage.person();
    stage.expectRefusal(401, "/v1/");
    await bob.page.goto(url);
    await bob.fill(bob.page.locator("input[name=login]"), `bob@${tenant}`);
    for (const field of await bob.page.locator("input[type=password]").all()) await bob.fill(field, "a horse of my own");
    await bob.click(bob.page.locator("form button").first());
    await bob.page.getByText(/hostler login/).waitFor();
    await bob.go("/volumes");
    await bob.fill(bob.page.locator("#login"), `bob@${tenant}`);
    await bob.fill(bob.page.locator("#password"), "a horse of my own");
    await bob.click(bob.page.locator("#sign-in"));
    await bob.heading("Volumes");
    await bob.page.getByText("of-shown").first().waitFor();
    equal(await bob.page.getByText("of-hidden").count(), 0, "volumes of the other project");
    for (const absent of ["Members", "Tenants", "Hosts", "Fleet"])
        equal(await bob.link(absent, bob.page.locator("nav")).count(), 0, `the menu's ${absent}`);

    // Ids of others in the address show nothing of them.
    const hidden = (await cloud.api("GET", `/v1/volumes?tenantID=${tenant}`)).items.find(({ name }) => name === "of-hidden");
    stage.expectRefusal(404, "/v1/");
    stage.expectRefusal(403, "/v1/");
    await bob.go(`/volumes/${hidden.id}`);
    await bob.page.getByRole("alert").first().waitFor();
    check(!(await bob.page.getByRole("main").innerText()).includes("of-hidden"), "another project's volume is shown");

    await cloud.api("POST", `/v1/users/bob@${tenant}/disable`, {});
    await bob.page.reload();
    await bob.page.locator("#login").waitFor();
}
