/** Noise by lot: each request draws anew which links, logos or variants it shows, and in which order. */
import { hashOf, mix, pick } from '../random.ts';
import { sentence, title, word } from '../words.ts';
import { type NoiseKind, visible } from './noise-kind.ts';
import { between } from './part.ts';

/** Some of the numbers below `of`, each once, in an order by lot. */
function drawn(some: number, of: number, fresh: number): number[] {
  const all = Array.from({ length: of }, (_, number) => number);
  return all.sort((a, b) => hashOf(fresh, 51, a) - hashOf(fresh, 51, b)).slice(0, some);
}

const ascending = (numbers: number[]): number[] => numbers.sort((a, b) => a - b);

const link = (fixed: number, number: number): string =>
  `<li><a href="/to/${word(hashOf(fixed, 52, number))}-${number}">${title(hashOf(fixed, 53, number))}</a></li>`;

const logo = (fixed: number, number: number): string =>
  `<a href="http://sponsor.invalid/${word(hashOf(fixed, 54, number))}"><img src="/i/sponsor-${number}.png" alt="Sponsor ${number}"></a>`;

export const lots: Readonly<Record<string, NoiseKind>> = {
  'links by lot': visible((fresh, _, fixed) => {
    const some = between(2, 6, mix(fixed, 55));
    const all = drawn(some, some + between(2, 40, mix(fixed, 56)), fresh);
    return `<h3>See also</h3><ul>${all.map(number => link(fixed, number)).join('')}</ul>`;
  }),
  'links by lot in order': visible((fresh, _, fixed) => {
    const some = between(3, 7, mix(fixed, 55));
    const all = ascending(drawn(some, some + between(3, 20, mix(fixed, 56)), fresh));
    return `<h3>More like this</h3><ul>${all.map(number => link(fixed, number)).join('')}</ul>`;
  }, 'aside'),
  'as many links as it likes': visible((fresh, _, fixed) => {
    const all = drawn(between(1, 7, mix(fresh, 57)), 12, fresh);
    return `<h3>Others read</h3><ul>${all.map(number => link(fixed, number)).join('')}</ul>`;
  }),
  'tags in any order': visible((fresh, _, fixed) => {
    const all = drawn(6, 6, fresh).map(
      number => `<span><a href="/to/${number}">${word(mix(fixed, number))}</a></span>`,
    );
    return `<p>Tags: ${all.join(' ')}</p>`;
  }),
  sponsors: visible((fresh, _, fixed) => {
    const all = drawn(between(1, 4, mix(fixed, 58)), between(4, 9, mix(fixed, 59)), fresh);
    return `<div>${all.map(number => logo(fixed, number)).join(' ')}</div>`;
  }, 'aside'),
  'one of two words': visible((fresh, _, fixed) => {
    const [one, two] = [word(mix(fixed, 1)), word(mix(fixed, 2))];
    return `<p><a href="/join">Start your ${fresh % 2 === 0 ? one : two} today</a></p>`;
  }),
  'one of three layouts': visible((fresh, _, fixed) => {
    const [text, line] = [sentence(fixed), title(mix(fixed, 3))];
    return pick(
      [
        `<section class="a"><h2>${line}</h2><p>${text}</p></section>`,
        `<section class="b"><p>${text}</p><p><b>${line}</b></p></section>`,
        `<section class="c"><ul><li>${line}</li><li>${text}</li><li>${sentence(mix(fixed, 4))}</li></ul></section>`,
      ],
      fresh,
    );
  }),
};
