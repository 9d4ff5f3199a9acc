import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";

// A test preloads this module into a command. It writes the URL of every module that the command loads, including built-in ones, to this
// file.
const file = process.env["LOADED_MODULES"];
if (file === undefined) throw new Error("LOADED_MODULES names the file to write to");

registerHooks({
  load(url, context, nextLoad) {
    appendFileSync(file, `${url}\n`);
    // The catalogue is replaced by data, as in the build.
    if (!url.endsWith("/cli/catalogue/catalogue.ts")) return nextLoad(url, context);
    const entry = `{ checks: ["it"], lines: ["known by the build"] }`;
    return {
      format: "module",
      shortCircuit: true,
      source: `export const clauseCatalogue = new Proxy({}, { get: () => (${entry}) });`,
    };
  },
});
