/**
 * The value of looking again: how many days of freshness, weighted by importance, a visit now is worth over the visits
 * to come. A page is due when that reaches the threshold theta, the same for all pages; this is optimal for any law of
 * change (Olston and Pandey 2008), and with a known rate it is Cho's optimum. The likelier a page has changed the
 * sooner it is due only up to a point: one that changes faster than it can be followed is worth less than a slow one.
 *
 * With survival S(t), the value after t days is w (integral of S over 0..t - t S(t)). Days and changes per day here.
 */

/**
 * The value for gamma belief of shape `a` with w = b = 1: z is time over scale. Grows from 0; for a > 1 it ends at
 * 1 / (a - 1), otherwise nowhere. `log`: of 1 + z, for whoever has it.
 */
export function valueShape(a: number, z: number, log = Math.log1p(z)): number {
  // Two nearly equal terms for small z: their series keeps 12 digits where the difference would keep none.
  if (z * (a + 2) < 1e-3) return a * z * z * (0.5 - (a + 1) * z * (1 / 3 - ((a + 2) * z) / 8));
  const grown = Math.abs(a - 1) < 1e-9 ? log : -Math.expm1((1 - a) * log) / (a - 1);
  return grown - z * Math.exp(-a * log);
}

/** Value of a visit `days` after the last, for belief (a, b) and weight `w`. */
export function visitValue(belief: { readonly a: number; readonly b: number }, weight: number, days: number): number {
  return weight * belief.b * valueShape(belief.a, days / belief.b);
}

/** What one visit is held against. */
export interface Price {
  /** Importance. */
  readonly weight: number;
  /** Days of weighted freshness that a visit must bring, times the server's multiplier. */
  readonly theta: number;
  /** Days after which a page is visited whatever it is worth. */
  readonly maxInterval: number;
  /** Absent: every visit costs 1, whatever it finds. */
  readonly cost?: VisitCost;
}

/** In kilobytes where bytes are counted; theta is then days of freshness per kilobyte. */
export interface VisitCost {
  /** Of a visit that finds nothing new. */
  readonly visit: number;
  /** What is added when the page has changed. */
  readonly change: number;
}

/** Days until the value reaches theta. */
export function daysUntilDue(a: number, b: number, price: Price): number {
  if (price.cost) return daysUntilWorthItsBytes(a, b, price, price.cost);
  const target = price.theta / (price.weight * b);
  let high = price.maxInterval / b;
  if (!(target > 0)) return 0;
  if (valueShape(a, high) <= target) return price.maxInterval;
  let low = 0;
  let z = Math.sqrt((2 * target) / a);
  if (!(z < high)) z = high / 2;
  // Newton from the small-z start overshoots beyond the inflection at 1/a; the bracket catches that. Usually 4-6 rounds.
  // The value is written out here so that one logarithm and one exponential serve it and its slope: half of the time of
  // a decision was spent in this loop.
  for (let round = 0; round < 60; round++) {
    const log = Math.log1p(z);
    const survival = Math.exp(-a * log);
    const plain = z * (a + 2) > 1e-3 && Math.abs(a - 1) > 1e-3;
    const value = plain ? (1 - survival * (1 + z)) / (a - 1) - z * survival : valueShape(a, z, log);
    if (value > target) high = z;
    else low = z;
    let next = z - ((value - target) * (1 + z)) / (a * z * survival);
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (Math.abs(next - z) <= 1e-9 * next) return next * b;
    z = next;
  }
  return z * b;
}

/**
 * The same where changed pages cost more than unchanged ones. A change that is looked at late is fetched once for all
 * that happened meanwhile, so waiting saves bytes as well as visits: the optimum of (freshness - theta cost) per day is
 * where w b h(z) - theta change g(z) = theta visit, with g(z) = 1 - S - z S' in units of b. The left side may sink
 * below 0 at first and then only rises, so there is one root, to the right of its lowest point.
 */
function daysUntilWorthItsBytes(a: number, b: number, price: Price, cost: VisitCost): number {
  const { weight, theta, maxInterval } = price;
  const worth = weight * b;
  const change = theta * cost.change;
  const visit = theta * cost.visit;
  if (!(visit + change > 0)) return 0;
  // Above what both sides are at `z`, and how steeply the difference rises there.
  const over = (z: number, log: number) => {
    const bytes = -Math.expm1(-a * log) - a * z * Math.exp(-(a + 1) * log);
    return worth * valueShape(a, z, log) - change * bytes - visit;
  };
  const slope = (z: number, log: number) => a * z * Math.exp(-(a + 1) * log) * (worth - (change * (a + 1)) / (1 + z));
  let low = Math.max(0, (change * (a + 1)) / worth - 1);
  let high = maxInterval / b;
  if (low >= high || over(high, Math.log1p(high)) <= 0) return maxInterval;
  // As in daysUntilDue: Newton from where the root is if z is small, held by the bracket.
  let z = low > 0 ? 2 * low : Math.sqrt((2 * visit) / (a * (worth - change * (a + 1))));
  if (!(z > low && z < high)) z = (low + high) / 2;
  for (let round = 0; round < 60; round++) {
    const log = Math.log1p(z);
    const value = over(z, log);
    if (value > 0) high = z;
    else low = z;
    let next = z - value / slope(z, log);
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (Math.abs(next - z) <= 1e-9 * next) return next * b;
    z = next;
  }
  return z * b;
}

