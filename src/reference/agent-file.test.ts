import { describe, expect, it } from "vitest";
import { readAgentFile, type AgentFile } from "./agent-file.ts";
import { agentFromFile, agentIdFromName, webhooksFromFile } from "./server/deployments.ts";

const minimal = {
  agent_name: "Weather bot",
  framework: "plain",
  version: "1.2.0",
  agent_architecture: { entrypoints: [{ file: "main.py", module: "answer", tag: "answer" }] },
};

const whole = {
  ...minimal,
  description: "Tells the weather.",
  template: "basic",
  created_at: "2026-01-05T08:00:00.123456",
  agent_id: "weather-1",
  template_source: { repo_url: "https://git.example/weather", author: "Ada", path: "bots/weather" },
  auth_settings: { type: "none" },
  env_vars: { UNIT: "celsius" },
  deployment: { timeout: 45.5, memory: "1GB" },
  webhooks: {
    endpoints: [{ url: "https://hooks.example/in", events: ["agent.*"], headers: { "X-Team": "weather" } }],
  },
};

function read(file: object): AgentFile {
  const reading = readAgentFile(JSON.stringify(file), "JSON");
  if (reading.kind === "wrong") throw new Error(reading.problems.join("\n"));
  return reading.file;
}

function problemsOf(file: unknown): readonly string[] {
  const reading = readAgentFile(typeof file === "string" ? file : JSON.stringify(file), "JSON");
  return reading.kind === "wrong" ? reading.problems.map(withoutPlace) : [];
}

/** Removes the place from a problem, because the tests write each file on one line. */
const withoutPlace = (problem: string): string => problem.replace(/ \(line 1, column \d+\)$/, "");

