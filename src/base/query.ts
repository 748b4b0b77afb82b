/**
 * The parts of a URL that say who asks, not what is asked for: session ids, and the marks that campaigns, advertisers
 * and mail tools add to links. They give one page endless names, so the normal form leaves them out. A name is here
 * only if no site is known to choose its content by it; names that also serve as plain ids (`sid` of a story) go only
 * when the value looks like a token.
 */

/** Lower case; compared without case. */
const dropped = new Set([
  // Session ids of PHP, Java servlets, ColdFusion, osCommerce, Zen Cart.
  'phpsessid',
  'jsessionid',
  'cfid',
  'cftoken',
  'oscsid',
  'zenid',
  // Clicks on advertisements: Google, Bing, Facebook, Yandex, X, TikTok, LinkedIn, Instagram, Pinterest, Reddit, others.
  'gclid',
  'gclsrc',
  'dclid',
  'gbraid',
  'wbraid',
  'gad_source',
  'gad_campaignid',
  'srsltid',
  'msclkid',
  'fbclid',
  'yclid',
  'ysclid',
  'twclid',
  'ttclid',
  'li_fat_id',
  'igshid',
  'igsh',
  'epik',
  'rdt_cid',
  'wickedid',
  'zanpid',
  // Newsletters and marketing tools: Mailchimp, Marketo, HubSpot, Vero, Omeda.
  'mc_cid',
  'mc_eid',
  'mkt_tok',
  '_hsenc',
  '_hsmi',
  'hsctatracking',
  'vero_id',
  'vero_conv',
  'oly_anon_id',
  'oly_enc_id',
  // Visitor ids that Google Analytics and Openstat pass between hosts.
  '_ga',
  '_gl',
  '_openstat',
]);

/** Urchin and Google campaigns, Matomo (old and new), classic ASP sessions. */
const droppedPrefixes = ['utm_', 'pk_', 'mtm_', 'piwik_', 'aspsessionid'];

/** Dropped when the value looks like a token. */
const tokenNames = new Set(['sid', 'sessid', 'session', 'sessionid', 'session_id']);

const AMPERSAND = 38;

/** First letters of all names above: most parameters are let through by this alone. */
const suspects = new Uint8Array(128);
for (const name of [...dropped, ...droppedPrefixes, ...tokenNames]) {
  suspects[name.charCodeAt(0)] = 1;
  suspects[name.toUpperCase().charCodeAt(0)] = 1;
}

/** A query (without `?`, escapes normalised) without session and tracking parameters; the rest is untouched. */
export function cleanQuery(query: string): string {
  let out = '';
  let kept = 0; // start of the text that is kept and not yet copied
  let start = 0;
  while (start < query.length) {
    const next = query.indexOf('&', start);
    const end = next < 0 ? query.length : next;
    if (suspects[query.charCodeAt(start)] === 1 && isDropped(query.slice(start, end))) {
      out += query.slice(kept, start);
      kept = end + 1;
    }
    start = end + 1;
  }
  if (kept === 0) return query;
  out += query.slice(kept);
  // The separator before a dropped last parameter.
  return kept > query.length && out.charCodeAt(out.length - 1) === AMPERSAND ? out.slice(0, -1) : out;
}

function isDropped(parameter: string): boolean {
  const equals = parameter.indexOf('=');
  const name = (equals < 0 ? parameter : parameter.slice(0, equals)).toLowerCase();
  if (dropped.has(name) || droppedPrefixes.some(prefix => name.startsWith(prefix))) return true;
  return tokenNames.has(name) && equals >= 0 && looksLikeToken(parameter.slice(equals + 1));
}

/** Long, or letters and digits mixed: `9f3a77c2` is one; `42` and `politics` are not. */
function looksLikeToken(value: string): boolean {
  if (value.length >= 16) return true;
  return value.length >= 6 && /\d/.test(value) && /[a-z]/i.test(value);
}

/** The path without `;jsessionid=…`, the way servlets keep a session without cookies. */
export function stripPathSession(path: string): string {
  return path.includes(';') ? path.replace(/;jsessionid=[^/;]*/gi, '') : path;
}
