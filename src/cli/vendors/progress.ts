import type { PrintLine } from "../../app/vendors/judge-vendor.ts";
import { displayWidth, padded } from "../../base/display-width.ts";
import { sanitizeLine } from "../../base/sanitize.ts";

/** Gives each vendor lines of its own, which begin with its name; nothing where it is quiet. */
export function progressOf(names: readonly string[], isQuiet: boolean): (name: string) => PrintLine {
  const width = Math.max(...names.map((name) => displayWidth(sanitizeLine(name, 30))));
  return (name) => (text) => {
    if (!isQuiet) process.stderr.write(`${padded(sanitizeLine(name, 30), width)}  ${sanitizeLine(text, 240)}\n`);
  };
}
