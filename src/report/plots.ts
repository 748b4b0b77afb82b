/** Inline SVG plots: bars with their names and numbers, readable in print and without colour. */
import type { Bar } from './structure.ts';

const WIDTH = 480;
const LINE = 22;
const NAMES = 150;
const NUMBERS = 70;

export function barPlot(title: string, bars: readonly Bar[]): string {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  const height = bars.length * LINE + 4;
  const rows = bars.map(({ name, count }, i) => {
    const y = i * LINE;
    const width = Math.max(1, Math.round((count / most) * (WIDTH - NAMES - NUMBERS)));
    const label = name.length > 22 ? `${name.slice(0, 21)}…` : name;
    return (
      `<text x="${NAMES - 8}" y="${y + 16}" text-anchor="end">${escaped(label)}</text>` +
      `<rect x="${NAMES}" y="${y + 4}" width="${width}" height="${LINE - 6}" rx="2"/>` +
      `<text x="${NAMES + width + 6}" y="${y + 16}">${count.toLocaleString('en')}</text>`
    );
  });
  const spoken = bars.map(({ name, count }) => `${name}: ${count}`).join(', ');
  return (
    `<figure><figcaption>${escaped(title)}</figcaption>` +
    `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(`${title}. ${spoken}`)}">` +
    `${rows.join('')}</svg></figure>`
  );
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, sign => entities[sign]!);
}
