/**
 * Text from a page, a server or another machine, made harmless for a terminal and for whoever reads it: no control
 * characters, no escapes, nothing that turns the direction of what follows.
 */
export function harmless(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, ' ');
}

/** The same of text that has lines and tabs. */
export function harmlessLines(text: string): string {
  return text.replace(/[^\n\t]+/g, harmless);
}
