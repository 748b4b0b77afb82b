export { openLedger } from '../engine/open-ledger.ts';
