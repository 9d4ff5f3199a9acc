/**
 * Address of a module beside the one that asks, for a thread or a process of its own: its ending is the asking one's, which is
 * another in the sources than in what is built of them.
 *
 * @param asking `import.meta.url` of the module that asks
 */
export const moduleBeside = (asking: string, name: string): URL =>
  new URL(`./${name}${asking.endsWith(".ts") ? ".ts" : ".js"}`, asking);
