import { withoutCommands } from "../report/formats/annotations.ts";

/** What a text for people may use on a stream. */
export interface TerminalStyle {
  readonly colour: boolean;
  readonly width: number;
}

/**
 * A stream for texts that people read; colours obey NO_COLOR and FORCE_COLOR, the width obeys the terminal. A runner of GitHub Actions, which
 * takes commands from what is printed, gets none of a target's.
 */
export function terminalOf(stream: NodeJS.WriteStream): {
  readonly look: TerminalStyle;
  readonly write: (text: string) => void;
} {
  const { NO_COLOR: noColour, FORCE_COLOR: forceColour, GITHUB_ACTIONS: actions } = process.env;
  const isForced = forceColour !== undefined && forceColour !== "" && forceColour !== "0";
  const isForbidden = noColour !== undefined && noColour !== "";
  const look = {
    colour: !isForbidden && (isForced || (stream.isTTY && stream.hasColors())),
    width: Math.min(stream.columns || 100, 140),
  };
  return { look, write: (text) => void stream.write(actions === "true" ? withoutCommands(text) : text) };
}