describe("an agent configuration file", () => {
  it("is read with all its fields", () => {
    expect(read(whole)).toEqual({
      agentName: "Weather bot",
      framework: "plain",
      version: "1.2.0",
      entrypoints: [{ file: "main.py", module: "answer", tag: "answer" }],
      description: "Tells the weather.",
      template: "basic",
      createdAt: "2026-01-05T08:00:00.123456",
      agentId: "weather-1",
      templateSource: { repoUrl: "https://git.example/weather", author: "Ada", path: "bots/weather" },
      authType: "none",
      envVars: { UNIT: "celsius" },
      timeoutSeconds: 45.5,
      memory: "1GB",
      endpoints: [{ url: "https://hooks.example/in", events: ["agent.*"], headers: { "X-Team": "weather" } }],
    });
  });

  it("has the document's defaults for absent fields", () => {
    expect(read(minimal)).toMatchObject({
      agentId: null,
      authType: "none",
      timeoutSeconds: 30,
      memory: "512MB",
      envVars: {},
      endpoints: [],
    });
    expect(read({ ...minimal, deployment: {}, auth_settings: {}, webhooks: {} })).toEqual(read(minimal));
  });

  it("may begin with a byte order mark", () => {
    expect(readAgentFile(`\uFEFF${JSON.stringify(minimal)}`, "JSON")).toMatchObject({ kind: "agent" });
  });

  it("may be written in YAML", () => {
    const yaml = [
      "agent_name: Weather bot",
      "framework: plain",
      "version: 1.2.0",
      "agent_architecture:",
      "  entrypoints:",
      "    - { file: main.py, module: answer, tag: answer }",
    ].join("\n");
    expect(readAgentFile(yaml, "YAML")).toEqual({ kind: "agent", file: read(minimal) });
    expect(readAgentFile("a: [", "YAML")).toMatchObject({
      problems: [expect.stringMatching(/^the file is not YAML: .* \(line 1, column \d\)$/)],
    });
  });

  it("may have fields that the document does not know", () => {
    expect(read({ ...minimal, colour: "blue", deployment: { region: "eu" } })).toEqual(read(minimal));
  });

  it.each<[string, object]>([
    ["one", { agent_architecture: { entrypoints: [{ file: "", module: "", tag: "x_stream" }] } }],
    ["a timestamp without seconds", { created_at: "2026-01-05T08:00" }],
    ["memory with a blank", { deployment: { memory: "2 GiB" } }],
    [
      "every event type",
      { webhooks: { endpoints: [{ url: "http://127.0.0.1:1/x", events: ["deployment.deleted"] }] } },
    ],
  ])("is right with %s", (_name, change) => {
    expect(problemsOf({ ...minimal, ...change })).toEqual([]);
  });

  const entrypoint = { file: "a", module: "b", tag: "c" };
  const url = "http://127.0.0.1/x";
  it.each<[object, readonly RegExp[]]>([
    [{ agent_name: 7 }, [/^agent_name is 7; it must be a string that is not empty$/]],
    [{ framework: null }, [/^framework is null; it must be a string/]],
    [{ version: 1 }, [/^version is 1; it must be a string/]],
    [{ agent_architecture: [] }, [/^agent_architecture is \[\]; it must be an object$/]],
    [{ agent_architecture: {} }, [/^agent_architecture\.entrypoints is missing; it must be an array of at least one/]],
    [{ agent_architecture: { entrypoints: [] } }, [/^agent_architecture\.entrypoints is \[\]; it must be an array of/]],
    [
      { agent_architecture: { entrypoints: [entrypoint, { file: 1, module: "m" }] } },
      [/entrypoints\[1\]\.file is 1; it must be a string$/, /entrypoints\[1\]\.tag is missing; it must be a string/],
    ],
    [
      { agent_architecture: { entrypoints: [entrypoint, entrypoint] } },
      [/^agent_architecture\.entrypoints\[1\]\.tag is "c", as that of \[0\]; it must be another$/],
    ],
    [{ description: 1, template: {} }, [/^description is 1; it must be a string$/, /^template is \{\}; /]],
    [
      { created_at: "2026-01-05T08:00:00Z" },
      [/^created_at is "2026.*Z"; it must be an ISO 8601 timestamp without a zone/],
    ],
    [{ created_at: "2026-13-05T08:00:00" }, [/^created_at is "2026-13/]],
    [{ created_at: "2026-02-30T08:00:00" }, [/^created_at is "2026-02-30/]],
    [{ agent_id: ".." }, [/^agent_id is "\.\."; it must be a string of letters, .* first$/]],
    [{ agent_id: "a b" }, [/^agent_id is "a b"; it must be a string of letters/]],
    [{ template_source: { author: 1 } }, [/^template_source\.author is 1; it must be a string$/]],
    [{ auth_settings: "none" }, [/^auth_settings is "none"; it must be an object$/]],
    [{ auth_settings: { type: 5 } }, [/^auth_settings\.type is 5; /]],
    [{ env_vars: { PORT: 8080 } }, [/^env_vars\.PORT is 8080; it must be a string$/]],
    [{ deployment: { timeout: "30" } }, [/^deployment\.timeout is "30"; it must be a number of seconds above 0/]],
    [{ deployment: { timeout: 0 } }, [/^deployment\.timeout is 0; /]],
    [{ deployment: { memory: 512 } }, [/^deployment\.memory is 512; it must be a size with its unit, such as 512MB$/]],
    [{ deployment: { memory: "512" } }, [/^deployment\.memory is "512"; /]],
    [{ webhooks: { endpoints: {} } }, [/^webhooks\.endpoints is \{\}; it must be an array of webhook endpoints$/]],
    [
      { webhooks: { endpoints: [{ url: "nowhere", events: ["agent.done"], headers: { "a b": "c", ok: "\n" } }] } },
      [
        /^webhooks\.endpoints\[0\]\.url is "nowhere"; it must be an http or https URL$/,
        /^webhooks\.endpoints\[0\]\.events\[0\] is "agent\.done"; it must be one of agent\.invoked, .*deployment\.\*$/,
        /^webhooks\.endpoints\[0\]\.headers\.a b is "a b"; it must be the name of a header$/,
        /^webhooks\.endpoints\[0\]\.headers\.ok is "\\n"; it must be a string that a header can carry$/,
      ],
    ],
    [
      {
        webhooks: { endpoints: [{ url, events: ["agent.*"], headers: { Host: "x", "X-Team": "y", connection: "z" } }] },
      },
      [
        /^webhooks\.endpoints\[0\]\.headers\.Host would not be sent: the server or its connection sets this header/,
        /^webhooks\.endpoints\[0\]\.headers\.connection would not be sent: /,
      ],
    ],
    ...["Content-Length", "Transfer-Encoding", "Content-Type", "X-Service-Signature"].map(
      (name): [object, readonly RegExp[]] => [
        { webhooks: { endpoints: [{ url, events: ["agent.*"], headers: { [name]: "x" } }] } },
        [new RegExp(`headers\\.${name} would not be sent: `)],
      ],
    ),
    [{ webhooks: { endpoints: [{ url, events: [] }] } }, [/endpoints\[0\]\.events is \[\]; it must be an array of at/]],
    [{ webhooks: { endpoints: [{ url }] } }, [/^webhooks\.endpoints\[0\]\.events is missing; it must be an array/]],
  ])("with %j is told what is wrong, a line each", (change, expected) => {
    const problems = problemsOf({ ...minimal, ...change });
    expect(problems).toHaveLength(expected.length);
    expected.forEach((pattern, at) => expect(problems[at]).toMatch(pattern));
  });

  it("has a line and a column for each problem; for a missing field, those of the object around it", () => {
    const yaml = [
      "agent_name: Weather bot",
      "framework: plain",
      "version: 1.0",
      "agent_architecture:",
      "  entrypoints:",
      "    - { file: main.py, module: answer }",
    ].join("\n");
    expect(readAgentFile(yaml, "YAML")).toEqual({
      kind: "wrong",
      problems: [
        "version is 1; it must be a string that is not empty (line 3, column 1)",
        "agent_architecture.entrypoints[0].tag is missing; it must be a string that is not empty (line 6, column 7)",
      ],
    });
  });

  it("of more than 1 MiB is refused", () => {
    const padded = (bytes: number): string => JSON.stringify(minimal).padEnd(bytes, " ");
    expect(problemsOf(padded(1024 * 1024))).toEqual([]);
    expect(problemsOf(padded(1024 * 1024 + 1))).toEqual(["the file exceeds 1 MiB"]);
  });

  it("reports every missing field", () => {
    expect(problemsOf({})).toEqual([
      "agent_name is missing; it must be a string that is not empty",
      "framework is missing; it must be a string that is not empty",
      "version is missing; it must be a string that is not empty",
      "agent_architecture is missing; it must be an object",
    ]);
  });

  it.each([
    ["", /^the file is not JSON: /],
    ["{", /^the file is not JSON: [^\n]*$/],
    ["[]", /^the file is \[\]; it must be an object$/],
    ["null", /^the file is null; it must be an object$/],
  ])("of the text %j is refused in one line", (content, expected) => {
    expect(problemsOf(content)).toEqual([expect.stringMatching(expected)]);
  });
});

describe("the agent of a file", () => {
  it("names the entrypoint and the query", () => {
    const agent = agentFromFile(read(whole), "weather-1", "2026-01-01T00:00:00Z");
    const response = agent.respond("rain?", { turn: 1, previousQuery: null }, "answer");
    expect(response).toBe("Entrypoint answer (main.py#answer) was given: rain?");
    expect(agent).toMatchObject({ version: "1.2.0", deployment: { timeoutMs: 45_500, memory: "1GB" } });
  });

  it.each([
    ["Weather bot", "weather-bot"],
    ["  Grüße, Welt! ", "grusse-welt"],
    ["天気", "agent"],
  ])("called %j has the id %s where its file has none", (name, id) => {
    expect(agentIdFromName(name)).toBe(id);
  });

  it("has the unsigned webhooks of its file, for itself only", () => {
    expect(webhooksFromFile(read(whole), "weather-1")).toEqual([
      {
        url: "https://hooks.example/in",
        events: ["agent.*"],
        headers: { "X-Team": "weather" },
        agentId: "weather-1",
        secret: null,
        owner: "file",
      },
    ]);
  });
});
