/** Globals of k6 that neither k6's types nor the standard library of TypeScript declare. */
declare const console: {
  log(text: string): void;
  error(text: string): void;
};
