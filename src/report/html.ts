/**
 * A report as one HTML file that loads nothing from elsewhere, prints well, and follows the reader's theme. Whatever comes from
 * pages appears as plain text; only http and https URLs become links.
 */
import { checkNames, checks, type Finding } from './findings.ts';
import { barPlot, escaped } from './plots.ts';
import type { Report } from './report.ts';

/** Most findings listed of one check, and most pages of one finding; JSON and CSV list all. */
const MOST_FINDINGS = 500;
const MOST_RELATED = 10;

export function toHtml(report: Report, name: string): string {
  const sections = checkNames.map(check => {
    const found = report.findings.filter(finding => finding.check === check);
    return found.length === 0 ? '' : section(check, found);
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Report: ${escaped(name)}</title><style>${STYLE}</style></head><body>
<header><h1>Report: ${escaped(name)}</h1><p>${headline(report)}</p></header>
<main>${overview(report)}${sections.join('')}${shape(report)}</main></body></html>
`;
}

function headline({ time, since, urls, structure, unchecked }: Report): string {
  const made = `Made ${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const only =
    since > 0 ? ` Only what is new since ${new Date(since).toISOString().slice(0, 16).replace('T', ' ')}.` : '';
  const left = unchecked > 0 ? ` ${number(unchecked)} URLs outside the collection were not checked.` : '';
  return `${made}: ${number(structure.pages)} pages of ${number(urls)} URLs.${only}${left}`;
}

function overview({ counts, checks: byCheck }: Report): string {
  const rows = checkNames.flatMap(check => {
    const count = byCheck[check];
    if (!count) return [];
    const { level, title } = checks[check];
    return `<tr><td><span class="${level}">${level}</span></td><td><a href="#${check}">${title}</a></td><td class="n">${number(count)}</td></tr>`;
  });
  const sums = (['error', 'warning', 'notice'] as const).map(
    level =>
      `<div class="sum ${level}"><b>${number(counts[level])}</b> ${level}${counts[level] === 1 ? '' : 's'}</div>`,
  );
  const table = rows.length === 0 ? '<p>No problems found.</p>' : `<table><tbody>${rows.join('')}</tbody></table>`;
  return `<section><div class="sums">${sums.join('')}</div>${table}</section>`;
}

function section(check: Finding['check'], found: readonly Finding[]): string {
  const { title, means } = checks[check];
  const items = found.slice(0, MOST_FINDINGS).map(item);
  const more = found.length > MOST_FINDINGS ? `<p>… and ${number(found.length - MOST_FINDINGS)} more.</p>` : '';
  return `<section id="${check}"><h2>${title} <small>${number(found.length)}</small></h2><p>${means}</p><ul class="found">${items.join('')}</ul>${more}</section>`;
}

function item({ url, status, detail, related }: Finding): string {
  const told = detail === `http-${status}` ? '' : detail;
  const what = [status >= 400 ? String(status) : '', told].filter(Boolean).join(' · ');
  const pages = related
    .slice(0, MOST_RELATED)
    .map(each => `<li>${link(each.url)}${each.anchor === '' ? '' : ` <q>${escaped(each.anchor)}</q>`}</li>`);
  const more = related.length > MOST_RELATED ? `<li>… and ${number(related.length - MOST_RELATED)} more</li>` : '';
  const list = pages.length === 0 ? '' : `<ul>${pages.join('')}${more}</ul>`;
  return `<li>${link(url)}${what === '' ? '' : ` <span class="what">${escaped(what)}</span>`}${list}</li>`;
}

function shape({ structure }: Report): string {
  const { components: c, in: incoming, out: outgoing } = structure;
  const law = (exponent: number) => (exponent === 0 ? '' : `, power law ${exponent}`);
  const parts = [
    { name: 'core', count: c.core },
    { name: 'lead into it', count: c.intoCore },
    { name: 'it leads to', count: c.fromCore },
    { name: 'apart', count: c.rest },
  ];
  const facts = [
    `${number(structure.links)} links between ${number(structure.pages)} pages`,
    `${number(structure.dynamic)} URLs with a query`,
    `${number(structure.meanBytes)} bytes a page on average`,
    `${number(c.weak)} separate part${c.weak === 1 ? '' : 's'}, the largest with ${number(c.largestWeak)} pages`,
    `${number(c.strong)} groups of pages that reach each other`,
  ];
  return `<section id="structure"><h2>Structure</h2><ul>${facts.map(fact => `<li>${fact}</li>`).join('')}</ul><div class="plots">
${barPlot('Pages by depth', structure.depths)}
${barPlot(`Pages by links that lead to them (mean ${incoming.mean}, most ${number(incoming.most)}${law(incoming.exponent)})`, incoming.bars)}
${barPlot(`Pages by links on them (mean ${outgoing.mean}, most ${number(outgoing.most)}${law(outgoing.exponent)})`, outgoing.bars)}
${barPlot('Pages around the core that reaches itself', parts)}
${barPlot('Media types', structure.types)}
${barPlot('Sizes', structure.sizes)}
${barPlot('Status', structure.statuses)}
${barPlot('Languages', structure.languages)}
${barPlot('Domains', structure.domains)}
</div></section>`;
}

function link(url: string): string {
  return /^https?:\/\//i.test(url)
    ? `<a href="${escaped(url)}" rel="noreferrer nofollow">${escaped(url)}</a>`
    : escaped(url);
}

const number = (value: number) => value.toLocaleString('en');

const STYLE = `
:root{color-scheme:light dark;--ink:#1c1b19;--paper:#fdfcf9;--dim:#6b675f;--line:#ddd8cc;--bar:#3d6b8c;--error:#a3261b;--warning:#8a5a00;--notice:#4b5563;--link:#1f5582}
@media(prefers-color-scheme:dark){:root{--ink:#ece8df;--paper:#191816;--dim:#a39e93;--line:#3a372f;--bar:#7fb0d3;--error:#ff8f80;--warning:#f0bd5e;--notice:#b4bac4;--link:#8fc1e8}}
*{box-sizing:border-box}body{margin:0 auto;padding:1.5rem;max-width:64rem;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1{font-size:1.6rem;margin:0}h2{font-size:1.2rem;margin:2rem 0 .25rem;border-top:1px solid var(--line);padding-top:1rem}
small,header p,section>p{color:var(--dim)}a{color:var(--link);overflow-wrap:anywhere}
.sums{display:flex;flex-wrap:wrap;gap:1.5rem;margin:1rem 0}.sum b{font-size:1.8rem;display:block;line-height:1.1}
.error{color:var(--error)}.warning{color:var(--warning)}.notice{color:var(--notice)}
table{border-collapse:collapse;width:100%;max-width:40rem}td{padding:.25rem .5rem .25rem 0;border-bottom:1px solid var(--line)}.n{text-align:right;font-variant-numeric:tabular-nums}
.found{padding-left:1.1rem}.found>li{margin:.4rem 0}.found ul{padding-left:1.1rem;color:var(--dim);font-size:.9rem}
.what{color:var(--dim);overflow-wrap:anywhere}q{overflow-wrap:anywhere}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:1.5rem}figure{margin:0;break-inside:avoid}figcaption{font-weight:600;margin-bottom:.25rem}
svg{width:100%;height:auto;font:13px system-ui,sans-serif}svg text{fill:var(--ink)}svg rect{fill:var(--bar)}
@page{margin:15mm}@media print{body{max-width:none;padding:0;font-size:11pt}a{color:inherit}section{break-inside:auto}h2{break-after:avoid}}
`.replaceAll('\n', '');
