/** What k6 has and neither its types nor the language's library declare. */
declare const console: {
  log(text: string): void;
  error(text: string): void;
};
