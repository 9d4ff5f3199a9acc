import type { Command } from "commander";
import { describe, expect, it } from "vitest";

import { conformanceProgram } from "./program.ts";

/** A command by its full name, with its help text. */
interface Helped {
  readonly name: string;
  readonly text: string;
}

function helpOf(command: Command, name: string): Helped[] {
  let text = "";
  command.configureOutput({ writeOut: (part) => void (text += part), getOutHelpWidth: () => 100 });
  command.outputHelp();
  return [{ name, text }, ...command.commands.flatMap((below) => helpOf(below, `${name} ${below.name()}`))];
}

describe("--help", async () => {
  const [top, ...commands] = helpOf(await conformanceProgram(() => true), "conformance");

  it("lists every command, with what it does", () => {
    const names = commands.map(({ name }) => name.split(" ")[1] ?? "");
    expect(names.length).toBeGreaterThan(15);
    for (const name of names) expect(top?.text).toMatch(new RegExp(`^  ${name} +[A-Z]`, "m"));
  });

  it("shows the flags of `run` that are used most, in groups, and the others with --help-all", async () => {
    const program = await conformanceProgram((name) => name === "run");
    const textOf = async (flag: string): Promise<string> => {
      let text = "";
      const run = program.commands.find((command) => command.name() === "run");
      run?.configureOutput({ writeOut: (part) => void (text += part), getOutHelpWidth: () => 100 });
      await expect(program.parseAsync(["run", flag], { from: "user" })).rejects.toMatchObject({ exitCode: 0 });
      return text;
    };
    const flagsIn = (text: string): string[] => text.match(/^ +(-\w, )?--[a-z-]+/gm) ?? [];
    const shown = await textOf("--help");
    expect(shown.match(/^[A-Z][a-z ]+:$/gm)).toEqual(
      expect.arrayContaining(["Target:", "What is judged:", "Bounds:", "Result:"]),
    );
    expect(flagsIn(shown).length).toBeLessThan(21);
    const all = await textOf("--help-all");
    expect(flagsIn(all)).toEqual(expect.arrayContaining(flagsIn(shown)));
    expect(all).toMatch(/^More options:\n(?:.*\n)* +--proxy /m);
    expect(flagsIn(all).length).toBeGreaterThan(40);
  });

  it.each(commands.map(({ name, text }): [string, string] => [name, text]))(
    "%s: has examples that use it, and flags that it has",
    (name, text) => {
      const [told = "", examples = ""] = text.split(/^Examples:$/m);
      const own = examples.split("\n").filter((line) => new RegExp(`\\b${name}\\b`).test(line));
      expect(own.length, text).toBeGreaterThan(0);
      const flags = own.flatMap((line) => (line.split("|")[0] ?? "").match(/--[a-z][a-z-]*/g) ?? []);
      for (const flag of flags) expect(told).toMatch(new RegExp(`^ +(-\\w, )?${flag}\\b`, "m"));
      expect(text).not.toContain("default: []");
    },
  );
});
