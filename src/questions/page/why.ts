/** Why a page is or is not due. */
import { type Why, whyOf } from '../../home/answers/why.ts';
import { pageQuestion } from './page.ts';

export const whyQuestion = pageQuestion(
  'why',
  ({ ledger, collection }, found, { now }): Why => whyOf(ledger, found, now, collection),
);
