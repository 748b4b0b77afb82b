/** What is looked at in a page, written as text that runs there. */

/** Runs in the page: every text whose colour is too near to what lies behind it. */
export const TOO_FAINT = `(() => {
  const parse = text => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b]
    .map(v => v / 255)
    .map(v => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const element of document.querySelectorAll('main *, aside *')) {
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim() !== '');
    if (!own || element.closest(':disabled, [aria-hidden=true], .visually-hidden, .skip')) continue;
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) faint.push(element.textContent.trim().slice(0, 40) + ' ' + ratio.toFixed(2));
  }
  return faint;
})()`;

/** Runs in the page: where the keyboard is, and whether its ring can be told from what lies behind (WCAG 2.4.7, 1.4.11). */
export const FOCUSED = `(() => {
  const element = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const { top, left } = element.getBoundingClientRect();
  const ring = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
  return { name: element.tagName + ' ' + (element.textContent.trim() || element.getAttribute('aria-label')), ring, top: top + scrollY, left };
})()`;
