/** A schema as users write it: fields, and what a row of them must be. */
import { z } from 'zod';

export default {
  fields: { name: 'h1', price: { css: '.price', as: 'number' } },
  row: z.object({ name: z.string(), price: z.number().max(40) }),
};
