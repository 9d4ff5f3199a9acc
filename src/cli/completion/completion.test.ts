import { spawnSync } from "node:child_process";

import { describe, expect, it } from "vitest";

import { clauseIds } from "../../spec/clauses.ts";
import { conformanceProgram } from "../program.ts";
import { commandWords, completionScript, type Shell, shells, wordLists } from "../commands/completion.ts";

const program = await conformanceProgram(() => true);
const commands = commandWords(program);
const isInstalled = (shell: Shell): boolean => spawnSync(shell, ["--version"]).status === 0;

/** Stands for the functions of zsh's completion system. They print their candidates. */
const zshStubs = `
  compdef() { :; }
  compadd() { shift; print -rl -- "$@"; }
  _files() { print FILE; }
  _describe() { print -rl -- "\${(@P)\${@[-1]}}"; }`;

/** Completes the last of the words `$@`. Prints a candidate a line, with or without its description. */
const completers: Readonly<Record<Shell, string>> = {
  bash: 'COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _conformance; printf "%s\\n" "${COMPREPLY[@]}"',
  zsh: 'words=("$@"); CURRENT=$#; _conformance',
  fish: 'complete -C (string join " " -- $argv)',
};

/** Returns what a shell proposes for the last of the words of a command line. Without their descriptions. */
function completed(shell: Shell, ...words: readonly string[]): string[] {
  const own = completionScript(shell, "conformance", commands);
  const script = [...(shell === "zsh" ? [zshStubs] : []), own, completers[shell]].join("\n");
  const flags = {
    bash: ["--norc", "-c", script, "bash"],
    zsh: ["-f", "-c", script, "zsh"],
    fish: ["-N", "-c", script],
  };
  const { stdout, stderr } = spawnSync(shell, [...flags[shell], "conformance", ...words], { encoding: "utf8" });
  expect(stderr).toBe("");
  const current = words.at(-1) ?? "";
  return stdout
    .split("\n")
    .map((line) => line.split(/[\t:]/)[0] ?? "")
    .filter((word) => word !== "" && word.startsWith(current));
}

describe("the words of the commands", () => {
  it("are those of every command, with its flags", () => {
    const byPath = new Map(commands.map((each) => [each.path, each]));
    expect(byPath.get("")?.commands.map(({ name }) => name)).toEqual(program.commands.map((each) => each.name()));
    for (const path of ["run", "key new", "load judge"]) expect(byPath.has(path), path).toBe(true);
    const flags = byPath.get("run")?.flags ?? [];
    expect(flags.find(({ names }) => names.includes("--only"))?.value).toBe("clauses");
    expect(flags.find(({ names }) => names.includes("-q"))?.value).toBe("none");
  });
});

describe.each(shells.filter(isInstalled))("completion of %s", (shell) => {
  it("completes commands", () => {
    expect(completed(shell, "re")).toEqual(expect.arrayContaining(["receiver", "report", "rejudge", "replay"]));
    expect(completed(shell, "key", "n")).toEqual(["new"]);
  });

  it("completes the flags of the command", () => {
    expect(completed(shell, "run", "--fa").toSorted()).toEqual(["--fail-fast", "--failed", "--fast", "--fault"]);
    expect(completed(shell, "key", "new", "--alg")).toEqual(["--algorithm"]);
    expect(completed(shell, "explain", "--fa")).toEqual([]);
  });

  it.each([
    [
      "clause ids after --only",
      ["run", "--quiet", "--only", "SSE-1"],
      clauseIds.filter((id) => id.startsWith("SSE-1")),
    ],
    ["clause ids after explain", ["explain", "INV-2"], clauseIds.filter((id) => id.startsWith("INV-2"))],
    ["faults after --fault", ["run", "--fault", "gzip"], wordLists.faults.filter((name) => name.startsWith("gzip"))],
    ["profiles after --profile", ["plan", "--profile", "st"], ["streaming"]],
    ["shells after completion", ["completion", ""], [...shells]],
  ] as const)("completes %s", (_, words, expected) => {
    expect(expected.length).toBeGreaterThan(0);
    expect(completed(shell, ...words).toSorted()).toEqual([...expected].toSorted());
  });
});
