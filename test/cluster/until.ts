/** Waits for something that other processes bring about; the runner's own limit ends it when it never comes. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(resolve => setTimeout(resolve, 20));
}
