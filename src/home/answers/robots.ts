/** What a server's robots.txt asks of us, for people: the same rules that the crawler obeys, as lines to read. */
import { type RobotsTerms, rulesFor } from '../../crawler/robots/robots.ts';
import { RulesMemory } from '../../crawler/robots/rules-memory.ts';
import { AGENT_TOKEN } from '../../errand/agent.ts';
import type { RobotsCopy } from '../../errand/errand.ts';

interface RobotsInForce {
  /** Read; there is none; cannot be read, so that nothing is fetched; could not be read for 30 days. */
  readonly state: RobotsTerms['state'];
  readonly rules: readonly string[];
}

export function robotsInForce(origin: string, copy: RobotsCopy, now: number): RobotsInForce {
  const { state, robots } = new RulesMemory().of(origin, copy, now).terms;
  return { state, rules: rulesFor(robots, AGENT_TOKEN) };
}
