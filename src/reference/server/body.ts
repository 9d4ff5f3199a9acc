import type { Behaviour } from "../behaviour/behaviour.ts";
import { fieldTrouble, type Trouble } from "../trouble.ts";

/** A trouble on its way through the framework. */
export class TroubleError extends Error {
  readonly trouble: Trouble;

  constructor(trouble: Trouble) {
    super(trouble.message);
    this.trouble = trouble;
  }
}

/** The value of a JSON body; `undefined` for an empty one. Throws `TroubleError` where it is none. */
export function readJson(behaviour: Behaviour, contentType: string, text: string): unknown {
  if (text === "") return undefined;
  if (!behaviour.acceptsContentType(contentType)) {
    throw new TroubleError(fieldTrouble("content-type", "body", "must be application/json"));
  }
  if (!behaviour.readsText(text)) throw new TroubleError(fieldTrouble("malformed-json", "body", "cannot be read"));
  try {
    return JSON.parse(text);
  } catch {
    throw new TroubleError(fieldTrouble("malformed-json", "body", "is not JSON"));
  }
}
