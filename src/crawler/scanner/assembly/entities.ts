/** Entities: those of HTML 4 and the names of ASCII characters. Others stay as written, which hashes as well. */
import { CLASSES, ENTITIES, ENTITY_BITS } from './memory';
import { DIGIT, enter, enterEntities, entityInfo, HEX, LEGACY, LETTER } from './tables';

/** Code point of the entity last decoded, and where the input goes on. */
export let code: u32 = 0;
export let after: usize = 0;

function one(name: string, value: u32): void {
  enter(ENTITIES, ENTITY_BITS, name, value);
}

export function enterAllEntities(): void {
  one('amp AMP', 38 | LEGACY);
  one('lt LT', 60 | LEGACY);
  one('gt GT', 62 | LEGACY);
  one('quot QUOT', 34 | LEGACY);
  one('COPY', 169 | LEGACY);
  one('REG', 174 | LEGACY);
  one('apos', 39);
  one('Tab', 9);
  one('NewLine', 10);
  enterEntities('excl - num dollar percnt - - lpar rpar ast plus comma - period sol', 33, 0);
  enterEntities('colon semi - equals - quest commat', 58, 0);
  enterEntities('lsqb bsol rsqb Hat lowbar grave', 91, 0);
  enterEntities('lcub verbar rcub', 123, 0);
  one('lbrack', 91);
  one('rbrack', 93);
  one('lbrace', 123);
  one('rbrace', 125);
  one('vert', 124);
  enterEntities(
    'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml',
    160,
    LEGACY,
  );
  one('OElig', 338);
  one('oelig', 339);
  one('Scaron', 352);
  one('scaron', 353);
  one('Yuml', 376);
  one('fnof', 402);
  one('circ', 710);
  one('tilde', 732);
  enterEntities('Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho', 913, 0);
  enterEntities('Sigma Tau Upsilon Phi Chi Psi Omega', 931, 0);
  enterEntities(
    'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega',
    945,
    0,
  );
  enterEntities('thetasym upsih - - - piv', 977, 0);
  enterSymbols();
}

function enterSymbols(): void {
  enterEntities('ensp emsp - - - - - thinsp - - zwnj zwj lrm rlm', 8194, 0);
  enterEntities(
    'ndash mdash horbar - - lsquo rsquo sbquo - ldquo rdquo bdquo - dagger Dagger bull - - - hellip',
    8211,
    0,
  );
  one('permil', 8240);
  enterEntities('prime Prime', 8242, 0);
  enterEntities('lsaquo rsaquo', 8249, 0);
  one('oline', 8254);
  one('frasl', 8260);
  one('euro', 8364);
  one('image', 8465);
  one('weierp', 8472);
  one('real', 8476);
  one('trade', 8482);
  one('alefsym', 8501);
  enterEntities('larr uarr rarr darr harr', 8592, 0);
  one('crarr', 8629);
  enterEntities('lArr uArr rArr dArr hArr', 8656, 0);
  enterEntities(
    'forall - part exist - empty - nabla isin notin - ni - - - prod - sum minus - - - - lowast - - radic - - prop infin - ang - - - - - - and or cap cup int',
    8704,
    0,
  );
  enterEntities('there4 - - - - - - - sim', 8756, 0);
  one('cong', 8773);
  one('asymp', 8776);
  enterEntities('ne equiv - - le ge', 8800, 0);
  enterEntities('sub sup nsub - sube supe', 8834, 0);
  one('oplus', 8853);
  one('otimes', 8855);
  one('perp', 8869);
  one('sdot', 8901);
  enterEntities('lceil rceil lfloor rfloor', 8968, 0);
  enterEntities('lang rang', 10216, 0);
  one('loz', 9674);
  one('spades', 9824);
  one('clubs', 9827);
  enterEntities('hearts diams', 9829, 0);
  one('check', 10003);
}

/** Decodes the entity at `p` (an ampersand); false = it is none and the ampersand stands for itself. */
export function decodeEntity(p: usize, end: usize, inAttribute: bool): bool {
  if (p + 2 < end && load<u8>(p + 1) === 35) return decodeNumber(p + 2, end);
  const start = p + 1;
  const stop = min(end, start + 32);
  let q = start;
  while (q < stop && isAlphanumeric(q)) q++;
  if (q < end && load<u8>(q) === 59 && q > start) {
    const found = entityInfo(start, q);
    if (found !== 0) return decoded(found & 0x1fffff, q + 1);
  }
  return decodeLegacy(start, q, end, inAttribute);
}

function isAlphanumeric(p: usize): bool {
  return (load<u8>(CLASSES + load<u8>(p)) & (LETTER | DIGIT)) !== 0;
}

/** An entity without its semicolon: such names have 2 to 6 letters, and the longest with which [start, stop) begins counts. */
function decodeLegacy(start: usize, stop: usize, end: usize, inAttribute: bool): bool {
  let q = min(stop, start + 6);
  let found: u32 = 0;
  for (; q >= start + 2; q--) {
    found = entityInfo(start, q);
    if ((found & LEGACY) !== 0) break;
  }
  if (q < start + 2) return false;
  if (inAttribute && q < end && (load<u8>(q) === 61 || isAlphanumeric(q))) return false;
  return decoded(found & 0x1fffff, q);
}

function decoded(value: u32, next: usize): bool {
  code = value;
  after = next;
  return true;
}

function decodeNumber(start: usize, end: usize): bool {
  let q = start;
  const hex = (load<u8>(q) | 32) === 120;
  if (hex) q++;
  const from = q;
  let value: u32 = 0;
  while (q < end) {
    const c: u32 = load<u8>(q);
    const classes: u32 = load<u8>(CLASSES + c);
    if ((classes & (hex ? HEX : DIGIT)) === 0) break;
    const digit = c < 58 ? c - 48 : (c | 32) - 87;
    value = min<u32>(value * (hex ? 16 : 10) + digit, 0x110000);
    q++;
  }
  if (q === from) return false;
  if (q < end && load<u8>(q) === 59) q++;
  return decoded(repaired(value), q);
}

/** Numbers 128–159 mean Windows-1252, as everywhere on the web. */
function repaired(value: u32): u32 {
  if (value === 0 || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return 0xfffd;
  if (value - 128 < 32) {
    const found = WINDOWS.charCodeAt(value - 128);
    return found === 63 ? value : found;
  }
  return value;
}

const WINDOWS: string =
  '\u20ac?\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152?\u017d??\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153?\u017e\u0178';
