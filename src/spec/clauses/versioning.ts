import { must, policy, type ClauseTable } from "../clause.ts";

const section = "Versioning";

export const versioningClauses = {
  "VER-1": must(`${section} 1`, "The version is carried in the path, and the current version is `v1`."),
  "VER-2": policy(`${section} 2`, "A superseded version is supported for 12 months.", {
    untestable: "A promise about time.",
  }),
  "VER-3": policy(`${section} 3`, "Deprecation is announced 6 months in advance.", {
    untestable: "A promise about time and people.",
  }),
  "VER-4": must(
    `${section} 4`,
    "`metadata.agent_version` of invoke and `version` of health are the same version of an agent.",
    {
      readings: {
        same: "both show it, and agree",
        "not-shown": "one of the two optional fields, or both, are left out",
      },
    },
  ),
} as const satisfies ClauseTable;
