import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const textOf = (path: string): string => readFileSync(join(root, path), "utf8");

/** The part of the parser's types that this test needs. */
interface Instruction {
  readonly getInstruction: () => string;
  readonly getArgumentsContent: () => string | null;
}
interface Parser {
  readonly DockerfileParser: { readonly parse: (text: string) => { readonly getInstructions: () => Instruction[] } };
}
const { DockerfileParser } = createRequire(import.meta.url)("dockerfile-ast") as Parser;

/** Returns the instructions of an image (from its last FROM on), and the stages before. */
function imageOf(text: string) {
  const all = DockerfileParser.parse(text)
    .getInstructions()
    .map((each) => ({ name: each.getInstruction(), rest: each.getArgumentsContent() ?? "" }));
  const last = all.findLastIndex(({ name }) => name === "FROM");
  const rests = (wanted: string): string[] =>
    all.slice(last).flatMap(({ name, rest }) => (name === wanted ? [rest] : []));
  return { all, stages: all.filter(({ name }) => name === "FROM").map(({ rest }) => rest), rests };
}

const known = new Set(["FROM", "ARG", "COPY", "ENV", "WORKDIR", "USER", "ENTRYPOINT", "CMD"]);

describe("the Dockerfile", () => {
  const { all, stages, rests } = imageOf(textOf("Dockerfile"));

  it("has instructions that run nothing while the image is made", () => {
    expect(all.filter(({ name }) => !known.has(name))).toEqual([]);
  });

  it("takes every image by a tag, and k6 by the version that is pinned", () => {
    const pinned = /go\.k6\.io\/k6\/v2 v([\d.]+)/.exec(textOf("k6/go.mod"))?.[1];
    expect(stages[0]).toBe(`grafana/k6:${pinned} AS k6`);
    for (const stage of stages) expect(stage).toMatch(/^\S+:(?!latest)\S+( AS \w+)?$/);
  });

  it("runs the command as a user without rights", () => {
    expect(rests("USER")).toEqual(["nonroot"]);
    const [entry, ...others] = rests("ENTRYPOINT");
    expect(others).toEqual([]);
    const [program] = JSON.parse(entry ?? "") as string[];
    expect(rests("COPY").some((rest) => rest.endsWith(` ${program}`))).toBe(true);
    expect(rests("ENV")).toEqual(["PATH=/usr/local/bin"]);
  });

  it("copies only what the context is allowed to have", () => {
    const allowed = [...textOf(".dockerignore").matchAll(/^!(.+)$/gm)].map(([, path]) => path ?? "");
    const [binary = ""] = rests("ARG").map((rest) => rest.replace("BINARY=", ""));
    const copied = rests("COPY").flatMap((rest) => rest.replace("${BINARY}", binary).split(" ").slice(0, -1));
    // Paths that are copied from another stage are absolute.
    const sources = copied.filter((source) => !source.startsWith("/"));
    expect(sources.length).toBeGreaterThan(3);
    for (const source of sources) {
      expect(allowed.some((path) => source === path || source.startsWith(`${path}/`))).toBe(true);
      expect(source.startsWith("binary/") || existsSync(join(root, source))).toBe(true);
    }
  });
});
