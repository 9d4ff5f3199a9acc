import manifest from "autocannon/package.json" with { type: "json" };

/** The version of autocannon, told without loading it. */
export const autocannonVersion: string = manifest.version;
