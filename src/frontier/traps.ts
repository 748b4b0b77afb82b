/** Traps are judged where links are followed: here, and at an outpost that follows them by itself. */
export { ShapeCounter, shapeOf, trapReason } from '../errand/traps.ts';
