/** Returns a test for a pattern in which `*` stands for any text. It tests whole names, in any letter case. */
export function globOf(pattern: string): (name: string) => boolean {
  const parts = pattern.split(/\*+/).map((part) => RegExp.escape(part));
  const whole = new RegExp(`^${parts.join(".*")}$`, "i");
  return (name) => whole.test(name);
}
