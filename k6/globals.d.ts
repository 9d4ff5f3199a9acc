/** Globals of k6 that neither its types nor the language's library declare. */
declare const console: {
  log(text: string): void;
  error(text: string): void;
};
