import type { Messages } from "../run/skip-reason.ts";

/** Nobody sets anything for a selftest: a reason and a need are called as the core calls them. */
export const plainWording: Messages = {
  reason: (reason) => (typeof reason === "string" ? reason : reason.why),
  needs: (enabler) => (typeof enabler === "string" ? enabler : JSON.stringify(enabler)),
};
