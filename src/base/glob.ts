/** Returns a test for names. In the pattern, `*` stands for any text. The whole name must match, in any letter case. */
export function globOf(pattern: string): (name: string) => boolean {
  const parts = pattern.split(/\*+/).map((part) => RegExp.escape(part));
  const whole = new RegExp(`^${parts.join(".*")}$`, "i");
  return (name) => whole.test(name);
}
