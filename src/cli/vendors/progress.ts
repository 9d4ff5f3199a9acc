import { harmlessLine } from "../../base/harmless.ts";

/** Lines on how one of several runs goes on. */
export type Say = (text: string) => void;

/** Gives each vendor lines of its own, which begin with its name; nothing where it is quiet. */
export function progressOf(names: readonly string[], isQuiet: boolean): (name: string) => Say {
  const width = Math.max(...names.map((name) => harmlessLine(name, 30).length));
  return (name) => (text) => {
    if (!isQuiet) process.stderr.write(`${harmlessLine(name, 30).padEnd(width)}  ${harmlessLine(text, 240)}\n`);
  };
}
