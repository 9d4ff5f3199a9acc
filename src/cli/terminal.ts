import { withoutCommands } from "../report/formats/annotations.ts";

/** Colours and width of a text stream. */
export interface TerminalStyle {
  readonly colour: boolean;
  readonly width: number;
}

/**
 * Opens a stream for text reports. Colours obey NO_COLOR and FORCE_COLOR, and the width the terminal. In GitHub Actions, which executes commands
 * in the output, texts of a target are disarmed.
 */
export function terminalOf(stream: NodeJS.WriteStream): {
  readonly style: TerminalStyle;
  readonly write: (text: string) => void;
} {
  const { NO_COLOR: noColour, FORCE_COLOR: forceColour, GITHUB_ACTIONS: actions } = process.env;
  const isForced = forceColour !== undefined && forceColour !== "" && forceColour !== "0";
  const isForbidden = noColour !== undefined && noColour !== "";
  const style = {
    colour: !isForbidden && (isForced || (stream.isTTY && stream.hasColors())),
    width: Math.min(stream.columns || 100, 140),
  };
  return { style, write: (text) => void stream.write(actions === "true" ? withoutCommands(text) : text) };
}
