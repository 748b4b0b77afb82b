/** Hands the results to the host: numbers in fixed slots. ../scanner.ts reads them in the same order. */

import { blockCount, canonEnd, ended, mainHash, seal } from './block';
import { keywords, words } from './block-words';
import { addCodes, codeCount, codeSquares, codeSum, distinctCodes } from './codes';
import { putFacts, putSimhash, putVisible } from './facts';
import { hashBytes, mix } from './hash';
import {
  baseEnd,
  baseStart,
  descriptionEnd,
  descriptionStart,
  languageEnd,
  languageStart,
  refreshEnd,
  refreshStart,
  robots,
} from './head';
import { journalEnd } from './journal';
import { anchorOut, imageCount, imagesDigest, linkCount, linksDigest, urls } from './links';
import { anchors, canon, urls as journal, RESULT, references, text } from './memory';
import { ascii, out as referencesEnd } from './references';
import { simhash } from './simhash';
import { structure, tagFirst, tagLast, titleEnd, titleStart } from './tags';
import { out as textEnd } from './text';

let next: usize = 0;

function put(value: usize): void {
  store<u32>(next, <u32>value);
  next += 4;
}

function putLong(value: u64): void {
  store<u64>(next, value);
  next += 8;
}

export function putResult(byteSum: u64): void {
  const links = linksDigest();
  const images = imagesDigest();
  // What the host hashes is the canonical text followed by these three.
  seal(links);
  seal(images);
  seal(structure);
  addCodes(text + 1, textEnd, ended);
  next = RESULT;
  putLong(byteSum);
  putLong(links);
  const main = mainHash(mix(mix(links, images), structure));
  const similar = simhash();
  putLong(main);
  putLong(similar);
  putLong(codeSum);
  putLong(codeSquares);
  putLong(codeCount);
  put(distinctCodes);
  put(text + 1);
  put(textEnd);
  put(titleStart);
  put(titleEnd);
  put(canon);
  put(canonEnd);
  put(references);
  put(referencesEnd);
  put(ascii ? 1 : 0);
  put(anchors);
  put(anchorOut);
  put(linkCount);
  put(imageCount);
  put(blockCount);
  put(urls);
  put(words);
  put(keywords);
  put(tagFirst);
  put(tagLast);
  put(<u32>structure ^ <u32>(structure >> 32));
  put(<u32>images ^ <u32>(images >> 32));
  put(robots);
  put(baseStart);
  put(baseEnd);
  put(refreshStart);
  put(refreshEnd);
  put(languageStart);
  put(languageEnd);
  put(descriptionStart);
  put(descriptionEnd);
  // With the stamps that canonical text is without, and references with their tokens.
  const visible = mix(hashBytes(text + 1, textEnd), hashBytes(references, referencesEnd));
  put(putVisible(putFacts(byteSum, main, links, images), visible));
  put(journal);
  put(journalEnd);
  putSimhash(similar);
}
