/**
 * Text from a page, a server or another machine, made harmless for a terminal and for whoever reads it: no control
 * characters, no escapes, nothing that turns the direction of what follows.
 */
export function harmless(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, ' ');
}

/** The same for JSON, where such characters are escaped: nothing is lost. */
export function harmlessJson(json: string): string {
  return json.replace(/[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, each => {
    return `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** The same for text whose line ends and tabs stay. */
export function harmlessLines(text: string): string {
  return text.replace(/[^\n\t]+/g, harmless);
}
