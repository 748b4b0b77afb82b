/** Media types of files by the ends of their names, as web servers have them; what is not here is no page. */
const types: Readonly<Record<string, string>> = {
  html: 'text/html',
  htm: 'text/html',
  xhtml: 'application/xhtml+xml',
  txt: 'text/plain',
  md: 'text/markdown',
  pdf: 'application/pdf',
  csv: 'text/csv',
};

/** Undefined: not a page. */
export function pageType(name: string): string | undefined {
  const dot = name.lastIndexOf('.');
  const end = name.slice(dot + 1).toLowerCase();
  return dot > 0 && Object.hasOwn(types, end) ? types[end] : undefined;
}

/** Whether differences between two versions of it are worth keeping the older one. */
export function isText(type: string): boolean {
  return /^(?:text\/|application\/(?:xhtml\+xml|xml|json)\b)/i.test(type);
}
