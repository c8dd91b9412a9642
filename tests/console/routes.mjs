// Routes of the console, read from its own list of pages (console/src/app/pages.ts): a new page needs no edit here.
import { createRequire } from "node:module";
import { join } from "node:path";

const folder = new URL("../../console/", import.meta.url).pathname;

// Pages are loaded when they are opened, and icons only drawn: the list itself needs neither.
const listAlone = {
    name: "list-alone",
    setup(build) {
        build.onResolve({ filter: /.*/ }, ({ path, kind }) => {
            if (kind === "dynamic-import") return { path, external: true };
            return path.startsWith(".") || kind === "entry-point" ? undefined : { path, namespace: "nothing" };
        });
        build.onLoad({ filter: /.*/, namespace: "nothing" }, () => ({ contents: "module.exports = {};" }));
    },
};

// As pages.ts has them: { path: "/volumes/:id", permission, nav }.
export async function pages() {
    const fromVite = createRequire(createRequire(join(folder, "package.json")).resolve("vite"));
    const { outputFiles } = await fromVite("esbuild").build({
        entryPoints: [join(folder, "src/app/pages.ts")],
        bundle: true,
        format: "esm",
        write: false,
        logLevel: "error",
        plugins: [listAlone],
    });
    return (await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`)).pages;
}
