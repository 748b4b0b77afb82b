/** Gives an order; the answer is the sentence that came back, and the live numbers follow by themselves. */
import { post } from './api.ts';
import { live } from './live.svelte.ts';
import type { Obeyed } from './types.ts';

export async function steer(order: Record<string, unknown>): Promise<string> {
  const { done, state } = await post<Obeyed>('/steer', { order });
  if (live.tick) live.tick = { ...live.tick, home: state };
  return done;
}