/** The same for a rate taken as certain: 1 - e^(-x)(1 + x) = theta rate / w, with x = rate t. */
export function daysUntilDueAtRate(rate: number, price: Price): number {
  const { visit, change } = price.cost ?? { visit: 1, change: 0 };
  // With a known rate the bytes of a change take their part of the weight, and the rest pays for the visit.
  const target = (price.theta * visit * rate) / (price.weight - price.theta * rate * change);
  let high = rate * price.maxInterval;
  if (!(target >= 0 && target < 1) || !(poissonTwo(high) > target)) return price.maxInterval;
  let low = 0;
  let x = Math.min(high / 2, Math.sqrt(2 * target));
  for (let round = 0; round < 60; round++) {
    const over = poissonTwo(x) - target;
    if (over > 0) high = x;
    else low = x;
    let next = x - over / (x * Math.exp(-x));
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (Math.abs(next - x) <= 1e-10 * next) return next / rate;
    x = next;
  }
  return x / rate;
}

/** Probability of at least two events of a Poisson variable with mean x. */
export function poissonTwo(x: number): number {
  if (x < 1e-3) return x * x * (0.5 - x / 3);
  return -Math.expm1(-x) - x * Math.exp(-x);
}

/**
 * The same where the server sends notices and names a share `recall` of its changes: silence is then a sign that
 * nothing happened, so the page can wait longer; with recall 1 it waits for a notice.
 */
export function daysUntilDueInSilence(rate: number, recall: number, price: Price): number {
  if (recall < 0.01) return daysUntilDueAtRate(rate, price);
  const hidden = (1 - recall) * rate;
  const told = recall * rate;
  const { visit, change } = price.cost ?? { visit: 1, change: 0 };
  const target = (t: number) => (price.theta / price.weight) * (visit + change * poissonTwo(hidden * t));
  const over = (t: number) =>
    -Math.expm1(-rate * t) / rate - (Math.exp(-hidden * t) * -Math.expm1(-told * t)) / told - target(t);
  return over(price.maxInterval) <= 0 ? price.maxInterval : solve(over, 0, price.maxInterval);
}

/**
 * Root between `low` and `most` of a function that is negative at `low` and grows; `most` where it is not reached. Every
 * visit asks for one. Where a straight line through both ends meets zero is nearer than the middle; an end that stays
 * counts half each time (the Illinois rule), so that it does not stay for good: 10 evaluations where halving took 48.
 */
function solve(over: (x: number) => number, low: number, most: number): number {
  let above = over(most);
  if (above <= 0) return most;
  let high = most;
  let below = over(low);
  if (below >= 0) return low;
  let last = most;
  let moved = 0;
  for (let round = 0; round < 60; round++) {
    const line = (low * above - high * below) / (above - below);
    const next = line > low && line < high ? line : (low + high) / 2;
    if (Math.abs(next - last) <= PRECISION * next) return next;
    last = next;
    const value = over(next);
    if (value > 0) {
      if (moved > 0) below /= 2;
      [high, above, moved] = [next, value, 1];
    } else {
      if (moved < 0) above /= 2;
      [low, below, moved] = [next, value, -1];
    }
  }
  return last;
}

/** Share of itself by which a root may be off. */
const PRECISION = 1e-10;

/** What the feedback needs to know of the collection. */
export interface Load {
  readonly pages: number;
  /** Visits per day. */
  readonly budget: number;
}

/**
 * How hard theta is turned. Due times were set with the theta of the visit before, so it is felt late and swings when
 * turned harder: with 4 a budget of 10% lost 1% of its freshness (gamma rates, equal weights), with 16 another 0.7%;
 * 1 and 2 measure the same.
 */
const GAIN = 2;

/**
 * Theta after `visits` visits that came `lag` days after their pages were due (negative: before). Behind means that
 * too much is due for the budget, so the threshold rises; by at most a factor e in one round of the collection.
 */
export function steer(theta: number, lag: number, load: Load, visits = 1): number {
  const pages = Math.max(1, load.pages);
  const error = Math.min(1, Math.max(-1, (GAIN * lag * load.budget) / pages));
  const next = theta * Math.exp((error * Math.min(visits, pages)) / pages);
  return Math.min(THETAS.greatest, Math.max(THETAS.least, next));
}

/** Bounds of theta in days; a policy that does not heed theta would drive it to 0 or beyond any number. */
export const THETAS = { least: 1e-9, greatest: 1e6 };

/** What makes a page matter. */
interface PageWeight {
  /** Known pages that link to it. */
  readonly linksIn: number;
  /** Links between it and its seed. */
  readonly depth: number;
  /** The user's weight for pages like it, 1 = as any other. */
  readonly weight: number;
  /** Times that it was opened from a search lately; being shown counts a little. */
  readonly searches: number;
}

const LEAST_IMPORTANCE = 0.05;
const MOST_IMPORTANCE = 50;

/**
 * 1 for a seed that nothing links to. Links and searches count by their logarithm, depth divides, and the user's weight
 * multiplies all; between 0.05 and 50, so that no page can take the whole budget or be forgotten.
 */
export function importance({ linksIn, depth, weight, searches }: PageWeight): number {
  const known = 1 + 0.5 * Math.log2(1 + Math.max(0, linksIn));
  const wanted = 1 + Math.log2(1 + Math.max(0, searches));
  const value = (weight * known * wanted) / (1 + Math.max(0, depth) / 4);
  return Math.min(MOST_IMPORTANCE, Math.max(LEAST_IMPORTANCE, value));
}

/** Bytes of a request and of an answer that has no body. */
const BARE_BYTES = 500;

/**
 * What a visit to a page with this body costs, in kilobytes. `honoured`: share of unchanged visits that end in a 304, 0
 * where the server has no validators and sends the body every time.
 */
export function visitCost(bodyBytes: number, honoured: number): VisitCost {
  return { visit: (BARE_BYTES + (1 - honoured) * bodyBytes) / 1000, change: (honoured * bodyBytes) / 1000 };
}
