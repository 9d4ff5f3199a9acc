import { sanitize, sanitizeColoured } from "../base/sanitize.ts";
import { withInvocation } from "./invocation.ts";
import { withoutCommands } from "../report/formats/annotations.ts";
import type { TerminalSettings } from "../report/terminal/section-lines.ts";

/**
 * Returns the style of a stream for text reports, and a function that writes to the stream. The function escapes
 * control characters and any text that GitHub Actions would run as a command.
 */
export function terminalOf(stream: NodeJS.WriteStream): {
  readonly style: TerminalSettings;
  readonly write: (text: string) => void;
} {
  const { NO_COLOR: noColour, FORCE_COLOR: forceColour, GITHUB_ACTIONS: actions } = process.env;
  const isForced = forceColour !== undefined && forceColour !== "" && forceColour !== "0";
  const isForbidden = noColour !== undefined && noColour !== "";
  const style = {
    colour: !isForbidden && (isForced || (stream.isTTY && stream.hasColors())),
    width: Math.min(stream.columns || 100, 140),
  };
  return {
    style,
    write: (text) => {
      const shown = withInvocation(style.colour ? sanitizeColoured(text) : sanitize(text));
      stream.write(actions === "true" ? withoutCommands(shown) : shown);
    },
  };
}
