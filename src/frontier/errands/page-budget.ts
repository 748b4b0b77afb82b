/** The pages that a run may fetch, shared by all partitions of a home. */
export class PageBudget {
  most: number;
  /** Pages under way or fetched. */
  issued = 0;
  /** Of a budget that several machines share: what this one may issue in all, as far as it has been granted. */
  granted: number = Number.POSITIVE_INFINITY;

  constructor(most: number) {
    this.most = most;
  }

  get left(): number {
    return Math.min(this.most, this.granted) - this.issued;
  }

  get full(): boolean {
    return this.left <= 0;
  }
}
