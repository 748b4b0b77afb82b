/** Code that decides about pages, signed for whoever runs it on another machine. */
import { DAY } from '../base/clock.ts';
import type { Identity } from '../errand/keys.ts';
import { encodeCode, signCode } from '../outpost/cages/code.ts';

/** Milliseconds that signed code may be used before it has to be signed again. */
const CODE_LASTS = 30 * DAY;

interface SignTerms {
  readonly identity: Identity;
  /** As errands name it. */
  readonly decider: { readonly digest: string; readonly bytes: Uint8Array } | undefined;
  /** When this home started: a later one signs later versions, so that nobody can bring back what was sent before. */
  readonly version: number;
  readonly now: number;
}

/** Undefined: there is no code of this digest here. */
export function signedCode(digest: string, { identity, decider, version, now }: SignTerms) {
  if (!decider || decider.digest !== digest) return undefined;
  const { bytes } = decider;
  const terms = { name: 'decider', version, expires: now + CODE_LASTS };
  return { terms: encodeCode(signCode(identity, bytes, terms)), bytes };
}
